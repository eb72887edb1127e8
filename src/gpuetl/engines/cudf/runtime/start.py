"""What the GPU engine needs before its first operation: settings, libraries, and the first use of the device."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from threading import Lock
from typing import Any

from gpuetl.engines.starting import Phase

# What the engine sets on a GPU; nothing is imported to know it.


KVIKIO_THREADS = "16"
"""Of KvikIO, as its variable in the environment says: 32 are no faster, and libcudf would take 4."""
BOUNCE_BUFFER_BYTES = str(4 << 20)
"""Of host memory through which each of KvikIO's threads reads files; it is pinned at the first read.

Measured on an H200, the first read of 39 columns and 10 M rows from 16 Parquet files: 160 ms, with KvikIO's own 16 MiB
250 ms.  Later reads of the process take 41 ms with either, and 49 ms with 1 MiB.
"""
ENVIRONMENT = {
    "KVIKIO_NTHREADS": KVIKIO_THREADS,
    "KVIKIO_BOUNCE_BUFFER_SIZE": BOUNCE_BUFFER_BYTES,
    "LIBCUDF_MMAP_ENABLED": "OFF",
}
"""Variables that are set before libcudf reads for the first time, where the user has not set them.

A file that libcudf has mapped, and that is cut off meanwhile, would end the process by SIGBUS.
"""
HOST_VALUES = 1_000_000
"""Values that Arrow reads from Parquet files, and copies to the device, sooner than libcudf reads them.

Measured on an H200 and 16 cores, 4 columns, one of strings, from the page cache: 400,000 values 5.9 ms, libcudf 10.2;
2,000,000 values 21.9 ms, libcudf 13.5.
"""
HOST_VALUES_AT_FIRST = 4_000_000
"""The same for what a process reads first: libcudf then takes 70 to 95 ms longer."""
POOL_SHARE = 0.9
"""Of the memory that is free when the engine starts; what is beyond it is for the context, modules and others."""
WORTH_COMPILING = 1_000_000
"""Rows of an expression whose own kernel is compiled for later runs while instructions compute this one's."""


# What the GPU engine needs before its first operation: libraries, and the memory pool; imported when it begins.


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


def set_environment() -> None:
    """Set the variables of the libraries that the user has not set."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


WARM_UP_ROWS = 1 << 15
"""A column of 8-byte values then has more than 128 KB, from which on libcudf reads a file by KvikIO."""


def warm_up() -> None:
    """Read a small Parquet file from memory, and sort what it has.

    The first read of a process takes 0.1 s longer than others: libcudf's kernels are loaded, and KvikIO starts its
    threads.  Here that happens while the main thread imports the engine.
    """
    set_environment()
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pylibcudf as plc

    numbers, some = np.arange(WARM_UP_ROWS), np.full(WARM_UP_ROWS // 8, 0b01110111, "uint8")
    strings = np.arange(WARM_UP_ROWS + 1, dtype="int32"), (numbers % 3 + ord("a")).astype("uint8")
    buffers: dict[str, tuple[Any, ...]] = {
        "number": (pa.int32(), some, numbers.astype("int32")),
        "wide": (pa.int64(), some, numbers),
        "text": (pa.string(), some, *strings),
    }
    table = pa.table({  # from buffers: pa.array imports pandas, to look whether it is given something of its
        name: pa.Array.from_buffers(kind, WARM_UP_ROWS, list(map(pa.py_buffer, arrays)))
        for name, (kind, *arrays) in buffers.items()
    })  # fmt: skip
    compression = {"number": "zstd", "wide": "none", "text": "zstd"}
    memory = os.memfd_create("gpuetl-warm-up")
    try:
        with open(memory, "wb", closefd=False) as file:
            pq.write_table(
                table, file, compression=compression, write_statistics=False, use_dictionary=["number", "text"]
            )
        source = plc.io.SourceInfo([f"/proc/self/fd/{memory}"])
        read = plc.io.parquet.read_parquet(plc.io.parquet.ParquetReaderOptions.builder(source).build())
        number, _, text = read.columns
        ascending, nulls = plc.types.Order.ASCENDING, plc.types.NullOrder.AFTER
        plc.sorting.stable_sorted_order(plc.Table([number]), [ascending], [nulls])
        dense, included = plc.aggregation.RankMethod.DENSE, plc.types.NullPolicy.INCLUDE
        plc.sorting.rank(text, dense, ascending, included, nulls, False)
    finally:
        os.close(memory)


LIBRARIES = ("cupy", "rmm", "rmm.allocators.cupy", "pylibcudf")
STEPS: Mapping[Phase, tuple[Callable[[], object], ...]] = {
    Phase.LIBRARIES: tuple(partial(import_module, name) for name in LIBRARIES),
    Phase.POOL: (open_pool,),
    Phase.WARM_UP: (warm_up,),
}
"""The pool is made when the context is open, which another thread opens meanwhile."""
