"""The memory pool of a worker's GPU, as large as others leave room for."""

from __future__ import annotations

import time

from gpuetl.engines.cudf.runtime.start import POOL_SHARE
from gpuetl.units import size

MOST_SHARE = 0.6
"""Of a GPU's memory: above three quarters, mapping it for other processes takes seconds."""
LEAST_SHARE = 0.1
"""Of a GPU's memory: plans are made for what the worker with the least has, and one with less would slow all down."""
SETTLE_S = 3
"""How long the memory of a process that was killed may take to be free again."""


def make_pool() -> None:
    """Make RMM's pool; raise `MemoryError` where there is no room for it.

    UCX maps the pools of other workers, and keeps what it has mapped until its process ends: so long the memory of one
    that died is taken (https://github.com/openucx/ucx/issues/11753).  A pool of a fixed size would fail, and no worker
    would come back.
    """
    import rmm

    rmm.reinitialize(pool_allocator=True, initial_pool_size=pool_bytes())


def pool_bytes() -> int:
    """Return how large a pool may be, in what RMM aligns to; wait a moment where there is less than is wanted."""
    from cupy.cuda import runtime

    until = time.monotonic() + SETTLE_S
    free, total = runtime.memGetInfo()
    while free * POOL_SHARE < total * MOST_SHARE and time.monotonic() < until:
        time.sleep(0.1)
        free, _ = runtime.memGetInfo()
    if free < total * LEAST_SHARE:
        raise MemoryError(
            f"{size(free)} of a GPU's {size(total)} are free, too little for a worker; "
            "stop what else uses the GPU, or name others by CUDA_VISIBLE_DEVICES"
        )
    return int(min(total * MOST_SHARE, free * POOL_SHARE)) & ~255
