"""All peers, in the order in which they are measured; the first one's answers are what others are compared with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import Job
from .cluster_peers import CudfPolarsDask, DaskCudf, GpuetlCluster
from .cpu_peers import DuckDB, Polars
from .events.codec import chosen_codec
from .gpu_peers import Cudf, CudfPolars, CudfPolarsStreaming
from .peer import Peer


class Gpuetl(Peer):
    """This package: the job's pipeline, its rows those of the stage `answer` if it has one."""

    name = "gpuetl"
    needs = ("gpuetl",)

    @classmethod
    def on_gpu(cls, engine: str) -> bool:
        """Tell whether it needs a GPU: the engine `cudf` does."""
        return engine == "cudf"

    def open(self) -> None:
        """Start the engine."""
        from gpuetl.engines.registry import load_backend

        load_backend(self.engine)

    def run(self, job: Job, out: Path) -> pa.Table | None:
        """Run the pipeline, loaded each time."""
        return run_pipeline(job, self.data, out, engine=self.engine)


def run_pipeline(job: Job, data: Path, out: Path, **options: Any) -> pa.Table | None:
    """Load and run a job's pipeline; return the rows of its stage `answer`, if it has one."""
    import gpuetl as ge

    os.environ.update(DATA=str(data), OUT=str(out))
    path = job.file(".yaml")
    text = path.read_text(encoding="utf-8").replace(
        "mode: overwrite", f"mode: overwrite, compression: {chosen_codec()}"
    )
    pipeline = ge.loads(text, path.parent)
    keep = ["answer"] if "answer" in pipeline.spec.stages else []
    run = pipeline.run(keep=keep, **options)
    return run["answer"].to_arrow() if keep else None


PEERS: dict[str, type[Peer]] = {
    peer.name: peer
    for peer in (
        Gpuetl, DuckDB, Polars, Cudf, CudfPolars, CudfPolarsStreaming, GpuetlCluster, CudfPolarsDask, DaskCudf
    )
}  # fmt: skip
