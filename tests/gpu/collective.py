"""Two GPUs that work together, a process for each: collective.py [PART...]. Every buffer that it computes goes into what it
prints. Parts: ddp, fsdp, tensor (a tensor-parallel layer), send (and receive); all unless some are named."""
import hashlib
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard
from torch.nn.functional import mse_loss

RANKS = 2


def layers(width, hidden):
    return torch.nn.Sequential(torch.nn.Linear(width, hidden), torch.nn.GELU(), torch.nn.Linear(hidden, width)).cuda()


def train(model, rank, optimizer):
    numbers = torch.Generator("cuda").manual_seed(rank)
    for _ in range(3):
        x = torch.randn(256, 512, device="cuda", generator=numbers)
        loss = mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return [loss]


def ddp(rank):
    model = torch.nn.parallel.DistributedDataParallel(layers(512, 1024), device_ids=[rank])
    return train(model, rank, torch.optim.SGD(model.parameters(), 0.1)) + list(model.parameters())


def fsdp(rank):
    model = torch.nn.Sequential(*[layers(512, 1024) for _ in range(3)])
    for block in model:
        fully_shard(block)
    fully_shard(model)
    return train(model, rank, torch.optim.AdamW(model.parameters(), 1e-3)) + [p.to_local() for p in model.parameters()]


def tensor(rank):
    half = torch.randn(512, 256, device="cuda")
    x = torch.randn(128, 512, device="cuda")
    for _ in range(4):
        y = x @ half @ half.t() / 512
        dist.all_reduce(y)
        x = torch.tanh(y)
    parts = [torch.empty_like(x) for _ in range(RANKS)]
    dist.all_gather(parts, x + rank)
    return parts


def send(rank):
    mine, other = torch.full((1 << 20,), rank + 1.0, device="cuda"), torch.empty(1 << 20, device="cuda")
    for _ in range(4):
        mine = mine * 1.5
        first, second = (dist.send, dist.recv) if rank == 0 else (dist.recv, dist.send)
        for call in (first, second):
            call(mine if call is dist.send else other, 1 - rank)
        mine = mine + other
    return [mine, other]


def work(rank, parts, results):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=RANKS, device_id=torch.device("cuda", rank))
    seen = hashlib.sha256()
    for part in parts:
        torch.manual_seed(0)
        for buffer in globals()[part](rank):
            seen.update(buffer.detach().cpu().numpy().tobytes())
        dist.barrier()
    results.put((rank, seen.hexdigest()[:16]))
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", CUBLAS_WORKSPACE_CONFIG=":4096:8")
    answers = mp.get_context("spawn").SimpleQueue()
    wanted = sys.argv[1:] or ["ddp", "fsdp", "tensor", "send"]
    mp.spawn(work, (wanted, answers), RANKS)
    print(*wanted, *(text for _, text in sorted(answers.get() for _ in range(RANKS))))
