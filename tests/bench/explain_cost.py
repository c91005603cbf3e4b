#!/usr/bin/env python3
"""What --explain costs beside the plan that it explains: user time of whole processes, medians of RUNS runs (5).

    explain_cost.py BIN [RUNS]

BIN is the folder of metric-config and metric-query. The rival is the same command without --explain.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile

PLANS = [
    ("GH100", ["--set", "demo"]),
    ("GH100", ["--set", "basic"]),
    ("GH100", ["--set", "full"]),
    ("GH100", ["--all"]),
    ("GA100", ["ratios"]),
]


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def can_plan(binaries, chip, metric):
    command = [f"{binaries}/metric-config", "--chip", chip, "--no-native", "-m", metric, "-o", "-"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def ratios(binaries, chip, path):
    """Writes all ratios of a chip that can be planned."""
    lines = subprocess.run(
        [f"{binaries}/metric-query", "list", "--chip", chip, "--type", "ratio"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    names = [line.split("\t")[0] for line in lines]
    with open(path, "w") as out:
        out.writelines(f"{name}\n" for name in names if can_plan(binaries, chip, name))


def main():
    binaries, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("| plan | planning, s | with --explain, s | ratio |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for chip, what in PLANS:
            words = what
            if what == ["ratios"]:
                path = os.path.join(folder, "ratios.txt")
                ratios(binaries, chip, path)
                words = ["--metrics-file", path]
            command = [f"{binaries}/metric-config", "--chip", chip, "--no-native", *words]
            plan, explain = [], []
            for _ in range(runs):
                plan.append(seconds([*command, "-o", os.path.join(folder, "plan.cwc"), "--force"]))
                explain.append(seconds([*command, "--explain", "--format", "json"]))
            plan, explain = statistics.median(plan), statistics.median(explain)
            print(f"| {chip} {' '.join(what)} | {plan:.3f} | {explain:.3f} | {explain / plan:.1f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
