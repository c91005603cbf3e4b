"""One process and two GPUs that use each other's memory: grouped collectives from one thread, and copies between them."""
import hashlib

import torch

a, b = torch.full((1 << 20,), 1.0, device="cuda:0"), torch.full((1 << 20,), 2.0, device="cuda:1")
for _ in range(3):
    torch.cuda.nccl.all_reduce([a, b])
    a *= 0.5
    b *= 0.25
x = torch.arange(1 << 20, dtype=torch.float32, device="cuda:0")
for step in range(4):
    y = (x * 2 + 1).to("cuda:1")
    x = (y - 1).to("cuda:0") * 0.5 + step
seen = hashlib.sha256()
for buffer in (a, b, x, y):
    seen.update(buffer.cpu().numpy().tobytes())
print("devices", seen.hexdigest()[:16])
