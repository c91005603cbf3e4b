#!/usr/bin/env python3
"""What a range costs beside CUPTI alone: range_floor.py BIN [TIMES [SCOPE...]], on a node with a GPU and nvcc.

One program (range_floor.cu) launches by itself, under batched replay, and with bare CUPTI, which collects the same plan by the
same config image in as many launches at once, but saves and restores no memory; TIMES times in turn (3 unless given). Prints
medians of the time for each launch, and for each launch in each pass; then, of the last runs, what the time went into. Where
there is ncu, its time for a launch, too. SCOPE is device (unless given) or context.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from replay_cost import METRICS

WORKS = ["small", "mix"]
NCU_LAUNCHES = (4, 20)  # the difference is what the launches cost, without what a run costs
SKIPPED = "304"  # launches of the program that warm it up
ROW = "{:7} {:8} {:6} {:>12} {:>15} {:>9}"


def run(command, allowed=(0,)):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(command[:4])}: exit {done.returncode}: {done.stderr[-500:]}")
    return done


def fields(text):
    """{"loop": 1.5, "launches": 600.0, ...} of the line that the program prints."""
    line = re.search(r"^loop .*$", text, re.M)
    if not line:
        sys.exit(f"range_floor printed no times: {text[-300:]}")
    words = line.group(0).split()
    return dict(zip(words[::2], map(float, words[1::2])))


def build(folder):
    """The program, with the CUPTI that stands beside nvcc."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    places = [f"{root}/{place}" for place in ("lib64", "targets/x86_64-linux/lib", "extras/CUPTI/lib64")]
    links = [option for place in places if os.path.isdir(place) for option in ("-L", place, f"-Xlinker=-rpath,{place}")]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "range_floor.cu")
    run([nvcc, "-std=c++17", "-O2", "-arch=native", "-o", f"{folder}/range_floor", source, "-I", f"{root}/extras/CUPTI/include"] +
        links + ["-L", f"{root}/lib64/stubs", "-lcupti", "-lcuda"])
    return f"{folder}/range_floor"


def ncu_seconds(program, work):
    """Of a launch, or None."""
    took = []
    for count in NCU_LAUNCHES:
        began = time.perf_counter()
        done = subprocess.run(["ncu", "--clock-control", "none", "--cache-control", "none", "--launch-skip", SKIPPED,
                               "--launch-count", str(count), "--metrics", ",".join(METRICS), program, work],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(f"ncu: exit {done.returncode}: {done.stdout[-200:]!r}")
            return None
        took.append(time.perf_counter() - began)
    return (took[1] - took[0]) / (NCU_LAUNCHES[1] - NCU_LAUNCHES[0])


class Bench:
    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        self.program = build(folder)
        run([f"{binaries}/metric-config", "--chip", "GH100", "-m", ",".join(METRICS), "-o", f"{folder}/plan.cwc"])

    def agent(self, scope, name, command, allowed=(0,), options=(), settings=()):
        return run(["env", *settings, f"{self.binaries}/capture-agent", "range", "-c", f"{self.folder}/plan.cwc",
                    "-o", f"{self.folder}/{name}.cwd", "--replay", "batch", "--scope", scope, *options, "--", self.program,
                    *command], allowed)

    def floor(self, work, scope, settings=()):
        """The agent gets no ranges, and says so by its exit status."""
        return fields(self.agent(scope, "floor", [work, scope], allowed=(0, 7), settings=settings).stdout)

    def batch(self, work, scope):
        done = self.agent(scope, "batch", [work], options=["--verbose"])
        return fields(done.stdout), done.stderr.strip()


def row(work, scope, way, seconds, passes, floor):
    print(ROW.format(work, scope, way, f"{1e3 * seconds:.3f}", f"{1e3 * seconds / passes:.3f}" if passes else "-",
                     f"{seconds / floor:.2f}"), flush=True)


def phases(run):
    return ", ".join(f"{phase} {run[phase]:.3f}" for phase in ("choose", "prepare", "setup", "start", "launch", "stop", "decode"))


def measure(bench, work, scope, times):
    plain = fields(run([bench.program, work]).stdout)
    floors, batches = [], []
    for _ in range(times):
        floors.append(bench.floor(work, scope))
        batch, told = bench.batch(work, scope)
        batches.append(batch)
        if batch["sum"] != plain["sum"]:
            print(f"{work}: the sum under batched replay is {batch['sum']:.9g}, without {plain['sum']:.9g}")
    last = floors[-1]
    launches, passes = last["launches"], last["passes"]
    floor, ours = (statistics.median(run["loop"] for run in runs) / launches for runs in (floors, batches))
    row(work, scope, "alone", plain["loop"] / launches, None, floor)
    row(work, scope, "CUPTI", floor, passes, floor)
    row(work, scope, "batch", ours, passes, floor)
    ncu = ncu_seconds(bench.program, work) if shutil.which("ncu") else None
    if ncu is not None:
        row(work, scope, "ncu", ncu, None, floor)
    print(f"    CUPTI: {launches:.0f} launches, {last['room']:.0f} at once, {passes:.0f} passes in {last['parts']:.0f} parts; "
          f"{last['loop']:.3f} s: {phases(last)}")
    print("    " + told.replace("capture-agent: ", "with what warms up: ").replace("\n", "\n    "), flush=True)


def measure_short(bench, scope):
    """Of batches of 16: counter data with room for as many as ever, or for 16."""
    short = ["RANGE_FLOOR_BATCH=16", "RANGE_FLOOR_LAUNCHES=160"]
    for fits in (False, True):
        run = bench.floor("small", scope, settings=short + ["RANGE_FLOOR_FIT=1"] * fits)
        print(f"    CUPTI, 10 batches of 16 launches, counter data for {16 if fits else run['room']:.0f}: "
              f"{run['loop']:.3f} s: {phases(run)}", flush=True)


def main():
    binaries = os.path.abspath(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(binaries, folder)
        print(ROW.format("work", "scope", "way", "ms a launch", "ms a pass of it", "to CUPTI"), flush=True)
        for scope in sys.argv[3:] or ["device"]:
            for work in WORKS:
                measure(bench, work, scope, times)
            measure_short(bench, scope)


main()
