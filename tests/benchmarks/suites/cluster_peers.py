"""The same jobs on all GPUs of the machine: gpuetl, cudf-polars and dask-cuDF, each on a dask cluster of its own."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import Job
from .gpu_peers import POOL, CudfPolars, streaming_options
from .peer import GpuPeer


class GpuetlCluster(GpuPeer):
    """This package on dask-cuda, its workers started before."""

    name = "gpuetl-dask-cuda"
    needs = ("gpuetl", "dask_cuda:dask-cuda")
    on_cluster = True

    def open(self) -> None:
        """Start the workers as the engine does for a run."""
        from gpuetl.executors.dask.cluster import open_client
        from gpuetl.options import Cluster

        self.cluster = ExitStack()
        self.client = self.cluster.enter_context(open_client("dask-cuda", Cluster()))

    def run(self, job: Job, out: Path) -> pa.Table | None:
        """Run the pipeline, loaded each time."""
        from .peers import run_pipeline

        return run_pipeline(job, self.data, out, engine="dask-cuda", client=self.client)


class CudfPolarsDask(CudfPolars):
    """cudf-polars' streaming engine, a worker a GPU."""

    name = "cudf-polars-dask"
    on_cluster = True

    def open(self) -> None:
        """Start the workers."""
        super().open()
        _ = self.collector

    @cached_property
    def collector(self) -> Any:
        """What collects."""
        from cudf_polars.engine.dask import DaskEngine

        return DaskEngine.from_options(streaming_options())


class DaskCudf(GpuPeer):
    """dask-cuDF over UCX, shuffling by tasks: its default way is slower by far."""

    name = "dask-cudf"
    needs = ("dask_cudf:dask-cudf-cu13", "dask_cuda:dask-cuda")
    module = "by_dask_cudf"
    on_cluster = True

    def open(self) -> None:
        """Start the workers."""
        import dask
        from dask_cuda import LocalCUDACluster
        from distributed import Client

        dask.config.set({"dataframe.backend": "cudf", "dataframe.shuffle.method": "tasks"})
        options = {"host": "127.0.0.1", "dashboard_address": None, "threads_per_worker": 1}
        self.client = Client(LocalCUDACluster(protocol="ucx", rmm_pool_size=POOL, **options))

    def run(self, job: Job, out: Path) -> pa.Table:
        """Call the job's function, its rows brought to the host."""
        rows: pa.Table = self.function(job)(self.read).compute().to_arrow(preserve_index=False)
        return rows

    def read(self, table: str, columns: list[str] | None = None) -> Any:
        """Read a table's files into one frame, a partition a file or so."""
        import dask_cudf

        return dask_cudf.read_parquet(self.files(table), columns=columns)
