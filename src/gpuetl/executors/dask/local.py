"""Workers that a run starts on this machine: they belong to it alone, and end with it.

A worker process imports this module before dask sets its environment, such as the GPU that it may see: so this imports
no engine.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any

from distributed import Nanny, Worker

from gpuetl.executors.dask.access import accept_keys
from gpuetl.executors.dask.logs import silence

GRACE_S = 3.0
"""How long workers may take to end by themselves when a cluster is closed."""
LOOK_S = 0.1
"""How often to look for processes that are stopped, while a cluster is closed."""
PR_SET_PDEATHSIG = 1
UCX_LOG_LEVEL = ("UCX_LOG_LEVEL", "fatal")
"""So UCX prints no errors of its own about a worker that was killed."""
UCX_ENVIRONMENT = dict([("UCXPY_PROGRESS_MODE", "thread"), ("UCXPY_ENABLE_PYTHON_FUTURE", "1"), UCX_LOG_LEVEL])
"""Of workers: with the first two UCX wakes who waits for a message; else each process asks again and again, in the
interpreter of tasks.  The driver's process does without, since the thread of UCX's that wakes it sometimes ended the
process with SIGSEGV while a cluster was closed.  It sends few messages by UCX, and waits for none between them."""


class LocalWorker(Worker):  # type: ignore[misc]
    """A worker that only its run can reach, and that ends with the driver's process, also where that is killed."""

    def __init__(self, *given: Any, **options: Any) -> None:
        end_with_parent()
        silence()
        accept_keys(options.get("protocol") or "")
        import_module("gpuetl.executors.dask.tasks")  # later the first task would, and hold up heartbeats
        super().__init__(*given, **options)


class LocalNanny(Nanny):  # type: ignore[misc]
    """Starts a `LocalWorker`, and another one in its place when it dies; it lives in the driver's process."""

    def __init__(self, *given: Any, env: dict[str, str] | None = None, **options: Any) -> None:
        by_ucx = (options.get("protocol") or "").startswith("ucx")
        own = {name: os.environ.get(name, value) for name, value in UCX_ENVIRONMENT.items()} if by_ucx else {}
        super().__init__(*given, worker_class=LocalWorker, env=own | (env or {}), **options)
        self._protocol = "tcp"  # of what workers say to their nanny, not of what they say to each other


def end_with_parent() -> None:
    """Have the system kill this process when its parent ends.

    Dask has a thread that waits for that, which a process that is stopped, or that holds the GIL, does not run.
    """
    parent = os.getppid()
    with suppress(OSError, AttributeError):  # no Linux
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


@contextmanager
def killed_if_slow(cluster: Any) -> Iterator[None]:
    """Kill workers that do not end while the block closes their cluster: at once those that are stopped."""
    pids: set[int] = set()
    nannies, closed = list(cluster.workers.values()), Event()

    def look() -> None:
        pids.update(nanny.pid for nanny in nannies if nanny.pid)  # one that dies may be started again meanwhile

    def watch() -> None:
        waited = 0.0
        while not closed.wait(LOOK_S):
            waited += LOOK_S
            look()
            for pid in pids:
                if waited >= GRACE_S or is_stopped(pid):
                    kill(pid)

    look()

    watcher = Thread(target=watch, name="gpuetl-closing", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        closed.set()
        watcher.join()
        for pid in pids:
            kill(pid)


def kill(pid: int) -> None:
    """Kill a child of this process, if it still runs."""
    if state_of(pid) not in ("", "Z"):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def is_stopped(pid: int) -> bool:
    """Tell whether a process is stopped, as SIGSTOP does; SIGTERM does not reach it then."""
    return state_of(pid) in ("T", "t")


def state_of(pid: int) -> str:
    """Return the letter by which the system names the state of a child of this process; nothing of any other."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:2]
    except OSError:
        return ""
    return state if int(parent) == os.getpid() else ""
