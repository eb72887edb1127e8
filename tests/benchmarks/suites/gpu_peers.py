"""Classic cuDF, and cudf-polars in memory and streaming."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import Job
from .cpu_peers import Polars
from .peer import GpuPeer

POOL = 0.6
"""The share of the device memory that RMM's pools begin with."""


class CudfPolars(GpuPeer, Polars):
    """cudf-polars' in-memory engine, on a pool."""

    name = "cudf-polars"
    needs = ("polars", "cudf_polars:cudf-polars-cu13")
    module = "by_cudf_polars"

    @cached_property
    def collector(self) -> Any:
        """What collects: an engine that raises where it cannot, so that Polars itself is never measured."""
        import polars as pl

        return pl.GPUEngine(executor="in-memory", raise_on_fail=True, memory_resource=pool())


class CudfPolarsStreaming(CudfPolars):
    """cudf-polars' streaming engine on one GPU, in its own asynchronous pool."""

    name = "cudf-polars-streaming"

    @cached_property
    def collector(self) -> Any:
        """What collects."""
        from cudf_polars.engine.spmd import SPMDEngine

        return SPMDEngine.from_options(streaming_options())


class Cudf(GpuPeer):
    """Classic cuDF, on a pool."""

    name = "cudf"
    needs = ("cudf:cudf-cu13", "cupy:cupy-cuda13x")
    module = "by_cudf"

    def open(self) -> None:
        """Import it on a pool, which CuPy allocates from too."""
        import rmm

        rmm.mr.set_current_device_resource(pool())
        import cupy
        from rmm.allocators.cupy import rmm_cupy_allocator

        cupy.cuda.set_allocator(rmm_cupy_allocator)
        import_module("cudf")

    def run(self, job: Job, out: Path) -> pa.Table | None:
        """Call the job's function, its rows brought to the host."""
        function = self.function(job)
        if "out" in function.__annotations__:
            function(self.read, out)
            return None
        rows: pa.Table = function(self.read).to_arrow(preserve_index=False)
        return rows

    def read(self, table: str, columns: list[str] | None = None) -> Any:
        """Read a table's files into one frame."""
        import cudf

        return cudf.read_parquet(self.files(table), columns=columns)


def pool() -> Any:
    """Return a pool of device memory."""
    import rmm

    free, _ = rmm.mr.available_device_memory()
    return rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=int(free * POOL) // 256 * 256)


def streaming_options() -> Any:
    """Return how cudf-polars' streaming engines run, on one GPU or many."""
    from cudf_polars.engine.options import StreamingOptions

    return StreamingOptions(raise_on_fail=True, fallback_mode="silent", kvikio_nthreads=16)
