"""The cluster of a run: a client that is passed in, a scheduler by its address, or workers that the run starts."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from multiprocessing import active_children, resource_tracker
from pathlib import Path
from ssl import SSLError
from time import monotonic
from typing import Any

import dask
from distributed import Client, LocalCluster, Security, SpecCluster
from distributed.comm import parse_address, parse_host_port

from gpuetl.engines.registry import cluster_engines, computing_engine
from gpuetl.errors import EngineUnavailable, RunFailed, first_line
from gpuetl.executors.dask.access import RunKey, accept_keys
from gpuetl.executors.dask.liveness import ask, in_thread, watching
from gpuetl.executors.dask.local_cluster import (
    UCX_LOG_LEVEL,
    LocalNanny,
    is_stopped,
    killed_if_slow,
    quiet,
    scratch_folder,
)
from gpuetl.executors.dask.worker_pool import DevicePool
from gpuetl.messages import coded
from gpuetl.options import Cluster
from gpuetl.signals import Held, held_signals
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Progress, silent
from gpuetl.threads import thread_count

# The scheduler probe, and advice when there is no scheduler.
#
# A client of `distributed` retries a refused connection until its timeout, and waits for ever for a server that is not
# a scheduler.  So we open a connection of our own first, which fails at once and gives the reason.


ANSWER_S = 10
"""How long a scheduler may take to answer."""
LONGEST = 1 << 20
"""Longest first message in bytes; a scheduler's has a few hundred."""


def probe_scheduler(address: str, security: Any) -> None:
    """Connect as a client does, and wait for a message: a scheduler speaks first.

    A message begins with its length in eight bytes (`distributed.comm.tcp`), where others, such as SSH, say a text.

    Raises
    ------
    OSError
        For what is not reached, does not take the certificates, or says nothing.
    ValueError
        For what is no address.
    """
    scheme, at = parse_address(address)
    if scheme not in ("tcp", "tls"):  # UCX has sockets of its own
        return
    context = tls_context(security) if scheme == "tls" else None
    length = 0
    with ExitStack() as stack:
        line = stack.enter_context(socket.create_connection(parse_host_port(at), ANSWER_S))
        if context:
            line = stack.enter_context(context.wrap_socket(line))
        with suppress(TimeoutError):
            length = int.from_bytes(line.recv(8), sys.byteorder)
    if not 0 < length < LONGEST:
        raise ConnectionError("what listens there does not speak as one")


def tls_context(security: Any) -> Any:
    """Return what a client's certificates are in; raise `SSLError` without any."""
    context = security.get_connection_args("client")["ssl_context"]
    if context is None:
        raise SSLError(0, "no certificates were given")
    return context


def unreachable(address: str, error: Exception) -> EngineUnavailable:
    """Word why there is no connection to an address, and what to do."""
    why = getattr(error, "strerror", None) or first_line(error)
    return EngineUnavailable(
        coded("GE3005", f"cannot connect to a scheduler at {address}: {why}.\n{advice(address, error)}")
    )


def advice(address: str, error: Exception) -> str:
    """Return what to do next."""
    scheme, at = parse_address(address)
    files = "--tls-ca ca.pem --tls-cert cert.pem --tls-key key.pem"
    log = "A scheduler's log has its address after 'Scheduler at:'."
    if isinstance(error, SSLError):
        return f"Give the certificates that it was started with by {files}, or name one without TLS as tcp://{at}."
    if isinstance(error, ConnectionRefusedError):
        start = f"dask scheduler --port {parse_host_port(at)[1]}"
        return f"Start one on that host by `{start}`, or check the address.  {log}"
    if isinstance(error, ConnectionError) and scheme == "tcp":
        return f"One with TLS is reached by --cluster tls://{at} {files}.  {log}"
    if scheme == "ucx" and isinstance(error, TypeError):  # so `distributed` says that there is no UCX
        return 'UCX comes with the extras cu12 and cu13: pip install "gpuetl[cu12]".'
    return f"Check the address, such as tcp://host:8786, and whether this host may reach it.  {log}"


# The cluster of a run: a client that is passed in, a scheduler by its address, or workers on this machine.


CONNECT_S = 20
CLOSE_S = 10
"""How long to wait for a client or a cluster to close, whose scheduler may not answer."""
RESTART_S = 600
"""How long a worker may take to start, also one that died: dask gives up after 15 s, too short for a busy machine."""
RESULT_SHARE = 0.4
"""Of a GPU's memory that results of tasks may take before dask-cuda moves some to the host: tasks need the rest."""

WORKER_NAME = "Dask Worker process"
"""How the name of a worker's process begins, which its nanny gives it."""
ONLY_HEALTH = ["distributed.http.health"]


@contextmanager
def open_client(engine: str, options: Cluster, progress: Progress = silent) -> Iterator[Any]:
    """Give a client of the cluster that the options name, else the one that is current, as other users of dask do.

    Where there is none, one is made.  What is made is closed at the end.

    Raises
    ------
    EngineUnavailable
        Where there is no scheduler at the address, or not one for this client.
    """
    unnamed = replace(options, worker_timeout_s=Cluster().worker_timeout_s) == Cluster()
    current = options.client or (current_client() if unnamed else None)
    if current is not None:
        with quiet(), watching(current, options.worker_timeout_s):
            yield current
        return
    with ExitStack() as stack:
        stack.enter_context(quiet())
        if options.address is None:
            progress(Origin("workers on", "this machine"), 0, 1)
            stack.enter_context(dask.config.set(settings(options, stack.enter_context(scratch_folder()))))
            with held_signals() as held:
                cluster = stack.enter_context(
                    closing(start_cluster(lambda: local_cluster(engine, options), held, options.worker_timeout_s))
                )
                client = stack.enter_context(closing(client_of(cluster)))
            stack.enter_context(watching(client, options.worker_timeout_s))
            if workers_have_gpus(engine):
                make_pools(client, computing_engine(engine))
        else:
            progress(Origin("connection to", options.address), 0, 1)
            client = stack.enter_context(closing(client_at(options.address, options)))
            stack.enter_context(watching(client, options.worker_timeout_s))
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

    A signal waits for that: dask would not close a cluster again that it was to close, but wait for it.  What does not
    answer is waited for some seconds; workers of this machine are killed then.
    """
    try:
        yield closed
    finally:
        workers = killed_if_slow(closed) if isinstance(closed, SpecCluster) else nullcontext()
        with quiet(), held_signals(), workers, suppress(Exception):  # the run itself is done
            closed.close(timeout=CLOSE_S)


def start_cluster(start: Callable[[], Any], held: Held, timeout_s: float) -> Any:
    """Return the cluster that `start` gives, in a thread of its own, where no signal breaks it off.

    Workers are killed that are stopped for so many seconds, and once a signal is held, those that have not started in
    some seconds: `start` raises an error then.
    """
    before = {child.pid for child in active_children()}
    running_at: dict[int, float] = {}

    def kill_if_stuck() -> None:
        now = monotonic()
        for child in active_children():
            if child.pid is None or child.pid in before or not child.name.startswith(WORKER_NAME):
                continue
            if not is_stopped(child.pid):
                running_at[child.pid] = now
            stopped = now - running_at.setdefault(child.pid, now) > timeout_s
            if stopped or (held.number is not None and now - began > CLOSE_S):
                child.kill()

    began = monotonic()
    with interrupts_blocked():  # processes that are started then have them blocked, too
        return in_thread(start, kill_if_stuck)


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


def workers_have_gpus(engine: str) -> bool:
    """Tell whether a run of an engine starts a worker for each GPU."""
    return cluster_engines()[engine].worker_on == "GPU"


def make_pools(client: Any, engine: str) -> None:
    """Have each worker make its engine's pool, also one that starts later; raise `RunFailed` without memory for it."""
    with starting():
        ask(client, lambda: client.register_plugin(DevicePool(engine)))


def client_at(address: str, options: Cluster) -> Any:
    """Return a client of the scheduler at an address; raise `EngineUnavailable` where there is none."""
    certificates = security(options)
    try:
        probe_scheduler(address, certificates)
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
    """Start workers on this machine, which only this run can use: one a GPU, or a process of one thread a processor."""
    shared: dict[str, Any] = {
        "threads_per_worker": 1,
        "memory_limit": options.worker_memory_bytes or 0,  # 0 is none; `distributed` itself takes a share of the host
        "scheduler_kwargs": pages(options.dashboard),
        "silence_logs": False,  # `quiet` does that, for other libraries too
        "security": RunKey(),
        "worker_class": LocalNanny,
        "death_timeout": RESTART_S,  # of a worker that hangs while it starts
    }
    thread_count()  # Arrow asks once, and dask sets OMP_NUM_THREADS to 1 for the workers, and with it for this process
    with starting():
        if workers_have_gpus(engine):
            return gpu_cluster(options, shared)
        workers = options.workers or len(os.sched_getaffinity(0))
        accept_keys("tcp")
        return LocalCluster(n_workers=workers, host="127.0.0.1", protocol="tcp", **shared)


@contextmanager
def starting() -> Iterator[None]:
    """Raise `RunFailed` for what keeps workers of this machine from starting."""
    try:
        yield
    except (MemoryError, OSError, RuntimeError) as error:
        why = first_line(error)
        if why == f"{LocalNanny.__name__} failed to start":
            why = "a worker ended, or did not answer, while it started.  Run again, and look at the machine's memory"
        raise RunFailed(coded("GE3005", f"cannot start a cluster on this machine: {why}")) from error


def settings(options: Cluster, scratch: Path) -> dict[str, Any]:
    """Return dask's settings for workers on this machine, whose files go into a scratch folder.

    Its profiler, which holds what a task works with and takes the interpreter from it, is for those who look at pages.
    Without these, its ports for HTTP say whether a process is well, and nothing of the run: any user can ask them.
    """
    watched = {
        "distributed.worker.profile.enabled": False,
        "distributed.scheduler.http.routes": ONLY_HEALTH,
        "distributed.worker.http.routes": ONLY_HEALTH,
    }
    return {
        "temporary-directory": str(scratch),
        "distributed.deploy.lost-worker-timeout": f"{RESTART_S} s",
        **({} if options.dashboard else watched),
    }


def pages(address: str | None) -> dict[str, Any]:
    """Return how a scheduler serves its pages; without an address, only a health page on a random port."""
    return {"dashboard": address is not None, "dashboard_address": address or "127.0.0.1:0"}


def gpu_cluster(options: Cluster, shared: dict[str, Any]) -> Any:
    """Start a worker for each GPU that the process may see, or for the first ones.

    Frames go by UCX, and what the scheduler says by TCP: it is small, and costs the interpreter less.
    """
    from dask_cuda import LocalCUDACluster

    os.environ.setdefault(*UCX_LOG_LEVEL)
    accept_keys("ucx")
    return LocalCUDACluster(
        n_workers=options.workers,
        host="127.0.0.1",
        protocol="ucx",
        device_memory_limit=RESULT_SHARE,
        pre_import="pylibcudf,cupy",
        **shared | {"scheduler_kwargs": shared["scheduler_kwargs"] | {"protocol": "tcp"}},
    )
