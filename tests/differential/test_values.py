"""Values and statuses of metric-eval beside those of evaluator.py, which knows the documents alone: on every shipped
capture of ranges, and on simulated ones, whose counters are made of a seed."""
import os
import pathlib
import tempfile
import unittest

import h5py
import numpy
from evaluator import Chip, Evaluator
from openformat import Capture
from tables import run

SOURCE = pathlib.Path(os.environ["CW_SOURCE"])
CAPTURES = SOURCE / "data" / "captures"
PART, PARTS = map(int, os.environ.get("CW_PART", "0/1").split("/"))  # of the captures, for tests at the same time
NAMES = int(os.environ.get("CW_NAMES", 500))  # of each capture, others in each


class Values(unittest.TestCase):
    chips, compared = {}, 0

    def chip(self, name):
        if name not in self.chips:
            self.chips[name] = Chip(SOURCE / "data", name)
        return self.chips[name]

    def compare(self, path, nth=0, names=NAMES):
        capture = Capture(path)
        if capture.profiler != 0 or not capture.ranges:
            return
        evaluator = Evaluator(capture, self.chip(capture.chip))
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "values.h5")
            run("metric-eval", path, "--all", "--by", "range", "-q", "-o", out)
            with h5py.File(out) as file:
                table = file["range"]
                step = -(-table["metric"].shape[0] // names)
                chosen = slice(nth % step, None, step)
                metrics = [name.decode() for name in table["metric"][chosen]]
                values, statuses = table["value"][:, chosen].T, table["status"][:, chosen].T
        for name, ours, our_statuses in zip(metrics, values, statuses):
            value, status = evaluator.evaluate(name)
            numpy.testing.assert_allclose(value, ours, rtol=1e-11, atol=0, err_msg=f"{path}: {name}")
            numpy.testing.assert_array_equal(status, our_statuses, f"{path}: {name}")
            Values.compared += len(value)

    def test_shipped_captures(self):
        paths = sorted(CAPTURES.glob("*.cwd"))
        for nth, path in enumerate(paths):
            if nth % PARTS == PART:
                with self.subTest(path.name):
                    self.compare(path, nth * 7)

    def test_simulated_captures(self):
        if PART:
            self.skipTest("by the first part")
        with tempfile.TemporaryDirectory() as folder:
            plan = os.path.join(folder, "plan.cwc")
            run("metric-config", "--chip", "GH100", "--set", "demo,roofline", "--no-native", "-o", plan)
            for nth, replay in enumerate(("batch", "kernel", "application", "multiplex")):
                path = os.path.join(folder, f"{replay}.cwd")
                run("capture-agent", "range", "--backend", "sim", "-c", plan, "-o", path, "--replay", replay, "-q",
                    "--sim-kernels", 7, "--sim-loop", 2, "--sim-seed", nth, "--sim-lack", "nvlrx", "--", "true")
                with self.subTest(replay):
                    self.compare(path, nth)


def tearDownModule():
    print(f"{Values.compared} values compared")


if __name__ == "__main__":
    unittest.main()
