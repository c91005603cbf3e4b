"""Training steps of a compiled model, whose kernels Triton makes and CUDA graphs launch (mode reduce-overhead)."""
import warnings

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.LayerNorm(512), torch.nn.Linear(512, 256)).cuda()
compiled = torch.compile(model, mode="reduce-overhead")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(128, 256, device="cuda"), torch.randn(128, 256, device="cuda")
for step in range(8):
    with torch.cuda.nvtx.range(f"step {step}"):
        torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(compiled(x), y)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
print(f"loss {loss.item():.7f}")
