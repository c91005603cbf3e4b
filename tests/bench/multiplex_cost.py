#!/usr/bin/env python3
"""What multiplexing costs and what its means are worth: multiplex_cost.py BIN [TIMES [LOOPS [WAY...]]], on a node with a GPU
and PyTorch.

One program, LOOPS times (30 unless given) eleven launches within an NVTX range, and the metrics of replay_cost.py. The ways
take turns, TIMES times (3 unless given). Medians are printed: of the loop's seconds, and for user ranges of the milliseconds
that a counted one takes longer. Beside them, for kernels with 20 launches or more: what metrics batch replay and
multiplexing both have, and how far their means are apart.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

from replay_cost import METRICS, run

WAYS = {
    "plain": None,
    "batch": ["--replay", "batch"],
    "multiplex": ["--replay", "multiplex"],
    "context": ["--replay", "multiplex", "--scope", "context"],
    "steps": ["--replay", "multiplex", "--ranges", "user"],
    "every tenth": ["--replay", "multiplex", "--ranges", "user", "--every", "10"],
    "slowdown 10%": ["--replay", "multiplex", "--ranges", "user", "--slowdown", "10%"],
    "every thousandth": ["--replay", "multiplex", "--ranges", "user", "--every", "1000"],
    "launches, slowdown 5%": ["--replay", "multiplex", "--slowdown", "5%"],
}


def loop(times):
    import time

    import torch
    torch.manual_seed(0)
    a, b = (torch.randn(512, 512, device="cuda") for _ in range(2))
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(times):
        with torch.cuda.nvtx.range("step"):
            x = torch.relu(torch.mm(a, b) + b)
            y = torch.mm(x, b) - a
            z = torch.softmax(y * x, 1)
            total = torch.nn.functional.layer_norm(z, (512,)).sum()
    torch.cuda.synchronize()
    print(f"loop {time.perf_counter() - began:.3f} s, {total.item():.6f}")


def read(binaries, capture):
    """Values by (kernel, grid, block) and metric, and how many ranges the capture has."""
    done = subprocess.run([f"{binaries}/metric-eval", capture, "--json", "-"], stdout=subprocess.PIPE, text=True, check=True)
    read, values = json.loads(done.stdout), {}
    for one in read["ranges"]:
        kind = values.setdefault((one["name"], str(one.get("grid")), str(one.get("block"))), {})
        for metric in one["metrics"]:
            if metric["value"] is not None:
                kind.setdefault(metric["name"], []).append(metric["value"])
    return values, read["capture"]["ranges"]


def compare(batch, multiplexed):
    apart, lacking = [], 0
    for kind, metrics in batch.items():
        for name, values in metrics.items():
            found = multiplexed.get(kind, {}).get(name)
            if len(values) < 20:
                continue
            lacking += found is None
            mean = statistics.fmean(values)
            if found and mean:
                apart.append((abs(statistics.fmean(found) / mean - 1), name, kind[0], mean))
    apart.sort(reverse=True)
    within = sum(one[0] <= 0.02 for one in apart)
    print(f"means: {within} of {len(apart)} within 2 % of batch's, {lacking} lacking")
    for far, name, kernel, mean in apart[:10]:
        print(f"  {100 * far:.1f} % {name} of {kernel[:60]}: batch {mean:.6g}")


def main():
    binaries = sys.argv[1]
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    loops = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    ways = sys.argv[4:] or [way for way in WAYS if way not in ("every thousandth", "launches, slowdown 5%")]
    program = [sys.executable, os.path.abspath(__file__), "loop", str(loops)]
    seconds, counted, values = {way: [] for way in ways}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        plan = f"{folder}/plan.cwc"
        subprocess.run([f"{binaries}/metric-config", "--chip", "GH100", "-m", ",".join(METRICS), "-o", plan], check=True)
        for _ in range(times):
            for way in ways:
                options = WAYS[way]
                capture = f"{folder}/{ways.index(way)}.cwd"
                agent = [f"{binaries}/capture-agent", "range", "-c", plan, "-o", capture, *options, "--"] if options else []
                seconds[way].append(run(agent + program)[1])
                if options:
                    values[way], counted[way] = read(binaries, capture)
    plain = statistics.median(seconds["plain"])
    for way in ways:
        took = statistics.median(seconds[way])
        each = f", {1000 * (took - plain) / counted[way]:.2f} ms for each of {counted[way]} ranges" if counted.get(way) else ""
        print(f"{way}: loop {took:.3f} s, {took / plain:.2f} of plain{each}")
    if "batch" in values and "multiplex" in values:
        compare(values["batch"], values["multiplex"])


if __name__ == "__main__":
    loop(int(sys.argv[2])) if sys.argv[1:2] == ["loop"] else main()
