#!/usr/bin/env python3
"""What a trace costs: trace_cost.py BIN [TIMES [ROW...]], on a node with a GPU, PyTorch and CUPTI's headers.

A training loop of PyTorch (trace_loop.py) runs by itself, with a bare consumer of CUPTI's records that throws them away
(trace_floor.c), under capture-agent trace, and under PyTorch's own profiler; TIMES times in turn (3 unless given). Prints medians
of the loop's seconds, beside those of the loop by itself and of the bare consumer, and the size of what was written.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

STEPS = 640  # about 80,000 launches
HERE = os.path.dirname(os.path.abspath(__file__))
LOOP = [sys.executable, os.path.join(HERE, "trace_loop.py"), str(STEPS)]
ROWS = ["plain", "bare CUPTI", "trace -t gpu", "trace", "bare CUPTI, calls", "trace, all calls", "PyTorch, GPU", "PyTorch, GPU and CPU"]
OPTIONS = {"trace -t gpu": ["-t", "gpu"], "trace": [], "trace, all calls": ["--calls", "*"]}


def cuda():
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))


def libraries():
    places = [f"{cuda()}/{place}" for place in ("lib64", "targets/x86_64-linux/lib", "extras/CUPTI/lib64")]
    return [place for place in places if os.path.isdir(place)]


def build(folder):
    library = f"{folder}/libfloor.so"
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", library, f"{HERE}/trace_floor.c", "-I", f"{cuda()}/include", "-I",
                    f"{cuda()}/extras/CUPTI/include"] + [f"-L{place}" for place in libraries()] + ["-lcupti"], check=True)
    return library


def run(row, binaries, library, folder):
    """Seconds of the loop, and bytes that were written."""
    environment, written = dict(os.environ), None
    command = LOOP
    if row.startswith("bare"):
        environment["CUDA_INJECTION64_PATH"] = library
        environment["LD_LIBRARY_PATH"] = ":".join(libraries() + [environment.get("LD_LIBRARY_PATH", "")])
        if "calls" in row:
            environment["TRACE_FLOOR_CALLS"] = "1"
    elif row.startswith("trace"):
        written = f"{folder}/run.cwd"
        command = [f"{binaries}/capture-agent", "trace", "--force", "-o", written, *OPTIONS[row], "--", *LOOP]
    elif row.startswith("PyTorch"):
        written = f"{folder}/trace_loop.json"
        command = LOOP + ["all" if "CPU" in row else "cuda"]
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found = re.search(r"^loop ([0-9.]+) s", done.stdout, re.M)
    if done.returncode or not found:
        sys.exit(f"{row}: exit {done.returncode}: {done.stderr[-500:]}")
    return float(found.group(1)), os.path.getsize(written) if written else 0


def main():
    binaries, times = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    rows = sys.argv[3:] or ROWS
    took, size = {row: [] for row in rows}, {}
    with tempfile.TemporaryDirectory() as folder:
        library = build(folder)
        for _ in range(times):
            for row in rows:
                seconds, size[row] = run(row, binaries, library, folder)
                took[row].append(seconds)
    print(f"{'':22} {'loop':>8} {'of plain':>9} {'of bare CUPTI':>14} {'written':>10}   runs")
    for row in rows:
        median = statistics.median(took[row])
        ratios = [f"{median / statistics.median(took[base]):.2f}" if base in took else "" for base in ("plain", "bare CUPTI")]
        written = f"{size[row] / 1e6:.2f} MB" if size[row] else ""
        print(f"{row:22} {median:6.2f} s {ratios[0]:>9} {ratios[1]:>14} {written:>10}   " + " ".join(f"{t:.2f}" for t in took[row]))


main()
