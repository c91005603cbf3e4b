#!/usr/bin/env python3
"""Captures of the running process from Python, on a node with a GPU: tests/gpu/in_process_python.py BUILD

BUILD is a build folder with bin, lib and python. Needs this Python to have PyTorch, NumPy, pandas and cffi. Each way runs steps of
training in a process of its own. Prints a row for each: its seconds and those alone, the capture, and
what is wrong, which is also the exit status: other weights than alone, another number of launches, missing metrics, values
other than the command's."""

import collections
import contextlib
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
import warnings

SOURCE = pathlib.Path(__file__).resolve().parents[2]
METRICS = ["smsp__inst_executed.sum", "gpu__time_duration.sum", "l1tex__t_sector_hit_rate.pct", "dram__bytes_read.sum",
           "lts__t_sector_hit_rate.pct", "smsp__sass_inst_executed_op_memory_64b.sum"]  # three passes
LATE = 6  # steps of sessions in which passes take turns
WAYS = {  # a capture's arguments, steps before the session, steps in it
    "batch": ({"what": METRICS}, 0, 2), "late": ({"what": METRICS}, 2, LATE),
    "kernel": ({"what": METRICS, "replay": "kernel"}, 2, 2), "advice": ({}, 0, 2),
    "ranges": ({"what": METRICS, "kind": "ranges"}, 2, LATE),
    "user": ({"what": METRICS, "kind": "ranges", "replay": "user"}, 2, 1),
    "samples": ({"what": ["sm__cycles_active.avg"], "kind": "samples"}, 2, 2), "pc": ({"kind": "pc"}, 0, 2),
    "instructions": ({"what": ["smsp__sass_inst_executed"], "kind": "instructions"}, 0, 2),
    "trace": ({"kind": "trace"}, 2, 2), "raises": ({"what": METRICS}, 2, 2), "profile": ({}, 0, 0),
}


def training(torch):
    """A step of training, and the hash of its weights."""
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512))
    x, y = torch.randn(256, 512), torch.randn(256, 512)
    made = []

    def step():
        if not made:  # the first call of CUDA
            made.extend([model.cuda(), x.cuda(), y.cuda(), torch.optim.SGD(model.parameters(), lr=0.01)])
        net, a, b, optimizer = made
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(a), b).backward()
        optimizer.step()
        torch.cuda.synchronize()

    return step, lambda: hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes()
                                                 for p in model.parameters())).hexdigest()[:12]


def captured(cw, way, step):
    """Runs the steps of a way in its session. Returns the capture."""
    options, before, within = WAYS[way]
    for _ in range(before):
        step()
    with cw.capture(**options) as c:
        for i in range(within):
            if options.get("replay") == "user":
                for _ in c.passes("step"):
                    step()
            else:
                with c.range("step"):
                    step()
        if way == "raises":
            raise ZeroDivisionError
    return c


def faults(cw, way, c):
    """A short text of the capture, and everything that is wrong with it."""
    rows, wrong = c.view() if c.profiler != "trace" else c.kernels(), []
    text = f"{len(rows)} rows of {c.profiler}"
    if way in ("batch", "kernel", "advice"):
        said = subprocess.run(["metric-eval", c.path, "--format", "json", "-q"], capture_output=True, check=True).stdout
        values = [[m["value"] for m in r["metrics"]] for r in json.loads(said)["ranges"]]
        if [[None if v != v else v for v in row] for row in rows.table.values.tolist()] != values:
            wrong.append("values are not the command's")
    if c.profiler == "ranges":
        groups = c.by("nvtx") if way in ("ranges", "user") else c.kernels()
        status = collections.Counter(cw.STATUSES[s] for s in groups.statuses().ravel())
        launches = int(groups["launches"].sum())
        text += f", {launches} in {len(groups)} groups, {dict(status)}"
        if way in ("ranges", "user") and launches != WAYS[way][2]:
            wrong.append(f"expected {WAYS[way][2]} ranges")
        if status["not collected"] or (way != "advice" and status["unavailable on this device"]):
            wrong.append("metrics are missing")
    return text, wrong if len(rows) else [*wrong, "empty"]


def profiled(cw, torch):
    """A table of matrix products of two sizes."""
    @cw.profile(METRICS, [{"n": 512}, {"n": 1024}])
    def multiply(n):
        a = torch.ones(n, n, device="cuda")
        return float((a @ a)[0, 0])

    alone = multiply(512)
    frame = multiply.table()
    text = f"{len(frame)} rows; " + ", ".join(
        f"n={n}: {group['smsp__inst_executed.sum'].max():.4g} instructions" for n, group in frame.groupby("n"))
    wrong = [] if alone == multiply(512) == 512 else ["another product"]
    if set(frame["n"]) != {512, 1024} or "not collected" in frame.filter(like="_status").values:
        wrong.append("a configuration or its metrics are missing")
    return text, wrong


def run_way(way):
    """In a process of its own: prints hash, seconds and text."""
    import torch

    step, weights = training(torch)
    began, text, wrong = time.monotonic(), "", []
    if way.startswith("alone"):
        for _ in range(int(way.split("-")[1])):
            step()
    else:
        import counterworks as cw

        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: print(f"    {message}"[:250], file=sys.stderr)
        if way == "profile":
            step()
            text, wrong = profiled(cw, torch)
        elif way == "raises":
            with contextlib.suppress(ZeroDivisionError):
                captured(cw, way, step)
                wrong = ["the exception was swallowed"]
        else:
            text, wrong = faults(cw, way, captured(cw, way, step))
    print(json.dumps([weights(), time.monotonic() - began, text, wrong]))


def start(way):
    run = subprocess.run([sys.executable, __file__, "--way", way], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, timeout=240, check=False)
    lines = run.stdout.strip().splitlines()
    if run.returncode or not lines:
        return None, 0, "", [f"exit status {run.returncode}: " + (run.stderr.strip().splitlines() or [""])[-1][:200]], ""
    return *json.loads(lines[-1]), "".join(f"{line}\n" for line in run.stderr.splitlines() if line.startswith("    "))


def main(build):
    build, failed, alone = pathlib.Path(build).resolve(), False, {}
    os.environ.update(PYTHONPATH=f"{build / 'python'}:{os.environ.get('PYTHONPATH', '')}", CUBLAS_WORKSPACE_CONFIG=":4096:8",
                      COUNTERWORKS_LIBRARY=str(build / "lib" / "libcounterworks.so"), CW_DATA_DIR=str(SOURCE / "data"),
                      PATH=f"{build / 'bin'}:{os.environ['PATH']}")
    print(f"{'way':12} {'s':>5} {'alone':>5}  the capture, and what is wrong")
    for way, (_options, before, within) in WAYS.items():
        steps = max(before + within, 1)
        if steps not in alone:
            alone[steps] = start(f"alone-{steps}")
        weights, seconds, text, wrong, told = start(way)
        if weights and weights != alone[steps][0]:
            wrong.append(f"weights {weights}, alone {alone[steps][0]}")
        print(f"{way:12} {seconds:5.1f} {alone[steps][1]:5.1f}  {text[:200]}{' WRONG: ' + '; '.join(wrong) if wrong else ''}",
              flush=True)
        print(told, end="", flush=True)
        failed = failed or bool(wrong)
    return failed


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--way":
        run_way(sys.argv[2])
    else:
        sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
