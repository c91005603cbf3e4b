"""Training steps under NVTX ranges on two levels; on every GPU with the argument `all`."""
import sys

import torch

gpus = range(torch.cuda.device_count() if sys.argv[1:] == ["all"] else 1)
torch.manual_seed(0)
x, y = torch.randn(256, 512), torch.randn(256, 512)
made = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).state_dict()
models, data = [], []
for gpu in gpus:
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512))
    model.load_state_dict(made)
    models.append(model.to(f"cuda:{gpu}"))
    data.append((x.to(f"cuda:{gpu}"), y.to(f"cuda:{gpu}")))
optimizers = [torch.optim.SGD(model.parameters(), lr=0.01) for model in models]
for step in range(6):
    with torch.cuda.nvtx.range(f"step {step}"):
        with torch.cuda.nvtx.range("forward"):
            losses = [torch.nn.functional.mse_loss(model(a), b) for model, (a, b) in zip(models, data)]
        with torch.cuda.nvtx.range("backward"):
            for optimizer in optimizers:
                optimizer.zero_grad()
            for loss in losses:
                loss.backward()
        with torch.cuda.nvtx.range("update"):
            for optimizer in optimizers:
                optimizer.step()
        for gpu in gpus:
            torch.cuda.synchronize(gpu)
print("loss", *(f"{loss.item():.9f}" for loss in losses))
