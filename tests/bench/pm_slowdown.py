#!/usr/bin/env python3
"""What PM sampling costs a PyTorch training loop: pm_slowdown.py BIN PLAN.cwc [INTERVAL[:SECONDS]...], on a node with a
GPU.

The loop runs in this process; capture-agent samples the device from another. Each time a step is timed before, during
and after the sampling, so that what is printed is a ratio of one process on one machine.
"""
import os
import subprocess
import sys
import tempfile
import time

import torch

binaries, plan = sys.argv[1:3]
intervals = sys.argv[3:] or ["1ms", "100us", "10us"]
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 4), torch.nn.Linear(512, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
x = torch.randn(32, 256, 512, device="cuda")
y = torch.randn_like(x)


def milliseconds_a_step(seconds):
    steps = 0
    torch.cuda.synchronize()
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        for _ in range(5):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        steps += 5
        torch.cuda.synchronize()
    return (time.perf_counter() - began) / steps * 1e3


milliseconds_a_step(2)
plain = milliseconds_a_step(2)
for entry in intervals:
    interval, seconds = (entry + ":6").split(":")[:2]
    seconds = float(seconds)
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run.cwd")
        agent = subprocess.Popen([f"{binaries}/capture-agent", "pm", "-c", plan, "-o", run, "--interval", interval,
                                  "--duration", str(seconds)])
        while agent.poll() is None and not (os.path.exists(run) and os.path.getsize(run) > 20000):
            milliseconds_a_step(0.1)
        sampled = milliseconds_a_step(seconds - 2.5)
        agent.wait()
        after = milliseconds_a_step(2)
        ratio = sampled / ((plain + after) / 2)
        print(f"{interval}: {sampled:.3f} ms a step, {(ratio - 1) * 100:+.2f} %; {os.path.getsize(run) / seconds:.0f} bytes/s; "
              f"exit {agent.returncode}", flush=True)
        subprocess.run([f"{binaries}/metric-eval", "show", run])
        plain = after
