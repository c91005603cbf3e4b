"""Captures of the running process, with a simulated GPU."""

import asyncio
import contextlib
import copy
import gc
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import weakref
from types import SimpleNamespace
from unittest import mock

import numpy as np

import counterworks as cw

METRIC_EVAL = os.environ["CW_METRIC_EVAL"]
METRICS = ["smsp__inst_executed.sum", "dram__bytes_read.sum"]
os.environ["COUNTERWORKS_BACKEND"] = "sim"


def step(c):
    with c.range("step"):
        cw.pretend("launch gemm")
        cw.pretend("launch softmax")


@cw.profile(METRICS, [2], repeat=1, replay="kernel")
def work(n):
    cw.pretend(f"launch work{n}")
    return n


class Working:
    @cw.profile(METRICS, [2], repeat=1, replay="kernel")
    def step(self, n):
        cw.pretend(f"launch step{n}")
        return self


class Kinds(unittest.TestCase):
    def test_ranges_that_overlap(self):
        async def task(c, number, launches):
            with c.range(f"task {number}"):
                for launch in range(launches):
                    await asyncio.sleep(0)
                    cw.pretend(f"launch {'abc'[launch]}{number}")

        async def both(c):
            await asyncio.gather(task(c, 1, 1), task(c, 2, 3))

        with cw.capture(METRICS, replay="kernel") as c:
            with c.range("step"):
                asyncio.run(both(c))
                cw.pretend("launch last")
        launches = c.ranges()
        self.assertEqual(list(zip(launches["name"], launches["nvtx"])),
                         [("a1", "step/task 1/task 2"), ("a2", "step/task 2"), ("b2", "step/task 2"),
                          ("c2", "step/task 2"), ("last", "step")])

    def test_a_range_is_used_again(self):
        with cw.capture(METRICS, replay="kernel") as c:
            outer, step = c.range("outer"), c.range("step")
            failed = []

            def work(number):
                try:
                    with outer, step, step:
                        cw.pretend(f"launch k{number}")
                except Exception as error:
                    failed.append(error)

            for number in range(2):
                thread = threading.Thread(target=work, args=[number])
                thread.start()
                thread.join()
            with step:
                work(2)
                cw.pretend("launch last")
                elsewhere = threading.Thread(target=lambda: failed.append(self.ends(step)))
                elsewhere.start()
                elsewhere.join()
        self.assertEqual(failed, ["found the end of the range 'step' in a thread that did not begin it, expected "
                                  "the thread of its beginning"])
        launches = c.ranges()
        self.assertEqual(sorted(zip(launches["name"], launches["nvtx"])),
                         [("k0", "outer/step/step"), ("k1", "outer/step/step"), ("k2", "step/outer/step/step"),
                          ("last", "step")])

    def ends(self, opened):
        with self.assertRaises(cw.UsageError) as raised:
            opened.__exit__(None, None, None)
        return str(raised.exception)

    def test_values_are_the_commands(self):
        with cw.capture(METRICS, replay="kernel") as c:
            step(c)
            step(c)
        said = subprocess.run([METRIC_EVAL, c.path, "--format", "json", "-q"], capture_output=True, check=True).stdout
        ranges = json.loads(said)["ranges"]
        self.assertEqual([r["name"] for r in ranges], ["gemm", "softmax"] * 2)
        for row, values in zip(ranges, c.ranges().table.values):
            np.testing.assert_array_equal([m["value"] for m in row["metrics"]], values)
        self.assertEqual(list(c.ranges()["nvtx"]), ["step"] * 4)
        self.assertEqual(sorted(c.kernels()["launches"]), [2, 2])
        self.assertEqual(c.kernels().to_dataframe().attrs["units"]["dram__bytes_read.sum"], "bytes")

    def test_ranges_and_passes(self):
        seen = []
        with cw.capture(METRICS, kind="ranges", replay="user") as c:
            for number in c.passes("work"):
                seen.append(number)
                step(c)
        self.assertEqual((seen, c.profiler), ([0], "ranges"))
        self.assertIn("work", c.ranges()["name"])

    def test_names_of_ranges_are_one_line(self):
        with cw.capture(METRICS, replay="kernel") as c:
            for name in ("new\nline", "new?line"):
                with c.range(name):
                    cw.pretend("launch gemm")
        self.assertEqual(list(c.ranges()["nvtx"]), ["new\\nline", "new?line"])

    def test_names_are_utf_8_in_any_locale(self):
        program = r"""if True:
            import sys
            import counterworks as cw
            with cw.capture(["smsp__inst_executed.sum"], replay="kernel") as c:
                with c.range("m\u00fc"):
                    cw.pretend("launch \u4e2d")
            launches = c.ranges(ranges="m\u00fc", kernels="\u4e2d")
            print(sys.getfilesystemencoding(), ascii(list(launches["nvtx"])))"""
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                             env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
        self.assertEqual(run.stdout, "ascii ['m\\xfc']\n")

    def test_kinds_without_counters(self):
        for kind, what, profiler in (("trace", None, "trace"), ("pc", None, "pc_samples"),
                                     ("instructions", ["smsp__inst_executed"], "instructions")):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with cw.capture(what, kind=kind) as c:
                    step(c)
            self.assertEqual(c.profiler, profiler)
            self.assertTrue(len(c.view()), kind)

    def test_a_process_that_ends_before_its_capture_leaves_it_incomplete(self):
        def end_of(path):
            shown = subprocess.run([METRIC_EVAL, "show", path], capture_output=True, text=True).stdout
            return re.search(r"^end: +(.*)", shown, re.M)[1]

        def is_captured(path):
            found = False
            for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):  # it may have ended
                    found = found or path.encode() in line.read_bytes()
            return found

        program = """if True:
            import os, sys
            import counterworks as cw
            path, kind, how = sys.argv[1:]
            what = {"trace": None, "pc": None, "instructions": ["smsp__inst_executed"]}.get(kind, ["smsp__inst_executed.sum"])
            c = cw.capture(what, kind=kind, path=path).__enter__()
            cw.pretend("launch gemm")
            os.kill(os.getpid(), 9) if how == "kill" else os._exit(0)"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.cwd")
            for kind in ("kernels", "ranges", "trace", "pc", "instructions"):
                for how in ("kill", "leave"):
                    subprocess.run([sys.executable, "-W", "ignore", "-c", program, path, kind, how], check=how == "leave",
                                   env={**os.environ, "TMPDIR": folder})
                    while is_captured(path):
                        time.sleep(0.02)
                    self.assertEqual(end_of(path), "none, the capture is incomplete", (kind, how))
                    os.remove(path)
            with cw.capture(METRICS, path=path) as c:
                step(c)
            self.assertEqual(end_of(path), "complete, not at the end of a program")

    def test_start_stop_and_options(self):
        with cw.capture(METRICS, started=False, arguments=["--kernel", "gemm"]) as c:
            step(c)
            c.start()
            step(c)
            c.flush()
            c.stop()
            step(c)
        self.assertEqual(list(c.ranges()["name"]), ["gemm"])

    def test_flush_shows_the_launches_before_it(self):
        for kind in ("kernels", "trace"):
            with cw.capture(METRICS if kind == "kernels" else None, kind=kind) as c:
                for steps in range(1, 6):
                    cw.pretend("launch gemm")
                    c.flush()
                    with cw.open(c.path) as run:
                        self.assertEqual((run.complete, sum(run.kernels()["launches"])), (False, steps), kind)

    def test_plans_and_sets(self):
        gh100 = cw.chip("GH100")
        plan = gh100.plan(METRICS)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.cwd")
            plan.save(os.path.join(folder, "plan.cwc"))
            for what in (plan, pathlib.Path(folder, "plan.cwc"), os.path.join(folder, "plan.cwc")):
                with cw.capture(what, path=path) as c:
                    step(c)
                self.assertEqual((c.path, c.metrics), (path, METRICS))
            self.assertTrue(os.path.exists(path))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with cw.capture() as c:
                step(c)
        self.assertEqual(set(c.metrics), set(gh100.for_advice()))
        self.assertEqual([str(w.message) for w in seen], c.notices)
        self.assertEqual({w.filename for w in seen}, {__file__})
        with cw.capture("demo", chip=gh100, replay="kernel") as c:
            step(c)
        self.assertEqual(set(c.metrics), set(gh100.set("demo")))
        with cw.capture(", ".join(METRICS)) as c:
            step(c)
        self.assertEqual(c.metrics, METRICS)

    def test_the_path_of_a_capture_is_no_pattern(self):
        with tempfile.TemporaryDirectory(suffix="t%r") as folder:
            for name in "x.%p.cwd", "%r.cwd", "y%%z.cwd", "50%":
                path = os.path.join(folder, name)
                with cw.capture(METRICS, path=path) as c:
                    step(c)
                self.assertEqual((c.path, len(c.kernels()) > 0), (path, True))
            self.assertEqual(sorted(os.listdir(folder)), ["%r.cwd", "50%", "x.%p.cwd", "y%%z.cwd"])

    def test_the_path_of_a_capture_may_be_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.cwd")
            with cw.capture(METRICS, path=os.fsencode(path)) as c:
                step(c)
            self.assertEqual((c.path, c.source), (path, path))
            self.assertIn(path, c._repr_html_())

    def test_a_temporary_file_goes_with_its_capture(self):
        with cw.capture(METRICS) as c:
            step(c)
        path, view = c.path, c.kernels()
        c.close()
        with self.assertRaisesRegex(cw.UsageError, "closed, expected an open one"):
            c.kernels()
        with self.assertRaisesRegex(cw.UsageError, "not complete, expected its block to end"):
            cw.capture(METRICS).close()
        del c
        gc.collect()
        self.assertTrue(os.path.exists(path))  # the view needs it
        del view
        gc.collect()
        self.assertFalse(os.path.exists(os.path.dirname(path)))


class Profiles(unittest.TestCase):
    def profile(self, **options):
        calls = []

        @cw.profile(METRICS, [(1, "a"), {"n": 2, "device": "b"}], repeat=3, **options)
        def work(n, device):
            calls.append(n)
            for _ in range(n):
                cw.pretend("launch gemm")
            cw.pretend("launch softmax")
            return device

        self.assertEqual(work(4, "c"), "c")
        frame = work.table()
        self.assertEqual(calls, [4, 1, 2, 1, 1, 1, 2, 2, 2])
        self.assertEqual(sorted(zip(frame["n"], frame["config_device"], frame["group"], frame["launches"])),
                         [(1, "a", "gemm", 3), (1, "a", "softmax", 3), (2, "b", "gemm", 6), (2, "b", "softmax", 3)])
        self.assertEqual(frame.attrs["units"]["dram__bytes_read.sum_spread"], "bytes")
        return work, frame

    def test_values_spreads_and_statuses(self):
        work, frame = self.profile(replay="kernel")
        launches = work.capture.ranges()
        for _, row in frame.iterrows():
            path = f"configuration {row['n'] - 1}"
            values = launches["dram__bytes_read.sum"][(launches["name"] == row["group"]) & (launches["nvtx"] == path)]
            self.assertEqual((row["dram__bytes_read.sum"], row["dram__bytes_read.sum_spread"]),
                             (values.mean(), values.std(ddof=1)))
            self.assertEqual(row["dram__bytes_read.sum_status"], "ok")

    def test_launches_of_other_threads(self):
        @cw.profile(METRICS, [1, 2], repeat=1, replay="kernel")
        def work(n):
            cw.pretend("launch gemm")
            cw.pretend("thread 7")
            cw.pretend(f"launch backward{n}")
            cw.pretend("thread 0")

        frame = work.table()
        self.assertEqual(sorted(zip(frame["n"], frame["group"])),
                         [(1, "backward1"), (1, "gemm"), (2, "backward2"), (2, "gemm")])
        self.assertEqual(work.capture.ranges()["nvtx"][1], "")

    def test_passes_that_take_turns(self):
        _work, frame = self.profile(replay="multiplex")
        self.assertEqual(set(frame["smsp__inst_executed.sum_status"]), {"multiplexed"})
        self.assertTrue((frame["dram__bytes_read.sum_spread"] > 0).all())

    def test_a_method(self):
        class Work:
            @cw.profile(METRICS, [1, 2], repeat=1, replay="kernel")
            def step(self, n):
                for _ in range(n):
                    cw.pretend("launch gemm")
                return self

        one, other = Work(), Work()
        self.assertIs(one.step(1), one)
        self.assertEqual(one.step.table()["launches"].tolist(), [1, 2])
        self.assertTrue(one.step.capture and not other.step.capture)

    def test_methods_of_one_name(self):
        class Work:
            @cw.profile(METRICS, [1], repeat=1, replay="kernel")
            def step(self, n):
                cw.pretend(f"launch base{n}")
                return "base"

        class More(Work):
            @cw.profile(METRICS, [2], repeat=1, replay="kernel")
            def step(self, n):
                cw.pretend(f"launch more{n}")
                return super().step(1) + " more"

        class Other(Work):
            def step(self, n):
                return super().step(n) + " other"

        class Slots:
            __slots__ = ()
            step = Work.step

        more, other = More(), Other()
        self.assertEqual([more.step(1), more.step(1)], ["base more"] * 2)
        self.assertEqual([other.step(1), other.step(1)], ["base other"] * 2)
        self.assertEqual(sorted(more.step.table()["group"]), ["base1", "more2"])
        self.assertEqual(sorted(super(More, more).step.table()["group"]), ["base1"])
        self.assertIsNot(more.step.capture, super(More, more).step.capture)
        self.assertIsNone(copy.copy(more).step.capture)
        self.assertEqual(vars(more), {})
        self.assertEqual(Slots().step(1), "base")
        gone = weakref.ref(more)
        del more
        gc.collect()
        self.assertIsNone(gone())

    def test_methods_of_classes(self):
        profile = cw.profile(METRICS, [2], repeat=1, replay="kernel")

        class Work:
            @profile
            def step(this, n):
                cw.pretend(f"launch step{n}")

            @classmethod
            @profile
            def outside(cls, n):
                cw.pretend(f"launch {cls.__name__}{n}")
                return cls

            @profile
            @classmethod
            def inside(cls, n):
                cw.pretend(f"launch {cls.__name__}{n}")
                return cls

            @staticmethod
            @profile
            def alone(n):
                cw.pretend(f"launch alone{n}")

            @profile
            @staticmethod
            def alone_inside(n):
                cw.pretend(f"launch alone{n}")

        class More(Work):
            pass

        for kind in Work, More:
            self.assertIs(kind().inside(1), kind)
            for method in (kind.inside,) if sys.version_info >= (3, 13) else (kind.inside, kind.outside):
                self.assertIs(method(1), kind)
                self.assertEqual(list(method.table()["group"]), [kind.__name__ + "2"])
            for method in kind.alone, kind().alone, kind.alone_inside, kind().alone_inside:
                self.assertEqual(list(method.table()["group"]), ["alone2"])
        self.assertEqual(list(Work().step.table()["group"]), ["step2"])
        self.assertIsNot(Work.inside.capture, More.inside.capture)
        self.assertIs(Work().inside.capture, Work.inside.capture)  # which is of the class
        self.assertIsNotNone(Work.inside.capture)

    def test_to_another_process_a_profile_goes_as_its_function(self):
        one = Working()
        for captured in False, True:
            for function in pickle.loads(pickle.dumps(work)), copy.copy(work), copy.deepcopy(work):
                self.assertIs(function, work)
            self.assertIs(copy.copy(one.step)(1), one)
            self.assertIsInstance(pickle.loads(pickle.dumps(one.step))(1), Working)
            self.assertEqual(list(copy.deepcopy(one.step).table()["group"]), ["step2"])
            if not captured:
                work.table()
                one.step.table()

    def test_a_launch_for_each_pass(self):
        @cw.profile("demo")
        def work():
            cw.pretend("launch gemm")

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a counter that no single pass holds
            frame = work.table()
        self.assertEqual(list(frame["launches"]), [cw.plan("GH100", cw.chip("GH100").set("demo")).passes])

    def test_mistakes(self):
        async def later(n=1):
            return n

        def each(n=1):
            yield n

        async def each_later(n=1):
            yield n

        for error, message, call in (
                (TypeError, "found @profile without its parentheses", lambda: cw.profile(each)),
                (cw.UsageError, "found an empty list of configurations", lambda: cw.profile(METRICS, [])(each)),
                (TypeError, "found the configurations {'n': 1}, expected a list",
                 lambda: cw.profile(METRICS, {"n": 1})(each)),
                (TypeError, "found the configurations 'ab', expected a list", lambda: cw.profile(METRICS, "ab")(each)),
                (cw.UsageError, "found repeat=0, expected at least 1", lambda: cw.profile(METRICS, repeat=0)(each)),
                (cw.UsageError, "found replay='user', expected", lambda: cw.profile(METRICS, replay="user")(each)),
                (cw.UsageError, "found warmup=-1, expected at least 0", lambda: cw.profile(METRICS, warmup=-1)(each)),
                *((TypeError, f"found .*{f.__name__}.*whose call does nothing", cw.profile(METRICS)(f).table)
                  for f in (later, each, each_later)),
                (TypeError, "too many positional arguments", cw.profile(METRICS, [1, (1, 2)])(step).table)):
            with self.assertRaisesRegex(error, message):
                call()
        self.assertEqual(asyncio.run(cw.profile(METRICS)(later)(3)), 3)  # a call stays a call


class Mistakes(unittest.TestCase):
    def test_errors_are_the_agents_lines(self):
        for error, message, options in (
                (cw.UsageError, "found the kind 'kernel', expected one of kernels, ranges", {"kind": "kernel"}),
                (TypeError, "found started='no': ", {"started": "no"}),
                (cw.UsageError, "found 'demo' for a capture of trace", {"what": "demo", "kind": "trace"}),
                (cw.UsageError, "found an empty list of SASS metrics", {"what": [], "kind": "instructions"}),
                (cw.UsageError, "found --profiler-api with the simulated GPU", {"kind": "samples"}),
                (cw.UsageError, "found replay 'batch' for a kind without it", {"kind": "pc", "replay": "batch"}),
                (cw.UsageError, "did you mean", {"what": ["sm__warps_activ.avg"]}),
                (cw.FileError, "none.cwc: cannot open", {"what": "none.cwc"})):
            with self.assertRaisesRegex(error, message):
                with cw.capture(**options):
                    self.fail("an open session")
        with mock.patch.dict(os.environ, COUNTERWORKS_AGENT="/nowhere/capture-agent"):
            with self.assertRaisesRegex(cw.UnsupportedError, "^cannot run /nowhere/capture-agent"):
                with cw.capture(METRICS):
                    self.fail("an open session")

    def test_a_checkpoint_needs_a_gpu(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is a GPU")
        with self.assertRaisesRegex(cw.UnsupportedError, "^no checkpoint without "):
            cw.checkpoint(reserve_device=None)

    def test_nothing_was_launched(self):
        with self.assertRaisesRegex(cw.InputError, "launched nothing"):
            with cw.capture(METRICS):
                pass

    def test_an_error_goes_before_warnings_that_are_errors(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaisesRegex(cw.InputError, "launched nothing"):
                with cw.capture():  # whose plan has a pass more than asked for, which is a notice
                    pass

    def test_an_exception_ends_the_session_and_passes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.cwd")
            for work in (step, lambda c: None):  # a file without launches is no second exception
                with self.assertRaisesRegex(ZeroDivisionError, "division"):
                    with cw.capture(METRICS, path=path) as c:
                        work(c)
                        1 / 0
            with self.assertRaisesRegex(AttributeError, "not complete"):
                c.kernels()
            with cw.capture(METRICS, path=path) as c:  # one at a time, and again one
                step(c)
                with self.assertRaisesRegex(cw.UsageError, "found an open session"):
                    with cw.capture(METRICS):
                        self.fail("two sessions")
            self.assertEqual(len(c.ranges()), 2)
            with self.assertRaisesRegex(cw.UsageError, "second block"):
                with c:
                    self.fail("a second block")

    def test_an_interrupt_while_a_block_ends_passes_on(self):
        c = cw.capture().__enter__()
        step(c)
        with mock.patch("counterworks._library.text", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                c.__exit__(None, None, None)
        with cw.capture(METRICS) as c:
            step(c)

    def test_a_block_that_never_ends(self):
        cw.capture(METRICS).__enter__()
        gc.collect()
        with cw.capture(METRICS) as c:
            step(c)
        self.assertEqual(len(c.ranges()["name"]), 2)

    def test_names_that_a_capture_lacks(self):
        with cw.capture(METRICS) as c:
            step(c)
            with self.assertRaisesRegex(AttributeError, "found no 'kernel' of a capture that is not complete"):
                c.kernel
        with self.assertRaisesRegex(AttributeError, "^'Session' object has no attribute 'kernel'$"):
            c.kernel

    def test_without_a_block(self):
        c = cw.capture(METRICS)
        step(c)
        self.assertEqual(list(c.passes()), [0])
        self.assertRegex(repr(c), "^<counterworks.Session of kernels: /.*/run.cwd>$")
        self.assertRegex(repr(cw.capture(METRICS, path="\x1b[31m\n")), r"/\\x1b\[31m\\n>$")


class Callbacks(unittest.TestCase):
    """Stand-ins for the frameworks call as they do; a step has two batches."""

    def capture_of(self, modules, make, train):
        with mock.patch.dict("sys.modules", modules):
            callback = make(METRICS, step=2)
        self.assertIsNone(callback.capture)
        train(callback)
        self.assertEqual(list(callback.capture.ranges()["name"]), ["k2_0", "k2_1"])
        self.assertTrue(np.isfinite(callback.capture.ranges().table.values).all())

    def test_lightning(self):
        def train(callback):
            for batch in range(8):
                trainer = SimpleNamespace(global_step=batch // 2)
                callback.on_train_batch_start(trainer, None, None, batch)
                cw.pretend(f"launch k{batch // 2}_{batch % 2}")
                trainer.global_step = (batch + 1) // 2
                callback.on_train_batch_end(trainer, None, None, None, batch)
            callback.on_train_end(trainer, None)

        framework = SimpleNamespace(Callback=type("Callback", (), {}))
        self.capture_of({"lightning": SimpleNamespace(pytorch=framework), "lightning.pytorch": framework},
                        cw.lightning_callback, train)

    def test_trainer(self):
        def train(callback):
            for step in range(4):
                callback.on_step_begin(None, SimpleNamespace(global_step=step), None, model=None)
                for batch in range(2):
                    cw.pretend(f"launch k{step}_{batch}")
                callback.on_step_end(None, SimpleNamespace(global_step=step + 1), None, model=None)
            callback.on_train_end(None, None, None, model=None)

        framework = SimpleNamespace(TrainerCallback=type("TrainerCallback", (), {}))
        self.capture_of({"transformers": framework}, cw.trainer_callback, train)


class Node(unittest.TestCase):
    def test_the_chip_is_that_of_the_nodes_gpus(self):
        with tempfile.TemporaryDirectory() as folder:
            agent = pathlib.Path(folder, "capture-agent")
            agent.write_text("""#!/bin/sh
[ "$1 $2 $3" = "doctor -q --facts" ] || exit 2
[ ! -e "$0.none" ] || { echo no GPU; exit 6; }
echo '{"schema": 1, "devices": [{"device": 0, "chip": "GA100", "does": []}]}' >"$4"
""")
            agent.chmod(0o700)
            with mock.patch.dict(os.environ, COUNTERWORKS_BACKEND="cupti", COUNTERWORKS_AGENT=str(agent)):
                agent.with_suffix(".none").touch()
                with self.assertRaisesRegex(cw.UnsupportedError, "^no GPU$"):
                    cw.chip()
                agent.with_suffix(".none").unlink()
                self.assertEqual(cw.chip().name, "GA100")
                self.assertGreater(len(cw.chip().for_advice()), 20)
                self.assertIsNot(cw.chip(), cw.chip())  # a chip may get metrics of the user's
        self.assertEqual(cw.chip().name, "GH100")  # the simulated one


if __name__ == "__main__":
    unittest.main()
