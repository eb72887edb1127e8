"""The peers, each with what it needs and how it runs a job from Parquet files to rows on the host, or to files."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import Job

POOL = 0.6
"""The share of the device memory that RMM's pools begin with."""


class LeftOut(Exception):
    """Why a peer does not take part in a job."""


class Peer:
    """A peer: `open` is not timed, `run` is, and both are called in a process of its own."""

    name = ""
    needs: tuple[str, ...] = ()
    """Modules, each with what installs it after a colon where that is called otherwise."""
    module = ""
    """Which by_*.py of a suite has the jobs as functions of the job's name."""

    def __init__(self, data: Path, engine: str) -> None:
        self.data, self.engine = data, engine

    @classmethod
    def missing(cls) -> str:
        """Say what is not installed, and what installs it."""
        absent = [need.rpartition(":")[2] for need in cls.needs if find_spec(need.partition(":")[0]) is None]
        return f"{' and '.join(absent)} not installed: pip install {' '.join(absent)}" if absent else ""

    @classmethod
    def on_gpu(cls, engine: str) -> bool:
        """Tell whether it needs a GPU; gpuetl does with the engine `cudf`."""
        return issubclass(cls, (Cudf, CudfPolars)) or (cls is Gpuetl and engine == "cudf")

    def open(self) -> None:
        """Import what is needed, begin what memory is needed."""

    def run(self, job: Job, out: Path) -> pa.Table | None:
        """Do the job: return its rows, or None where it has written files."""
        raise NotImplementedError

    def function(self, job: Job) -> Callable[..., Any]:
        """Return the job's function; raise `LeftOut` with the reason where the suite's module has none."""
        module = import_module(f"suites.{job.suite}.{self.module}")
        if not hasattr(module, job.name):
            raise LeftOut(module.LEFT_OUT[job.name])
        function: Callable[..., Any] = getattr(module, job.name)
        return function

    def files(self, table: str) -> list[str]:
        """Return the files of a table."""
        return sorted(str(path) for path in (self.data / table).glob("*.parquet"))


class Gpuetl(Peer):
    """This package: the job's pipeline, its rows those of the stage `answer` if it has one."""

    name = "gpuetl"
    needs = ("gpuetl",)

    def open(self) -> None:
        """Start the engine."""
        from gpuetl.backends.engines import load_backend

        load_backend(self.engine)

    def run(self, job: Job, out: Path) -> pa.Table | None:
        """Run the pipeline, loaded each time."""
        import gpuetl as ge

        os.environ.update(DATA=str(self.data), OUT=str(out))
        pipeline = ge.load(job.file(".yaml"))
        keep = ["answer"] if "answer" in pipeline.spec.stages else []
        run = pipeline.run(engine=self.engine, keep=keep)
        return run["answer"].to_arrow() if keep else None


class DuckDB(Peer):
    """DuckDB on all cores, the suite's tables as views."""

    name = "duckdb"
    needs = ("duckdb",)

    def open(self) -> None:
        """Connect."""
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute("set preserve_insertion_order = false")
        for table in sorted(path for path in self.data.iterdir() if path.is_dir()):
            self.connection.execute(f"create view {table.name} as from '{table}/*.parquet'")

    def run(self, job: Job, out: Path) -> pa.Table | None:
        """Run the statements; the last one's rows are the answer."""
        text = job.file(".sql").read_text(encoding="utf-8")
        if text.startswith("-- left out: "):
            raise LeftOut(text.removeprefix("-- left out: ").strip())
        if "$OUT" in text:
            self.connection.execute(text.replace("$OUT", str(out)))
            return None
        rows: pa.Table = self.connection.sql(text).to_arrow_table()
        return rows


class Polars(Peer):
    """Polars' streaming engine on all cores."""

    name = "polars"
    needs: tuple[str, ...] = ("polars",)
    module = "by_polars"

    @cached_property
    def collector(self) -> Any:
        """What collects: Polars' engine."""
        return "streaming"

    def open(self) -> None:
        """Import it, and make the engine."""
        import_module("polars")
        assert self.collector

    def run(self, job: Job, out: Path) -> pa.Table | None:
        """Collect the lazy frame, or let the job write its files."""
        import polars as pl

        function = self.function(job)
        if "out" in function.__annotations__:
            function(lambda table: pl.scan_parquet(self.files(table)), out, self.collector)
            return None
        lazy = function(lambda table: pl.scan_parquet(self.files(table)))
        return lazy.collect(engine=self.collector).to_arrow(compat_level=pl.CompatLevel.oldest())


class CudfPolars(Polars):
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
        from cudf_polars.engine.options import StreamingOptions
        from cudf_polars.engine.spmd import SPMDEngine

        return SPMDEngine.from_options(StreamingOptions(raise_on_fail=True, fallback_mode="silent", kvikio_nthreads=16))


class Cudf(Peer):
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


PEERS = {peer.name: peer for peer in (Gpuetl, DuckDB, Polars, Cudf, CudfPolars, CudfPolarsStreaming)}
