"""The memory pool of a worker's device, made before the worker gets tasks."""

from __future__ import annotations

from typing import Any

from distributed import WorkerPlugin

from gpuetl.engines.registry import make_worker_pool


class DevicePool(WorkerPlugin):  # type: ignore[misc]
    """Makes an engine's pool when a worker starts, also when one starts again after it died.

    Nothing else of an engine is imported for it: the run waits for the pools.
    """

    name = "gpuetl-pool"

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def setup(self, worker: Any) -> None:
        """Make the pool before the worker gets tasks; raise `MemoryError` where there is no room for it."""
        try:
            make_worker_pool(self.engine)
        except MemoryError:  # dask tells those who wait for it, but a worker that starts later would stay
            worker.loop.add_callback(worker.close_gracefully, restart=False)
            raise
