"""A kernel of Triton, in a file of its own: Triton reads its source."""

import triton
import triton.language as tl


@triton.jit
def axpy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(x + i, tl.load(x + i, inside) * 0.5 + tl.load(y + i, inside), inside)
