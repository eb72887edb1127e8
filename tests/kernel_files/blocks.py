"""Kernels in Triton, and their twins."""

import triton
import triton.language as tl


@triton.jit
def scaled(x, n, total, positive, scale, n_rows, block: tl.constexpr):
    """Compute a block of rows."""
    rows = tl.program_id(0) * block + tl.arange(0, block)
    inside = rows < n_rows
    result = tl.load(x + rows, mask=inside) * scale + tl.load(n + rows, mask=inside)
    tl.store(total + rows, result, mask=inside)
    tl.store(positive + rows, result > 0, mask=inside)


@triton.jit
def running(x, total, offsets, n_groups, n_rows, block: tl.constexpr):
    """Sum up the rows of a group, a block at a time."""
    group = tl.program_id(0)
    last = tl.load(offsets + group + 1)
    before = tl.zeros((), tl.float64)
    for start in range(tl.load(offsets + group), last, block):
        rows = start + tl.arange(0, block)
        values = tl.load(x + rows, mask=rows < last, other=0.0)
        tl.store(total + rows, before + tl.cumsum(values, 0), mask=rows < last)
        before += tl.sum(values, 0)


@triton.jit
def filled(x, x_valid, y, y_valid, value, n_rows, block: tl.constexpr):
    """Fill nulls, and make nulls of negative numbers."""
    rows = tl.program_id(0) * block + tl.arange(0, block)
    inside = rows < n_rows
    valid = (tl.load(x_valid + rows // 32, mask=inside, other=0) >> (rows % 32).to(tl.uint32)) & 1
    result = tl.where(valid == 1, tl.load(x + rows, mask=inside, other=0.0), value)
    tl.store(y + rows, result, mask=inside)
    bits = (result >= 0).to(tl.uint32) << (rows % 32).to(tl.uint32)
    tl.atomic_or(y_valid + rows // 32, bits, mask=inside)


@triton.jit
def beyond(x, y, n_rows, block: tl.constexpr):
    """Write past the last row."""
    rows = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + rows, tl.load(x + rows, mask=rows < n_rows) * 2, mask=rows < n_rows + 1)


@triton.jit
def wrong(x, y, n_rows, block: tl.constexpr):
    """Name what is not there."""
    rows = tl.arange(0, block)
    tl.store(y + rows, tl.lode(x + rows))


def plain(x, y, n_rows, block: tl.constexpr):
    """Have no decorator."""


@triton.jit
def no_block(x, y, n_rows):
    """Have no block."""
