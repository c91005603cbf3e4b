"""The Python package: its values are the commands', bit for bit; errors, notices and lifetimes."""

import copy
import doctest
import gc
import json
import os
import pathlib
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np
import pandas
import xarray

import counterworks as cw
from counterworks import _chip, _version

SOURCE = pathlib.Path(os.environ["CW_SOURCE"])
CAPTURES = SOURCE / "data" / "captures"
METRIC_EVAL = os.environ["CW_METRIC_EVAL"]


def command(*words):
    return subprocess.run([METRIC_EVAL, *map(str, words)], capture_output=True, text=True, check=True).stdout


def load_tests(_loader, tests, _pattern):
    tests.addTests(doctest.DocTestSuite(_chip, optionflags=doctest.ELLIPSIS))
    return tests


class Values(unittest.TestCase):
    def compare(self, name):
        """All values of a capture beside those that the command writes as JSON."""
        run = cw.open(CAPTURES / name)
        ranges = json.loads(command(CAPTURES / name, "--format", "json", "-q"))["ranges"]
        table = run.ranges().table
        self.assertEqual(len(table), len(ranges))
        values, statuses = run.evaluate()
        for r, row in enumerate(ranges):
            self.assertEqual(table["name"][r], row["name"])
            for m, metric in enumerate(row["metrics"]):
                expected = np.nan if metric["value"] is None else float(metric["value"])
                for value in (values[m, r], table.values[r, m], table[metric["name"]][r]):
                    self.assertEqual(np.float64(value).tobytes() if expected == expected else np.isnan(value),
                                     np.float64(expected).tobytes() if expected == expected else True, metric)
                self.assertEqual(cw.STATUSES[statuses[m, r]], metric["status"])
                self.assertEqual(cw.STATUSES[table.statuses(metric["name"])[r]], metric["status"])
        self.assertEqual(run.ranges().statuses().shape, table.values.shape)

    def test_values_into_arrays(self):
        run = cw.open(CAPTURES / "transformer.cwd")
        values, statuses = run.evaluate()
        other = np.zeros_like(values), np.zeros_like(statuses)
        again = run.evaluate(out=other)
        self.assertIs(again[0], other[0])
        np.testing.assert_array_equal(values, other[0])
        with self.assertRaisesRegex(cw.UsageError, "found out of shape"):
            run.evaluate(metrics=["gpu__time_duration.sum"], out=other)
        other[0].flags.writeable = False
        with self.assertRaisesRegex(cw.UsageError, "found out of shape.*writeable"):
            run.evaluate(out=other)
        with self.assertRaisesRegex(TypeError, "found out of list"):
            run.evaluate(out=([], []))

    def test_ranges(self):
        self.compare("gemm.cwd")
        self.compare("transformer.cwd")

    def test_arrays_are_the_views(self):
        name = "gpu__time_duration.sum"
        for view in (cw.open(CAPTURES / "transformer.cwd").kernels(metrics=[name]),
                     cw.open(CAPTURES / "multiplexed.cwd").kernels(metrics=[name, name])):
            before = view.to_dataframe()
            arrays = [*(view[column] for column in view), view.table.values, view.statuses(), view.statuses(name)]
            for array in arrays + [a for a in (view.table.spreads(),) if a is not None]:
                with self.assertRaisesRegex(ValueError, "read-only"):
                    array[0] = array[-1]
            frame, data = view.to_dataframe(statuses=True), view.to_xarray()
            for column in frame:
                frame.loc[0, column] = frame[column].iloc[-1]
            for column in data:
                data[column].values[0] = data[column].values[-1]
            pandas.testing.assert_frame_equal(view.to_dataframe(), before)

    def test_a_metric_with_the_name_of_a_column(self):
        chip = cw.chip("GH100")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("schema: 1\nmetrics:\n  launches: {formula: dram__bytes_read.sum / 2, unit: bytes}\n")
            file.flush()
            chip.add(file.name)
        run = cw.open(CAPTURES / "transformer.cwd", chip=chip)
        with self.assertRaisesRegex(cw.UsageError, "found the metric launches, which is a column of the table groups"):
            run.kernels(metrics=["launches"])
        self.assertTrue(np.isfinite(run.ranges(metrics=["launches"])["launches"]).all())
        self.assertTrue(np.isfinite(run.evaluate(["launches"])[0]).all())

    def test_a_metric_named_twice(self):
        chip, run = cw.chip("GH100"), cw.open(CAPTURES / "transformer.cwd")
        names = ["sm__inst_executed.sum", "dram__bytes_read.sum"]
        sets = chip.set("speed-of-light") + chip.set("memory-workload")
        self.assertLess(len(set(sets)), len(sets))
        for asked in ([names[0], *names], names[:1] * 50, sets):
            once = list(dict.fromkeys(asked))
            table, expected = run.kernels(metrics=asked).table, run.kernels(metrics=once).table
            self.assertEqual(list(table.metrics), once)
            np.testing.assert_array_equal(table.values, expected.values)
            np.testing.assert_array_equal(table.statuses(), expected.statuses())
            self.assertEqual(list(table.to_dataframe()), list(expected.to_dataframe()))
        joined = cw.join(CAPTURES / "trace_train.cwd", CAPTURES / "transformer.cwd", metrics=names[:1] * 40).table
        self.assertEqual(joined.values.shape, (len(joined), 1))
        values, _ = run.evaluate(metrics=names[:1] * 3)  # a row for each name
        np.testing.assert_array_equal(values, [values[0]] * 3)

    def test_metrics_in_a_text_with_commas(self):
        run, gh100 = cw.open(CAPTURES / "gemm.cwd"), cw.chip("GH100")
        names = ["dram__bytes_read.sum", "dram__bytes_write.sum"]
        for asked in ",".join(names), f" {names[0]},\n{names[1]}, ":
            self.assertEqual(list(run.kernels(metrics=asked).table.metrics), names)
            np.testing.assert_array_equal(run.evaluate(asked)[0], run.evaluate(names)[0])
            for plan in cw.plan("GH100", asked), gh100.plan(asked):
                self.assertEqual(list(plan.metrics), names)
        for call in (lambda: run.kernels(metrics=" ,"), lambda: run.evaluate(""), lambda: gh100.plan(",")):
            with self.assertRaisesRegex(cw.UsageError, "found no metric in ' ?,?', expected names"):
                call()

    def test_a_name_is_taken_out_of_a_table(self):
        tables = [cw.open(CAPTURES / "transformer.cwd").kernels().table for _ in range(2)]
        name, column = list(tables[0].metrics)[0], list(tables[0].columns)[0]
        del tables[0].metrics[name], tables[0].columns[column]
        np.testing.assert_array_equal(tables[0].values, tables[1].values[:, 1:])
        np.testing.assert_array_equal(tables[0]["total_ns"], tables[1]["total_ns"])

    def test_groups_are_the_commands(self):
        groups = json.loads(command(CAPTURES / "transformer.cwd", "--by", "kernel", "--format", "json", "-q"))["groups"]
        frame = cw.open(CAPTURES / "transformer.cwd").kernels().to_dataframe()
        self.assertEqual(list(frame["group"]), [g["group"] for g in groups])
        self.assertEqual(list(frame["total_ns"]), [g["total_ns"] for g in groups])

    def test_trace(self):
        trace = cw.open(CAPTURES / "trace_train.cwd")
        self.assertEqual((trace.profiler, trace.has_metrics), ("trace", False))
        copies = trace.view(kinds="kernel,copy").tables["copy"]
        self.assertEqual(len(copies), 74)
        self.assertGreater(copies["bytes"].sum(), 0)
        self.assertIn("launches", str(trace.kernels(top=3)))
        self.assertIn("launches", str(trace.view(kinds="kernel")))

    def test_frames(self):
        ranges = cw.open(CAPTURES / "gemm.cwd").ranges(metrics=["dram__bytes_read.sum"])
        frame = ranges.to_dataframe()
        self.assertEqual(frame["dram__bytes_read.sum"][0], 4864)
        self.assertEqual(frame.attrs["units"]["dram__bytes_read.sum"], "bytes")
        self.assertNotIn("dram__bytes_read.sum_status", frame)
        self.assertEqual(ranges.to_dataframe(statuses=True)["dram__bytes_read.sum_status"][0], "ok")
        json.dumps(frame.attrs)  # as pandas does for Parquet
        self.assertEqual(len(pandas.concat([frame, ranges.to_dataframe()])), 2 * len(frame))

    def test_names_of_a_table(self):
        kernels = cw.open(CAPTURES / "transformer.cwd").kernels(metrics=["dram__bytes_read.sum"])
        for table in (kernels, kernels.table):
            self.assertTrue("launches" in table and "dram__bytes_read.sum" in table)
            self.assertFalse("nothing" in table or 0 in table)
            self.assertEqual(list(table), [*kernels.table.columns, "dram__bytes_read.sum"])
            self.assertEqual(len(table), len(table["launches"]))

    def test_datasets(self):
        run = cw.open(CAPTURES / "transformer.cwd")
        data = run.ranges(metrics=["dram__bytes_read.sum"]).to_xarray()
        self.assertEqual(data.sizes["range"], run.row_count)
        self.assertEqual(data["dram__bytes_read.sum"].attrs["units"], "bytes")
        flags = data["dram__bytes_read.sum_status"].attrs
        self.assertEqual(flags["flag_meanings"].split()[0], "ok")
        self.assertEqual(len(flags["flag_meanings"].split()), len(flags["flag_values"]))

    def test_dimensions_are_one_row(self):
        for name, table, row in ("pc_gemm", "batches", "batch"), ("pm_gemm", "launches", "launch"), ("gpus", "ranges", "range"):
            self.assertEqual(list(cw.open(CAPTURES / (name + ".cwd")).view().tables[table].to_xarray().sizes)[:1], [row])

    def test_dates_of_datasets(self):
        for name, options, column in (("transformer", {"metrics": ["dram__bytes_read.sum"]}, "host_start_ns"),
                                      ("trace_train", {"kinds": "kernel"}, "start_ns"), ("pm_gemm", {}, "start_ns")):
            data = cw.open(CAPTURES / (name + ".cwd")).view(**options).to_xarray()
            dates = xarray.decode_cf(data)[column]
            self.assertEqual(dates.dtype, "datetime64[ns]")
            np.testing.assert_array_equal(dates.astype(np.int64), data[column])

    def test_times_of_another_clock_are_no_dates(self):
        whole = (CAPTURES / "pm_gemm.cwd").read_bytes()
        at, kept = 16, whole[:16]
        while at < len(whole):
            kind, _flags, length, _checksum = struct.unpack_from("<4sIQQ", whole, at)
            if kind != b"CLCK":
                kept += whole[at:at + 24 + length]
            at += 24 + length
        with tempfile.NamedTemporaryFile(suffix=".cwd") as file:
            file.write(kept)
            file.flush()
            tables = cw.open(file.name).view().tables
        self.assertEqual({name: table.columns["start_ns"].unit for name, table in tables.items()},
                         {"samples": "ns", "launches": "ns"})


class Questions(unittest.TestCase):
    def test_advice(self):
        advice = cw.open(CAPTURES / "transformer.cwd").advise()
        self.assertEqual(set(advice.tables), {"kernels", "findings"})
        self.assertTrue(advice["first_finding"][1])
        self.assertEqual(advice["first_rule"][1], "narrow-access")

    def test_comparisons(self):
        before, after = CAPTURES / "gemm.cwd", CAPTURES / "h200_gemm.cwd"
        changed = cw.diff(before, after)
        self.assertIn("slower", str(changed))
        self.assertFalse(hasattr(changed, "verdict"))  # which only a gate has
        trace = CAPTURES / "trace_train.cwd"
        self.assertIn("nothing changed", str(cw.diff(trace, trace)))

    def test_tables_of_comparisons(self):
        changed = cw.diff(CAPTURES / "runs_1.cwd", CAPTURES / "runs_6.cwd")
        self.assertEqual(list(changed.tables), ["groups", "changes"])
        groups, changes = changed.to_dataframe(), changed.tables["changes"].to_dataframe()
        self.assertEqual(len(changes) % len(groups), 0)
        self.assertTrue(((groups["b_total_ns"] - groups["a_total_ns"]) == groups["change_ns"]).all())
        first = changes[changes["metric"] == "gpu__time_duration.sum"].iloc[0]
        self.assertEqual((first["group"], first["a"]), (groups["group"][0], groups["a_launch_ns"][0]))
        self.assertEqual(list(cw.diff(CAPTURES / "trace_train.cwd", CAPTURES / "trace_train.cwd").tables), ["groups", "nvtx"])

    def test_comparisons_of_several_runs(self):
        runs = [CAPTURES / f"runs_{i}.cwd" for i in range(1, 7)]
        both, last = cw.open(runs[:2]), runs[5]
        self.assertEqual(str(cw.diff(both, last)), command("diff", *runs[:2], "--", last))
        self.assertEqual(str(cw.diff(last, both)), command("diff", last, "--", *runs[:2]))
        trace = CAPTURES / "trace_train.cwd"
        with self.assertWarnsRegex(cw.Notice, "more than once"):
            self.assertIn("  0 %", str(cw.diff(trace, cw.open(trace, trace))))
        with tempfile.TemporaryDirectory() as folder:
            rules = os.path.join(folder, "gate.yaml")
            command("gate", "--learn", *runs[:5], "-o", rules)
            for before, after in ((both, last), (runs[0], cw.open(runs[4:]))):
                judged = cw.gate(before, after, rules)
                self.assertEqual((judged.verdict, str(judged).partition(":")[0]), ("same", "same"))

    def test_explain(self):
        text = str(cw.open(CAPTURES / "gemm.cwd").explain("dram__bytes_read.sum"))
        self.assertIn("= 4864", text)

    def test_texts_are_the_commands(self):
        trace, run, samples = (CAPTURES / f"{name}.cwd" for name in ("trace_train", "transformer", "pc_gemm"))
        for words, view in (
                (["join", trace, run], lambda: cw.join(trace, run)),
                (["join", trace, run, "--by", "nvtx", "--top", 2], lambda: cw.join(trace, run, by="nvtx", top=2)),
                (["advise", CAPTURES / "all_async.cwd"], lambda: cw.open(CAPTURES / "all_async.cwd").advise()),
                (["advise", CAPTURES / "all_async.cwd", "--min-gain", "0%"],
                 lambda: cw.open(CAPTURES / "all_async.cwd").advise(least_gain=0)),
                ([run, "-q"], lambda: cw.open(run).kernels(quiet=True)),
                (["diff", run, run, "-q"], lambda: cw.diff(run, run, quiet=True)),
                ([samples, "--top", 2], lambda: cw.open(samples).view(top=2)),
                ([samples], lambda: cw.open(samples).view())):
            self.assertEqual(str(view()), command(*words), words)

    def test_options_that_a_view_does_not_take(self):
        trace, run = cw.open(CAPTURES / "trace_train.cwd"), cw.open(CAPTURES / "transformer.cwd")
        for option, call in (("--sort", lambda: cw.diff(run, run, sort="share")),
                             ("--filter", lambda: cw.diff(run, run, filter="share > 0.5")),
                             ("metrics", lambda: cw.gate(run, run, "none.yaml", metrics=["dram__bytes_read.sum"])),
                             ("--top", lambda: cw.gate(run, run, "none.yaml", top=3)),
                             ("--all", lambda: cw.ranks(CAPTURES / "gpus.cwd", every=True)),
                             ("--filter", lambda: run.advise(filter="share > 0.5")),
                             ("--by", lambda: run.explain("dram__bytes_read.sum", range=0, by="kernel")),
                             ("--kernel", lambda: cw.join(trace, run, kernels="gemm")),
                             ("--kind", lambda: cw.diff(trace, trace, kinds="kernel"))):
            with self.assertRaisesRegex(cw.UsageError, f"found {option}, expected none for "):
                call()

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "groups.csv")
            cw.open(CAPTURES / "gemm.cwd").kernels().save(path)
            self.assertIn("gemm", pathlib.Path(path).read_text())

    def test_a_full_disk_ends_in_an_error(self):
        if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode:
            self.skipTest("no file system of a given size can be mounted")
        program = """
import sys, counterworks as cw
view = cw.open(sys.argv[1]).ranges()
for _ in range(2):
    try:
        view.save("/mnt/a.h5")
    except cw.FileError as error:
        print(error)
"""
        for size in range(48, 384, 48):  # KiB of the 400 that the file needs
            run = subprocess.run(["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=$0k none /mnt && exec "$@"', str(size),
                                  sys.executable, "-c", program, CAPTURES / "transformer.cwd"], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout, run.stderr),
                             (0, 2 * "/mnt/a.h5: cannot write: No space left on device\n", ""), size)

    def test_options_of_other_types(self):
        path = CAPTURES / "transformer.cwd"
        run = cw.open(os.fsencode(path), chip="GH100")
        self.assertEqual(run.source, str(path))
        for asked in ([0, 1], range(2), np.arange(2), "0-1"):
            self.assertEqual(list(run.ranges(ranges=asked)["range"]), [0, 1])
        self.assertEqual(list(cw.open(CAPTURES / "trace_train.cwd").view(kinds=["kernel", "copy"]).tables),
                         ["kernel", "copy"])
        samples = CAPTURES / "pc_gemm.cwd"
        self.assertEqual(str(cw.open(CAPTURES / "gemm.cwd").advise(samples=samples)),
                         str(cw.open(CAPTURES / "gemm.cwd").advise(samples=cw.open(samples))))

    def test_paths_are_in_the_encoding_of_file_names(self):
        latin = mock.patch("os.fsencode", lambda p: p if isinstance(p, bytes) else str(p).encode("latin-1"))
        with tempfile.TemporaryDirectory() as folder, latin:
            rules = os.path.join(folder, "m\u00fc.yaml")
            with open(rules.encode("latin-1"), "wb") as file:
                file.write((CAPTURES.parent / "rules" / "roof.yaml").read_bytes().replace(b"at-roof", b"own"))
            run = cw.open(str(CAPTURES / "gemm.cwd"))
            self.assertIn("kernels", run.advise(rules=rules).tables)
            self.assertTrue(cw.chip("GH100").for_advice(rules))

    def test_arrays_are_lists(self):
        path, names = CAPTURES / "transformer.cwd", ["dram__bytes_read.sum", "sm__inst_executed.sum"]
        run, gh100 = cw.open(path), cw.chip("GH100")
        for listed in np.array, pandas.Series, pandas.Index, iter:
            np.testing.assert_array_equal(run.evaluate(listed(names))[0], run.evaluate(names)[0])
            self.assertEqual(list(run.kernels(metrics=listed(names)).table.metrics), names)
            self.assertEqual(list(gh100.plan(listed(names)).metrics), names)
            self.assertEqual(cw.open(listed([str(path)])).source, str(path))
        self.assertEqual(run.evaluate(np.array([]))[0].shape, (0, run.row_count))

    def test_ranks_of_a_job(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([pathlib.Path(METRIC_EVAL).with_name("make_ranks"), CAPTURES / "gpus.cwd", "3", folder, "4"], check=True)
            whole, some, one = cw.open(folder), cw.open(folder, ranks=[0, 2]), cw.open(folder, ranks=1)
            self.assertEqual(set(some.ranges()["rank"]), {"0", "2"})
            self.assertEqual(list(one.ranges()["rank"]), ["1"] * 4)
            self.assertEqual(list(one.ranges(ranks="2")["rank"]), ["2"] * 4)
            self.assertEqual(one.kernels()["launches"].sum(), 4)
            self.assertEqual(str(cw.diff(one, one)), str(cw.diff(whole, whole, ranks="1")))
            with self.assertRaisesRegex(cw.UsageError, "found captures of the ranks"):
                cw.diff(one, whole)
            self.assertEqual(str(cw.diff(one, whole, ranks=None)), str(cw.diff(whole, whole)))
            self.assertEqual(str(cw.ranks([folder])), str(cw.ranks(folder)))
            self.assertEqual(str(cw.ranks(path for path in [folder])), str(cw.ranks(folder)))
            self.assertIn("sm__cycles_active.avg", str(one.explain("sm__cycles_active.avg")))
        self.assertIn("samples", str(cw.open(CAPTURES / "pc_gemm.cwd", ranks=0).view("LIST")))

    def test_page_of_a_capture(self):
        for name, shown in (("transformer", "<th title=\"\">limited by</th>"), ("trace_train", "launches"),
                            ("pm_gemm", "sm__cycles_active"), ("pc_gemm", "<table>"), ("sass_gemm", "<table>")):
            self.assertIn(shown, cw.open(CAPTURES / (name + ".cwd"))._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            path = os.fsencode(folder) + b"/<b>\xff.cwd"
            shutil.copy(CAPTURES / "gemm.cwd", path)
            page = cw.open(os.fsdecode(path))._repr_html_()
        self.assertIn("/&lt;b&gt;?.cwd: ranges of GH100", page)

    def test_names_in_a_repr_are_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, shown in (("\x1b[31m\n", r"\x1b[31m\n"), ("\udcff", r"\udcff"), ("\u202e", r"\u202e"), ("ü's", "ü's")):
                path = os.path.join(folder, name)
                shutil.copy(CAPTURES / "gemm.cwd", path)
                run = cw.open(path)
                self.assertEqual(repr(run), f"<counterworks.Capture {folder}/{shown}: ranges of GH100>")
                self.assertEqual(repr(run.kernels()), f"<counterworks.View of {folder}/{shown}: groups>")
                run.close()
                self.assertEqual(repr(run), f"<counterworks.Capture {folder}/{shown}: closed>")

    def test_page_of_a_table(self):
        self.assertIn("&lt;float", cw.open(CAPTURES / "transformer.cwd").kernels().table._repr_html_())


class Mistakes(unittest.TestCase):
    def test_source_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(SOURCE / "python" / "counterworks", f"{folder}/counterworks",
                            ignore=shutil.ignore_patterns("_cffi.py"))
            run = subprocess.run([sys.executable, "-c", "import counterworks"], cwd=folder, capture_output=True, text=True,
                                 env=os.environ | {"PYTHONPATH": folder})
        self.assertRegex(run.stderr, r"found no counterworks._cffi.*: pip install ./python")

    def test_no_library(self):
        for library in "/nowhere/lib.so", "/", "libc.so.6":
            run = subprocess.run([sys.executable, "-c", "import counterworks"], capture_output=True, text=True,
                                 env=os.environ | {"COUNTERWORKS_LIBRARY": library})
            self.assertRegex(run.stderr, f"\nImportError: found no {library}, expected libcounterworks to be installed")

    def test_libraries_of_a_version_without_a_function(self):
        whole = pathlib.Path(os.environ["COUNTERWORKS_LIBRARY"])
        program = "import counterworks as cw; cw.pretend('launch gemm')"
        for lacks, error in (("value_status_text", "ImportError: found no .*/libcounterworks.so.0, expected libcounterworks"),
                             ("collect_take", "UnsupportedError: found no libcounterworks-collect.so.0, expected it")):
            with tempfile.TemporaryDirectory() as folder:
                for name in "libcounterworks.so.0", "libcounterworks-collect.so.0":
                    names = whole.with_name(name).read_bytes()
                    pathlib.Path(folder, name).write_bytes(names.replace(f"\0counterworks_{lacks}\0".encode(),
                                                                         f"\0counterworks_{lacks[:-1]}_\0".encode()))
                run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                                     env=os.environ | {"COUNTERWORKS_LIBRARY": f"{folder}/libcounterworks.so.0"})
            self.assertRegex(run.stderr, error)

    def test_a_folder_without_its_header(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(SOURCE / "python" / "make_cffi.py", folder)
            run = subprocess.run([sys.executable, "-c", "import make_cffi"], cwd=folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"^found no .*/include/counterworks/counterworks.h, .*: pip install .*\n$")

    def test_values_of_a_trace(self):
        trace = cw.open(CAPTURES / "trace_train.cwd")
        for call in (trace.evaluate, trace.available, lambda: trace.evaluate(["dram__bytes_read.sum"])):
            with self.assertRaisesRegex(cw.UnsupportedError, "found a capture of .*, expected one of ranges or samples"):
                call()

    def test_texts_with_nul(self):
        path, chip = str(CAPTURES / "gemm.cwd"), cw.chip("GH100")
        run = cw.open(path)
        for call in (lambda: cw.open(path + "\0xyz"), lambda: cw.pretend("launch a\0"),
                     lambda: cw.chip("GH100\0"), lambda: cw.plan(chip, ["dram__bytes_read.sum\0"]),
                     lambda: run.kernels(metrics="dram__bytes_read.sum\0"), lambda: run.by("kernel\0"),
                     lambda: run.explain("dram__bytes_read.sum\0"), lambda: chip.find("l2\0"),
                     lambda: run.kernels().save("groups\0.csv"), lambda: cw.gate(run, run, "gate.yaml\0")):
            with self.assertRaisesRegex(cw.UsageError, "found a NUL in .*x00"):
                call()
        self.assertNotIn("dram__bytes_read.sum\0", chip)

    def test_errors(self):
        with self.assertRaisesRegex(cw.FileError, "none.cwd: cannot open"):
            cw.open("none.cwd")
        with self.assertRaisesRegex(OSError, "cannot open"):
            cw.open("none.cwd")
        with self.assertRaises(cw.InputError):
            cw.open(SOURCE / "README.md")
        with self.assertRaisesRegex(cw.UsageError, "did you mean"):
            cw.plan("GH100", ["sm__warps_activ.avg"])
        with self.assertRaisesRegex(KeyError, "did you mean"):
            cw.chip("GH100")["sm__warps_activ.avg"]
        with self.assertRaises(cw.UsageError):
            cw.chip("GH1000")
        run = cw.open(CAPTURES / "gemm.cwd")
        with self.assertRaisesRegex(TypeError, "'to'.*expected one of ranks"):
            run.kernels(to=3)
        with self.assertRaisesRegex(KeyError, "'nothing'.*group"):
            run.kernels()["nothing"]
        with self.assertRaisesRegex(KeyError, "'launches', expected a metric"):
            run.kernels().statuses("launches")

    def test_arguments_of_wrong_types(self):
        run = cw.open(CAPTURES / "gemm.cwd")
        for error, message, call in (
                (TypeError, "found top='3': an integer", lambda: run.kernels(top="3")),
                (OverflowError, "found top=-1: ", lambda: run.kernels(top=-1)),
                (OverflowError, "found most_passes=-1: ", lambda: cw.plan("GH100", ["dram__bytes_read.sum"], most_passes=-1)),
                (OverflowError, "found width=-1: ", lambda: run.kernels().text(width=-1)),
                (cw.UsageError, "found a frame of -1 ns, expected", lambda: run.evaluate(frame_ns=-1)),
                (TypeError, "found frame_ns='1': ", lambda: run.evaluate(frame_ns="1")),
                (TypeError, "found metrics=5: ", lambda: run.kernels(metrics=5)),
                (TypeError, "found 5, expected a path", lambda: cw.open(5)),
                (cw.UsageError, "found the form 'TEXT', expected one of table, list", lambda: run.view("TEXT")),
                (cw.UsageError, "found the preference 'less', expected one of whole, passes, time",
                 lambda: cw.plan("GH100", ["dram__bytes_read.sum"], prefer="less")),
                (cw.UsageError, "found no chip named ''", lambda: cw.chip("")),
                (TypeError, "not int", lambda: cw.open(CAPTURES / "gemm.cwd", chip=5)),
                *((cw.UsageError, f"found an empty list for {name}, expected", lambda n=name, e=empty: run.view(**{n: e}))
                  for name in ("kernels", "exclude", "filter", "metrics", "ranges", "ranks", "by", "sort", "kinds", "rules")
                  for empty in ([], (), iter([]), np.array([]))),
                (cw.UsageError, "found an empty list for kernels", lambda: cw.diff(run, run, kernels=[])),
                (cw.UsageError, "found arguments '-q', expected a list", lambda: cw.capture(arguments="-q"))):
            with self.assertRaisesRegex(error, message):
                call()

    def test_notices_are_warnings_of_the_users_line(self):
        whole = (CAPTURES / "transformer.cwd").read_bytes()
        with tempfile.NamedTemporaryFile(suffix=".cwd") as cut, warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            cut.write(whole[:len(whole) // 2])
            cut.flush()
            run = cw.open(cut.name)
            run.kernels(top=1)
            shown = len(seen)
            run.evaluate(["dram__bytes_read.sum"])
            self.assertEqual([str(w.message) for w in seen[shown:]], [str(w.message) for w in seen[:shown]])
        self.assertFalse(run.complete)
        self.assertTrue(any("incomplete" in str(w.message) for w in seen))
        self.assertEqual({w.filename for w in seen}, {__file__})
        self.assertTrue(all(issubclass(w.category, cw.Notice) for w in seen))

    def test_an_error_goes_before_warnings_that_are_errors(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = cw.open(CAPTURES / "threads.cwd")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaisesRegex(cw.Notice, "3 launches or ranges were not collected"):
                run.evaluate(["sm__inst_executed.sum"])
            with self.assertRaisesRegex(cw.UsageError, "no_such.sum"):
                run.evaluate(["no_such.sum"])

    def test_an_interrupt_in_a_callback_passes_on(self):
        chip, run = cw.chip("GH100"), cw.open(CAPTURES / "gemm.cwd")
        for call in (lambda: list(chip), lambda: chip.find("l2 hit rate"), lambda: chip.find("l2 bnak"),
                     lambda: chip.set("demo"), chip.for_advice, run.available):
            with mock.patch("counterworks._library.text", side_effect=KeyboardInterrupt):
                with self.assertRaises(KeyboardInterrupt):
                    call()
        self.assertGreater(len(chip), 3000)  # not the names before the interrupt

    def test_memory_of_the_library_stays(self):
        run, chip = cw.open(CAPTURES / "gemm.cwd"), cw.chip("GH100")
        kernels = run.kernels()
        for what, instead in ((run, "its path"), (kernels, "its data"), (kernels.table, "its data"), (chip, "its name"),
                              (chip.plan(["dram__bytes_read.sum"]), "its file"),
                              (object.__new__(cw.Checkpoint), "to save in")):
            for call in (pickle.dumps, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, f"found a {type(what).__name__} to .*, expected {instead}"):
                    call(what)
        for what in (kernels.to_dataframe(), kernels.to_xarray(), kernels.table.columns, chip["dram__bytes_read.sum"]):
            self.assertEqual(type(pickle.loads(pickle.dumps(what))), type(what))

    def test_a_block_closes_the_file(self):
        def held(path):
            return sum(os.path.realpath(f"/proc/self/fd/{fd}") == str(path) for fd in os.listdir("/proc/self/fd"))

        path = (CAPTURES / "gemm.cwd").resolve()
        with cw.open(path) as run:
            self.assertEqual(held(path), 1)
            values = run.evaluate()[0]
            view = run.kernels()
            expected = str(view), str(run.advise()), str(run.show())
            self.assertEqual(expected, (str(view), str(run.advise()), str(run.show())))
        self.assertTrue(values.size)
        self.assertEqual(str(view), expected[0])  # of a view of its own
        del view
        self.assertEqual(held(path), 0)
        run.close()  # again
        self.assertEqual((run.metrics != [], run._repr_html_()), (True, None))
        self.assertIn("closed", repr(run))
        with cw.open(CAPTURES / "h200_gemm.cwd") as other:
            for call in (run.kernels, run.evaluate, run.advise, run.show, run.available, run.__enter__,
                         lambda: run.explain("dram__bytes_read.sum"), lambda: cw.diff(other, run),
                         lambda: other.advise(samples=run), lambda: run.report("none.html")):
                with self.assertRaisesRegex(cw.UsageError, "found the capture .*gemm.cwd closed, expected an open one"):
                    call()
            changed = cw.diff(other, path)
        self.assertIn("gemm", str(changed))
        with self.assertRaises(ZeroDivisionError), cw.open(path) as run:
            1 / 0
        self.assertEqual(held(path), 1)  # of `changed`
        del changed
        self.assertEqual(held(path), 0)

    def test_views_outlive_names(self):
        view = cw.open(CAPTURES / "gemm.cwd").kernels()
        gc.collect()
        self.assertEqual(len(view), 1)
        table = view.table
        del view
        gc.collect()
        self.assertEqual(table["launches"][0], 1)


class Plans(unittest.TestCase):
    def test_version(self):
        self.assertEqual(cw.__version__, _version.VERSION)

    def test_plan(self):
        chip = cw.chip("GH100")
        plan = chip.plan(chip.set("speed-of-light"))
        self.assertLessEqual(plan.bound, plan.passes)
        self.assertEqual(len(plan.explain().splitlines()), len(plan.metrics))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.cwc")
            plan.save(path)
            self.assertEqual(pathlib.Path(path).read_bytes()[:4], b"\x89CWC")

    def test_chip(self):
        self.assertIn("GH100", cw.chips())
        chip = cw.chip("GH100")
        self.assertGreater(len(chip), 3000)
        self.assertIn("sm__cycles_active.max", chip.for_advice())

    def test_names_of_bytes(self):
        chip = cw.chip(b"GH100")
        self.assertEqual((repr(chip), chip[b"dram__bytes_read.sum"].name),
                         ("<counterworks.Chip GH100>", "dram__bytes_read.sum"))

    def test_find(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            self.assertEqual(cw.chip("GH100").find("l2 bnak"), [])
        self.assertEqual([str(w.message) for w in seen], ["no metric of GH100 has the word 'bnak'; did you mean bank?"])


if __name__ == "__main__":
    unittest.main()
