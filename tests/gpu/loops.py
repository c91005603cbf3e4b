"""Programs that repeat themselves, each in its own way: loops.py train|compiled|decode|solver|straight|shared|host.
The last line of standard output is the result. "step N s" on standard error is how long a step took, as a median."""
import os
import statistics
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
import torch

torch.manual_seed(0)
torch.use_deterministic_algorithms(True, warn_only=True)
torch.utils.deterministic.fill_uninitialized_memory = False
torch.backends.cuda.matmul.allow_tf32 = False
kind = sys.argv[1]
times = []


def timed(step, count):
    for i in range(count):
        begin = time.monotonic()
        result = step(i)
        torch.cuda.synchronize()
        times.append(time.monotonic() - begin)
    return result


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(2)])
        self.project, self.join = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.project(self.norms[0](x)).chunk(3, -1)
        scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        x = x + self.join(scores.softmax(-1) @ v)
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))


def model(layers, width=256):
    return torch.nn.Sequential(torch.nn.Embedding(1000, width), *[Block(width) for _ in range(layers)], torch.nn.Linear(width, 1000))


def train(compiled):
    """Steps of training, with an evaluation after every twentieth."""
    net = model(8).cuda()
    run = torch.compile(net) if compiled else net
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    data = torch.randint(0, 1000, (8, 129), device="cuda")

    def step(i):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(run(data[:, :-1]).flatten(0, 1), data[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        if i % 20 == 19 and not compiled:
            with torch.no_grad():
                net(data[:, :-1]).sum().item()
        return loss

    return timed(step, 150 if compiled else 120).item()


def decode():
    """Tokens, one after another, whose attention grows."""
    net = model(8).cuda().eval()
    tokens = torch.randint(0, 1000, (1, 16), device="cuda")

    def step(_):
        nonlocal tokens
        with torch.no_grad():
            tokens = torch.cat([tokens, net(tokens)[:, -1:].argmax(-1)], 1)
        return tokens

    return timed(step, 250).sum().item()


def solver():
    """Steps of time, of 40 iterations each."""
    a = torch.randn(400, 400, device="cuda")
    a = a @ a.T + 400 * torch.eye(400, device="cuda")
    x = torch.zeros(400, device="cuda")

    def step(i):
        nonlocal x
        b = x + torch.full_like(x, 1.0 + i % 7)
        r = b - a @ x
        p = r.clone()
        for _ in range(40):
            ap = a @ p
            alpha = (r @ r) / (p @ ap)
            x = x + alpha * p
            new = r - alpha * ap
            p = new + (new @ new) / (r @ r) * p
            r = new
        return x

    return timed(step, 200).sum().item()


def straight():
    """No loop: each operation has its own shape."""
    total = torch.zeros((), device="cuda")
    for i in range(1, 60):
        x = torch.full((i * 37 % 211 + 1, i * 53 % 307 + 1), 1.0 / i, device="cuda")
        for make in (torch.sin, torch.exp, torch.tanh, torch.sqrt)[: i % 4 + 1]:
            x = make(x) + i
        total = total + (x @ x.T if i % 3 else x).sum() / i
    return total.item()


def shared():
    """A step again and again, of a process whose memory others can reach: nothing of it may be repeated."""
    reached = torch.zeros(1 << 20, device="cuda")
    reached.untyped_storage()._share_cuda_()
    net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256)).cuda()
    x = torch.randn(64, 256, device="cuda")

    def step(_):
        with torch.no_grad():
            return net(x).square().mean()

    return timed(step, 60).item()


def host():
    """Kernels of several streams, which may wait for one another: each new one is met for the first time."""
    streams = [torch.cuda.Stream() for _ in range(2)]
    x = torch.randn(1 << 16, device="cuda")
    makes = (torch.sin, torch.cos, torch.tan, torch.exp, torch.tanh, torch.sigmoid, torch.sqrt, torch.abs, torch.floor, torch.round)
    torch.cuda.synchronize()
    totals = []
    for i in range(60):
        with torch.cuda.stream(streams[i % 2]):
            totals.append(makes[i // 3 % len(makes)](x.abs()).to(torch.float64 if i % 5 else torch.float32).sum().float())
        torch.cuda.synchronize()
    return torch.stack(totals).sum().item()


kinds = {"train": lambda: train(False), "compiled": lambda: train(True), "decode": decode, "solver": solver, "straight": straight,
         "shared": shared, "host": host}
print(f"{kind} {kinds[kind]():.6f}")
if times:
    print(f"step {statistics.median(times):.6f} s", file=sys.stderr)
