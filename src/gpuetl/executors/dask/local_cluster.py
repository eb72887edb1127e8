"""Workers that a run starts on this machine: their processes, scratch folders and logs."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import dask
from distributed import Nanny, Worker

from gpuetl.executors.dask.access import accept_keys
from gpuetl.places.local.scratch_folders import new_folder, remove_dead

# What dask and the libraries below it log: gpuetl has its own words for what goes wrong with a cluster.


FAMILIES = ("distributed", "tornado", "asyncio", "bokeh")
_LOCK = Lock()
_LEVELS: list[dict[logging.Logger, int]] = []
"""An entry for each block that lasts, in any thread; the first one has the levels from before all of them."""


@contextmanager
def quiet() -> Iterator[None]:
    """Keep dask, tornado and asyncio from logging while the block lasts; blocks of several threads may overlap."""
    with _LOCK:
        _LEVELS.append({} if _LEVELS else {log: log.level for log in loggers()})
        silence()
    try:
        yield
    finally:
        with _LOCK:
            levels = _LEVELS.pop(0)
            if _LEVELS:
                _LEVELS[0] = levels
            for log, level in levels.items() if not _LEVELS else ():
                log.setLevel(level)


def silence() -> None:
    """Keep dask, tornado and asyncio from logging from now on."""
    for log in loggers():
        log.setLevel(logging.CRITICAL + 1)


def loggers() -> list[logging.Logger]:
    """Return the loggers of the families, and those below them that have a level of their own."""
    below = [
        log
        for name, log in logging.root.manager.loggerDict.items()
        if isinstance(log, logging.Logger) and log.level and name.partition(".")[0] in FAMILIES
    ]
    return list({id(log): log for log in (*map(logging.getLogger, FAMILIES), *below)}.values())


# Scratch folders of local clusters: one a run, for its owner alone, removed with the run.
#
# A run that is killed cannot remove its folder.  A small process of the system's shell does: it waits until the run
# has ended.  Where that was killed as well, the next run removes the folder.


PREFIX = "gpuetl-workers-"
REMOVE = 'read -r line; for second in 1 2 3; do rm -rf -- "$1"; sleep "$second"; done; rm -rf -- "$1"'
"""Reads until the run has ended; workers that end just then may still write."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a new folder that only this user can open, and remove it at the end with all that is in it.

    It is in dask's `temporary-directory`, if that is set, else where the system has temporary files.
    """
    base = Path(dask.config.get("temporary-directory", None) or tempfile.gettempdir())
    remove_dead(PREFIX, base)
    folder = new_folder(PREFIX, base)
    try:
        with removed_if_killed(folder.path):
            yield folder.path
    finally:
        folder.remove()


@contextmanager
def removed_if_killed(folder: Path) -> Iterator[None]:
    """Have another process remove a folder where this one ends before the block does."""
    try:
        remover = subprocess.Popen(
            ["/bin/sh", "-c", REMOVE, "sh", str(folder)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, cwd="/",
        )  # fmt: skip
    except OSError:  # no shell: the next run removes it
        yield
        return
    try:
        yield
    finally:
        remover.kill()
        remover.communicate()


# Workers that a run starts on this machine: they belong to it alone, and end with it.
#
# A worker process imports this module before dask sets its environment, such as the GPU that it may see: so this
# imports
# no engine.


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

    def __init__(self, *args: Any, **options: Any) -> None:
        end_with_parent()
        silence()
        accept_keys(options.get("protocol") or "")
        import_module("gpuetl.executors.dask.tasks")  # later the first task would, and hold up heartbeats
        super().__init__(*args, **options)


class LocalNanny(Nanny):  # type: ignore[misc]
    """Starts a `LocalWorker`, and another one in its place when it dies; it lives in the driver's process."""

    def __init__(self, *args: Any, env: dict[str, str] | None = None, **options: Any) -> None:
        by_ucx = (options.get("protocol") or "").startswith("ucx")
        own = {name: os.environ.get(name, value) for name, value in UCX_ENVIRONMENT.items()} if by_ucx else {}
        super().__init__(*args, worker_class=LocalWorker, env=own | (env or {}), **options)
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
