"""The cluster of a run: a client that is passed in, a scheduler by its address, or workers on this machine."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any

import dask
from distributed import Client, LocalCluster, Security

from gpuetl.errors import RunFailed, first_line
from gpuetl.executors.dask.greeting import hear_greeting, unreachable
from gpuetl.executors.dask.pool import DevicePool
from gpuetl.messages import coded
from gpuetl.options import Cluster
from gpuetl.plan.node import Origin
from gpuetl.report.recorder import Progress, silent
from gpuetl.signals import held_signals
from gpuetl.threads import thread_count

CONNECT_S = 20
RESTART_S = 600
"""How long a worker that died may take to start again: dask gives it up after 15 s, too short for a busy machine."""
HELD_SHARE = 0.4
"""Of a GPU's memory that results of tasks may take before dask-cuda moves some to the host: tasks need the rest."""

UCX_ENVIRONMENT = {"UCXPY_PROGRESS_MODE": "thread", "UCXPY_ENABLE_PYTHON_FUTURE": "1"}
"""With these UCX wakes who waits for a message; else each process asks again and again, in the tasks' interpreter."""


@contextmanager
def connected(engine: str, options: Cluster, progress: Progress = silent) -> Iterator[Any]:
    """Give a client of the cluster that the options name, else the one that is current, as other users of dask do.

    Where there is none, one is made.  What is made is closed at the end.

    Raises
    ------
    EngineUnavailable
        Where there is no scheduler at the address, or not one for this client.
    """
    given = options.client or (current_client() if options == Cluster() else None)
    if given is not None:
        yield given
        return
    with ExitStack() as made:
        if options.address is None:
            progress(Origin("workers on", "this machine"), 0, 1)
            made.enter_context(dask.config.set(settings(options)))
            with interrupts_blocked():
                cluster = made.enter_context(closing(local_cluster(engine, options)))
            client = made.enter_context(closing(client_of(cluster)))
            if engine == "dask-cuda":
                make_pools(client)
        else:
            progress(Origin("connection to", options.address), 0, 1)
            client = made.enter_context(closing(client_at(options.address, options)))
        yield client


def current_client() -> Any:
    """Return the client that is current in this thread, or the last one that was made as such; None without one."""
    try:
        return Client.current()
    except ValueError:
        return None


@contextmanager
def closing(closed: Any) -> Iterator[Any]:
    """Close a client or a cluster at the end, and say nothing of what is cut off by that.

    A signal waits for that: dask would not close a cluster again that it was to close, but wait for it.
    """
    try:
        yield closed
    finally:
        with quiet(), held_signals():
            closed.close(timeout=CONNECT_S)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep `distributed` from logging while the block lasts."""
    log = logging.getLogger("distributed")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Keep Ctrl-C for the driver: threads that begin in the block, and the processes that they start, do not see it.

    One that comes meanwhile waits.
    """
    resource_tracker.ensure_running()  # begun later, by multiprocessing, it would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def client_of(cluster: Any) -> Any:
    """Return a client of a cluster in this process."""
    return Client(cluster, set_as_default=False)


def make_pools(client: Any) -> None:
    """Have each worker make its pool, also one that starts later; raise `RunFailed` where there is no memory for it."""
    with starting():
        client.register_plugin(DevicePool())


def client_at(address: str, options: Cluster) -> Any:
    """Return a client of the scheduler at an address; raise `EngineUnavailable` where there is none."""
    certificates = security(options)
    try:
        hear_greeting(address, certificates)
        with quiet():
            return Client(address, security=certificates, set_as_default=False, timeout=CONNECT_S)
    except (OSError, TypeError, ValueError) as error:
        raise unreachable(address, error) from None


def security(options: Cluster) -> Any:
    """Return the certificates with which to connect: by default those of dask's configuration, if it has any."""
    if not options.tls_ca:
        return Security()
    return Security(
        tls_ca_file=str(options.tls_ca),
        tls_client_cert=str(options.tls_cert),
        tls_client_key=str(options.tls_key),
        require_encryption=True,
    )


def local_cluster(engine: str, options: Cluster) -> Any:
    """Start workers on this machine, which nobody else can reach: one a GPU, or a process of one thread a processor."""
    shared: dict[str, Any] = {
        "threads_per_worker": 1,
        "memory_limit": options.worker_memory
        or 0,  # 0 is none; what `distributed` takes by itself is a share of the host
        "scheduler_kwargs": pages(options.dashboard),
        "silence_logs": logging.CRITICAL,
    }
    thread_count()  # Arrow asks once, and dask sets OMP_NUM_THREADS to 1 for the workers, and with it for this process
    with starting():
        if engine == "dask-cuda":
            return gpu_cluster(options, shared)
        workers = options.workers or len(os.sched_getaffinity(0))
        return LocalCluster(n_workers=workers, host="127.0.0.1", protocol="tcp", **shared)


@contextmanager
def starting() -> Iterator[None]:
    """Raise `RunFailed` for what keeps workers of this machine from starting."""
    try:
        yield
    except (MemoryError, OSError, RuntimeError) as error:
        raise RunFailed(coded("GE3005", f"cannot start a cluster on this machine: {first_line(error)}")) from error


def settings(options: Cluster) -> dict[str, Any]:
    """Return dask's settings for workers on this machine.

    Its profiler, which holds what a task works with and takes the interpreter from it, is for those who look at pages.
    """
    profiled = {} if options.dashboard else {"distributed.worker.profile.enabled": False}
    return {"distributed.deploy.lost-worker-timeout": f"{RESTART_S} s", **profiled}


def pages(address: str | None) -> dict[str, Any]:
    """Return how a scheduler serves its pages; without an address a port for its health alone, which nobody knows."""
    return {"dashboard": address is not None, "dashboard_address": address or "127.0.0.1:0"}


def gpu_cluster(options: Cluster, shared: dict[str, Any]) -> Any:
    """Start a worker for each GPU that the process may see, or for the first ones.

    Frames go by UCX, and what the scheduler says by TCP: it is small, and costs the interpreter less.
    """
    from dask_cuda import LocalCUDACluster

    for name, value in UCX_ENVIRONMENT.items():
        os.environ.setdefault(name, value)  # of this process, which has connections too, and of those that it starts
    return LocalCUDACluster(
        n_workers=options.workers,
        host="127.0.0.1",
        protocol="ucx",
        device_memory_limit=HELD_SHARE,
        pre_import="pylibcudf,cupy",
        **shared | {"scheduler_kwargs": shared["scheduler_kwargs"] | {"protocol": "tcp"}},
    )
