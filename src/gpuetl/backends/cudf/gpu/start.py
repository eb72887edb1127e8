"""What the GPU engine needs before its first operation: libraries, and the memory pool; imported when it begins."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from threading import Lock

from gpuetl.backends.cudf.gpu.settings import POOL_SHARE

_MAKING = Lock()


def open_pool() -> None:
    """Make the memory pool of CuPy, libcudf and the engine, once in a process; threads may ask at the same time.

    It is made where the process still has RMM's default resource: users of the library keep one that they set.  Its
    memory is taken from the device when it is needed, not here.
    """
    with _MAKING:
        _open_pool()


@cache
def _open_pool() -> None:
    import cupy
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    if type(rmm.mr.get_current_device_resource()) is rmm.mr.CudaMemoryResource:
        free, _ = cupy.cuda.runtime.memGetInfo()
        limit = int(free * POOL_SHARE) & ~255
        pool = rmm.mr.CudaAsyncMemoryResource(release_threshold=limit)
        rmm.mr.set_current_device_resource(rmm.mr.LimitingResourceAdaptor(pool, limit))
    cupy.cuda.set_allocator(rmm_cupy_allocator)


STEPS: tuple[Callable[[], object], ...] = (
    *(partial(import_module, name) for name in ("cupy", "rmm", "rmm.allocators.cupy")),
    open_pool,
    partial(import_module, "pylibcudf"),
)
"""In this order: the pool is made when the context is open, which another thread opens meanwhile."""
