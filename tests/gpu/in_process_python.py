#!/usr/bin/env python3
"""Captures of the running process from Python, on a node with a GPU: tests/gpu/in_process_python.py BUILD

BUILD is a build folder with bin, lib and python. Needs this Python to have PyTorch, NumPy, pandas and cffi; ways of other
frameworks are skipped where Python lacks them. Each way runs steps in a process of its own: training by PyTorch and JAX, or
kernels of CuPy, Numba, Triton and Warp. Prints a row for each: its seconds and those alone, the capture, and what is wrong,
which is also the exit status: other results than alone, another number of launches, missing metrics, values other than the
command's."""

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
    **{framework: ({"what": METRICS, "replay": "kernel"}, 2, 2) for framework in ("jax", "cupy", "numba", "triton", "warp")},
}


def digest(*arrays):
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()[:12]


def training():
    """A step of training by PyTorch, and a function for the hash of its weights; so do the next functions for others."""
    import torch

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

    return step, lambda: digest(*(p.detach().cpu().numpy() for p in model.parameters()))


def by_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # kernel replay saves all of a pool
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jax.random.normal(jax.random.key(0), (256, 512))
    weights = [jax.random.normal(jax.random.key(1), (512, 512)) / 512]

    @jax.jit
    def update(w):
        loss = lambda v: jnp.mean((jnp.tanh(x @ v) - x) ** 2)  # noqa: E731
        return w - 0.1 * jax.grad(loss)(w)

    def step():
        weights[0] = update(weights[0]).block_until_ready()

    return step, lambda: digest(np.asarray(weights[0]))


def by_cupy():
    import cupy

    x = cupy.arange(1 << 20, dtype=cupy.float32)
    scale = cupy.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = a * b + 1", "scale")

    def step():
        x[:] = scale(x, cupy.float32(0.5))
        x[:] = cupy.sqrt(cupy.abs(x - x.mean()))
        cupy.cuda.Device().synchronize()

    return step, lambda: digest(cupy.asnumpy(x))


def by_numba():
    import numpy as np

    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # some releases ask for it that cannot have it
    from numba import cuda

    @cuda.jit
    def stencil(a, b):
        i, j = cuda.grid(2)
        if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
            b[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4

    grids = [cuda.to_device(np.random.RandomState(i).rand(512, 512).astype(np.float32)) for i in range(2)]

    def step():
        stencil[(32, 32), (16, 16)](*grids)
        grids.reverse()
        cuda.synchronize()

    return step, lambda: digest(*(g.copy_to_host() for g in grids))


def by_triton():
    import torch
    import triton
    import triton_kernels

    x, y = (torch.randn(1 << 20, generator=torch.Generator().manual_seed(i)).cuda() for i in range(2))

    def step():
        triton_kernels.axpy[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        torch.cuda.synchronize()

    return step, lambda: digest(x.cpu().numpy())


def by_warp():
    import numpy as np
    import warp

    @warp.kernel
    def halve(a: warp.array(dtype=float)):
        i = warp.tid()
        a[i] = a[i] * 0.5 + 1.0

    x = warp.array(np.arange(1 << 20, dtype=np.float32), device="cuda")

    def step():
        warp.launch(halve, dim=x.shape, inputs=[x], device="cuda")
        warp.synchronize()

    return step, lambda: digest(x.numpy())


WORK = {"jax": by_jax, "cupy": by_cupy, "numba": by_numba, "triton": by_triton, "warp": by_warp}

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
    if way in ("batch", "kernel", "advice", *WORK):
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


def profiled(cw):
    """A table of matrix products of two sizes."""
    import torch

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
    name, _, alone = way.partition("-")
    try:
        step, result = WORK.get(name, training)()
    except ImportError as error:
        print(json.dumps(["", 0, f"skipped: {error}", []]))
        return
    began, text, wrong = time.monotonic(), "", []
    if alone:
        for _ in range(int(alone)):
            step()
    else:
        import counterworks as cw

        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: print(f"    {message}"[:250], file=sys.stderr)
        if way == "profile":
            step()
            text, wrong = profiled(cw)
        elif way == "raises":
            with contextlib.suppress(ZeroDivisionError):
                captured(cw, way, step)
                wrong = ["the exception was swallowed"]
        else:
            text, wrong = faults(cw, way, captured(cw, way, step))
    print(json.dumps([result(), time.monotonic() - began, text, wrong]))


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
        key = f"{way if way in WORK else 'training'}-{max(before + within, 1)}"
        if key not in alone:
            alone[key] = start(key)
        result, seconds, text, wrong, told = start(way)
        if result and result != alone[key][0]:
            wrong.append(f"result {result}, alone {alone[key][0]}")
        print(f"{way:12} {seconds:5.1f} {alone[key][1]:5.1f}  {text[:200]}{' WRONG: ' + '; '.join(wrong) if wrong else ''}",
              flush=True)
        print(told, end="", flush=True)
        failed = failed or bool(wrong)
    return failed


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--way":
        run_way(sys.argv[2])
    else:
        sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
