"""A small language model's training steps in bfloat16, each under an NVTX range: forward, backward, update."""
import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

WIDTH, HEADS, LAYERS, WORDS, TOKENS, BATCH = 768, 12, 4, 16384, 512, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).view(BATCH, TOKENS, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        a = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))
        return x + self.mlp(self.between(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place = nn.Embedding(WORDS, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.last, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, text):
        x = self.word(text) + self.place(torch.arange(TOKENS, device=text.device))
        return self.head(self.last(self.blocks(x)))


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 3
torch.manual_seed(0)
model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
text = torch.randint(0, WORDS, (BATCH, TOKENS + 1), device="cuda")
for step in range(steps):
    with torch.cuda.nvtx.range(f"step {step}"):
        with torch.cuda.nvtx.range("forward"), torch.autocast("cuda", torch.bfloat16):
            loss = cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        with torch.cuda.nvtx.range("backward"):
            optimizer.zero_grad()
            loss.backward()
        with torch.cuda.nvtx.range("update"):
            optimizer.step()
        torch.cuda.synchronize()
print(f"loss {loss.item():.6f}")
