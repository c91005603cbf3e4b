#!/usr/bin/env python3
"""What metric-eval takes for a capture of 100,000 ranges, beside h5py that writes the same array and a copy in memory.

hdf5_cost.py BIN [RANGES]: commands are those of BIN, a build with tests. Needs python3-h5py. Files go to the working
folder, which needs 9 GB for 100,000 ranges."""
import os
import resource
import subprocess
import sys
import time

import h5py
import numpy

source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
folder, ranges = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "100000"
os.environ.setdefault("CW_DATA_DIR", os.path.join(source, "data"))


def measure(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run(*words):
    subprocess.run([os.path.join(folder, words[0]), *words[1:]], check=True, stdout=subprocess.DEVNULL)


def tell(what, seconds, path, rival):
    size = os.path.getsize(path) / 1e6
    print(f"{what:24}{seconds:8.2f} s {size:8.0f} MB {size / seconds:8.0f} MB/s {seconds / rival:8.1f}")


run("repeat_ranges", os.path.join(source, "data/captures/gemm.cwd"), ranges, "60", "bench.cwd")
took = {}
for option, path in ("-o", "bench.h5"), ("--csv", "bench.csv"), ("--json", "bench.json"):
    took[option, path] = measure(lambda: run("metric-eval", "bench.cwd", "-q", option, path))
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
with h5py.File("bench.h5") as file:
    values = file["range/value"][()]


def write():
    with h5py.File("rival.h5", "w") as file:
        file["value"] = values
    with open("rival.h5") as file:
        os.fsync(file.fileno())


copy = values.copy()
rival = measure(write)
print(f"{values.size} values; the last column: times what h5py takes to write them")
tell("h5py", rival, "rival.h5", rival)
print(f"{'memcpy':24}{measure(lambda: numpy.copyto(copy, values)):8.2f} s")
for (option, path), seconds in took.items():
    tell("metric-eval " + option, seconds, path, rival)
print(f"most memory of metric-eval: {most:.0f} MB")
for name in ("bench.cwd", "bench.h5", "bench.csv", "bench.json", "rival.h5"):
    os.remove(name)
