"""A training loop of about 80,000 launches, for trace_cost.py: prints the seconds that it took and what it computed.
trace_loop.py [STEPS [PROFILER]], PROFILER: cuda or all, of PyTorch's own."""
import sys
import time

import torch

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500
profiler = sys.argv[2] if len(sys.argv) > 2 else None
torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(8) for m in (torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256))]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
x, y = torch.randn(64, 256, device="cuda"), torch.randn(64, 256, device="cuda")


def run(count):
    for _ in range(count):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    return loss


run(20)
began = time.perf_counter()
if profiler:
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CUDA] + ([kinds.CPU] if profiler == "all" else [])) as recorded:
        run(steps)
    took = time.perf_counter() - began
    recorded.export_chrome_trace("trace_loop.json")
else:
    loss = run(steps)
    took = time.perf_counter() - began
print(f"loop {took:.4f} s")
