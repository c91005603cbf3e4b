#!/usr/bin/env python3
"""What counting without replay costs: multiplex_cost.py BIN [TIMES], on a node with a GPU and PyTorch.

The loop of replay_cost.py, a step at a time under an NVTX range, by itself, under batched replay, and multiplexed: by launch,
by step, and every so many steps of a longer loop. The ways take turns, TIMES times (3 unless given). Prints medians of the loop's
seconds, and how far the means of kernels with 20 launches and more are from those of batched replay.
"""
import csv
import io
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from replay_cost import METRICS

STEPS, LONG, EVERY = 30, 3000, 100
WAYS = {
    "plain": None,
    "batch": ["--replay", "batch"],
    "multiplex": ["--replay", "multiplex"],
    "multiplex, steps": ["--replay", "multiplex", "--ranges", "user"],
    "long, plain": None,
    f"long, every {EVERY}": ["--replay", "multiplex", "--every", str(EVERY)],
    f"long, steps, every {EVERY}": ["--replay", "multiplex", "--ranges", "user", "--every", str(EVERY)],
}


def loop(steps):
    import torch
    torch.manual_seed(0)
    a, b = (torch.randn(512, 512, device="cuda") for _ in range(2))
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        with torch.cuda.nvtx.range("step"):
            x = torch.relu(torch.mm(a, b) + b)
            y = torch.mm(x, b) - a
            z = torch.softmax(y * x, 1)
            total = torch.nn.functional.layer_norm(z, (512,)).sum()
    torch.cuda.synchronize()
    print(f"loop {time.perf_counter() - began:.3f} s, {total.item():.6f}")


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:6])}: exit {done.returncode}: {done.stderr[-300:]}")
    told = re.search(r"loop ([0-9.]+) s, (\S+)", done.stdout)
    return float(told.group(1)), told.group(2), done.stderr


def means(binaries, capture):
    """{(kernel, metric): (mean, occurrences)}"""
    table = subprocess.run([f"{binaries}/metric-eval", capture, "-m", ",".join(METRICS), "--csv", "-"], stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    found = {}
    for row in csv.DictReader(io.StringIO(table)):
        if row["value"] and row["status"] not in ("not collected", "unavailable"):
            count = int(row.get("occurrences") or 1)
            total, counted = found.get((row["name"], row["metric"]), (0, 0))
            found[row["name"], row["metric"]] = total + count * float(row["value"]), counted + count
    return {key: (total / count, count) for key, (total, count) in found.items()}


def main():
    binaries, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds, printed = {way: [] for way in WAYS}, {}
    with tempfile.TemporaryDirectory() as folder:
        plan = f"{folder}/plan.cwc"
        subprocess.run([f"{binaries}/metric-config", "--chip", "GH100", "-m", ",".join(METRICS), "-o", plan], check=True)
        for _ in range(times):
            for number, (way, options) in enumerate(WAYS.items()):
                steps = LONG if way.startswith("long") else STEPS
                program = [sys.executable, os.path.abspath(__file__), "loop", str(steps)]
                capture = [] if options is None else [f"{binaries}/capture-agent", "range", "-c", plan, "-o", f"{folder}/{number}.cwd",
                                                      "--force", *options, "--"]
                took, result, _ = run(capture + program)
                seconds[way].append(took)
                if printed.setdefault(steps, result) != result:
                    sys.exit(f"{way}: the program printed {result}, expected {printed[steps]}")
        for way, all_of in seconds.items():
            print(f"{way + ':':24} loop {statistics.median(all_of):7.3f} s  ({', '.join(f'{one:.3f}' for one in sorted(all_of))})", flush=True)
        batch, multiplexed = means(binaries, f"{folder}/1.cwd"), means(binaries, f"{folder}/2.cwd")
    away = {key: abs(value / batch[key][0] - 1) for key, (value, count) in multiplexed.items() if key in batch and batch[key][0] and count >= 2}
    if not away:
        sys.exit("found no value that both have")
    worst = sorted(away, key=away.get, reverse=True)
    print(f"means, multiplexed against batch: {len(away)} values of {len(batch)}, median {statistics.median(away.values()):.2%}, "
          f"within 2 %: {sum(one <= 0.02 for one in away.values())}")
    for key in worst[:12]:
        print(f"  {away[key]:8.2%}  {key[1]}  {multiplexed[key][0]:g} (n={multiplexed[key][1]}) batch {batch[key][0]:g}  {key[0][:60]}")


if sys.argv[1:2] == ["loop"]:
    loop(int(sys.argv[2]))
else:
    main()
