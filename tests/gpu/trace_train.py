"""What data/captures/trace_train.cwd is of: eager steps of a small transformer under NVTX, with a copy to the GPU, then its
forward pass as a CUDA graph. Prints what it computed."""
import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, dropout=0.0)
model = torch.nn.TransformerEncoder(layer, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x, y = torch.randn(8, 64, 256).pin_memory(), torch.randn(8, 64, 256, device="cuda")


def step(inputs):
    with torch.cuda.nvtx.range("forward"):
        loss = torch.nn.functional.mse_loss(model(inputs), y)
    with torch.cuda.nvtx.range("backward"):
        loss.backward()
    with torch.cuda.nvtx.range("update"):
        optimizer.step()
    return loss


for i in range(6):
    with torch.cuda.nvtx.range(f"step {i}"):
        optimizer.zero_grad(set_to_none=True)
        with torch.cuda.nvtx.range("load"):
            inputs = x.to("cuda", non_blocking=True)
        loss = step(inputs).item()

static, graph = inputs.clone(), torch.cuda.CUDAGraph()
with torch.no_grad():
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        model(static)
    torch.cuda.current_stream().wait_stream(stream)
    with torch.cuda.graph(graph):
        out = model(static)
for i in range(10):
    with torch.cuda.nvtx.range(f"graph {i}"):
        graph.replay()
torch.cuda.synchronize()
print(f"loss {loss:.4f}, out {out.float().sum().item():.3f}")
