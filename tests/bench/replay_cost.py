#!/usr/bin/env python3
"""What a range for each launch costs, beside ncu: replay_cost.py BIN [TIMES [WAY...]], on a node with a GPU, PyTorch and ncu.

One program, about 300 launches of a PyTorch loop, and one list of metrics. A way is plain, ncu, or a kind of replay with what
is added to it: kernel, batch+passes (a plan of the fewest passes), kernel+time+context (one that prefers time, and the
scope of the context). The ways take turns, TIMES times (3 unless given); medians of the whole program's seconds are printed, and what
deterministic metrics differ between a way and ncu.
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

METRICS = """
gpu__time_duration.sum sm__cycles_elapsed.max sm__cycles_elapsed.avg.per_second
sm__throughput.avg.pct_of_peak_sustained_elapsed gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed
sm__warps_active.avg.pct_of_peak_sustained_active smsp__warps_eligible.avg.per_cycle_active
smsp__issue_active.avg.pct_of_peak_sustained_active smsp__inst_executed.sum sm__inst_executed.avg.per_cycle_active
smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio
sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active
sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
l1tex__t_sector_hit_rate.pct l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum lts__t_sector_hit_rate.pct lts__t_bytes.sum
dram__throughput.avg.pct_of_peak_sustained_elapsed dram__bytes_read.sum dram__bytes_write.sum dram__bytes.sum.per_second
smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
""".split()
PLANS = {"whole": [], "passes": ["--prefer", "passes"], "time": ["--prefer", "time"]}
SCOPES = ["context", "device"]
DETERMINISTIC = ["smsp__inst_executed.sum", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                 "smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio",
                 "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"]


def loop():
    import torch
    torch.manual_seed(0)
    a, b = (torch.randn(512, 512, device="cuda") for _ in range(2))
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(30):
        x = torch.relu(torch.mm(a, b) + b)
        y = torch.mm(x, b) - a
        z = torch.softmax(y * x, 1)
        total = torch.nn.functional.layer_norm(z, (512,)).sum()
    torch.cuda.synchronize()
    print(f"loop {time.perf_counter() - began:.2f} s, {total.item():.6f}")


def run(command):
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:4])}: exit {done.returncode}: {done.stderr[-300:]}")
    said = re.search(r"loop ([0-9.]+) s", done.stdout)
    return time.perf_counter() - began, float(said.group(1)) if said else float("nan"), done.stdout


def agent_values(binaries, capture):
    table = subprocess.run([f"{binaries}/metric-eval", capture, "-m", ",".join(DETERMINISTIC), "--csv", "-", "--tidy"],
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    values = {}
    for row in csv.DictReader(io.StringIO(table)):
        values.setdefault(row["metric"], []).append(float(row["value"]))
    return values


def ncu_values(text):
    values = {}
    table = text[text.index('"ID"'):]
    for number, row in enumerate(csv.DictReader(io.StringIO(table))):
        if number > 0:  # the first row holds units
            for name in DETERMINISTIC:
                values.setdefault(name, []).append(float(row[name].replace(",", "")))
    return values


def main():
    binaries = sys.argv[1]
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    ways = sys.argv[3:] or ["plain", "batch", "kernel", "kernel+time+device", "application", "ncu"]
    program = [sys.executable, os.path.abspath(__file__), "loop"]
    seconds, values = {way: [] for way in ways}, {}
    with tempfile.TemporaryDirectory() as folder:
        for plan, option in PLANS.items():
            subprocess.run([f"{binaries}/metric-config", "--chip", "GH100", "-m", ",".join(METRICS), "-o", f"{folder}/{plan}.cwc"] +
                           option, check=True)
        for _ in range(times):
            for way in ways:
                capture = f"{folder}/{way}.cwd"
                if way == "plain":
                    command = program
                elif way == "ncu":
                    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw",
                               "--print-units", "base", "--metrics", ",".join(METRICS)] + program
                else:
                    replay, *more = way.split("+")
                    plan = next((name for name in more if name in PLANS), "whole")
                    command = [f"{binaries}/capture-agent", "range", "-c", f"{folder}/{plan}.cwc", "-o", capture,
                               "--replay", replay, "--scope", next((name for name in more if name in SCOPES), "auto"),
                               "--"] + program
                whole, inside, text = run(command)
                seconds[way].append((whole, inside))
                if way == "ncu":
                    values[way] = ncu_values(text)
                elif way != "plain":
                    values[way] = agent_values(binaries, capture)
    medians = {way: [statistics.median(run[i] for run in seconds[way]) for i in (0, 1)] for way in ways}
    for way in ways:
        beside = f", {medians[way][0] / medians['ncu'][0]:.2f} of ncu" if "ncu" in ways else ""
        print(f"{way}: whole program {medians[way][0]:.1f} s, loop {medians[way][1]:.2f} s{beside}", flush=True)
    for way in values:
        first = values.get("ncu") or values[next(iter(values))]
        for name in DETERMINISTIC:
            ours, theirs = values[way].get(name, []), first.get(name, [])
            differ = sum(abs(a - b) > 0.00501 for a, b in zip(ours, theirs))  # ncu prints two decimals
            print(f"{way}: {name}: {len(ours)} launches, {differ + abs(len(ours) - len(theirs))} differ")


if __name__ == "__main__":
    loop() if sys.argv[1:] == ["loop"] else main()
