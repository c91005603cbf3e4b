"""Training steps that are captured into a CUDA graph once, under an NVTX range within the capture, and launched four times."""
import warnings

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).cuda()
x, y = torch.randn(256, 512, device="cuda"), torch.randn(256, 512, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(2):
        torch.nn.functional.mse_loss(model(x), y).backward()
torch.cuda.current_stream().wait_stream(side)
for parameter in model.parameters():
    parameter.grad = None
graph = torch.cuda.CUDAGraph()
with torch.cuda.nvtx.range("capture"), torch.cuda.graph(graph), torch.cuda.nvtx.range("inside"):
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
for step in range(4):
    with torch.cuda.nvtx.range(f"step {step}"), torch.no_grad():
        graph.replay()
        for parameter in model.parameters():
            parameter -= 0.01 * parameter.grad
torch.cuda.synchronize()
print(f"loss {loss.item():.9f}")
