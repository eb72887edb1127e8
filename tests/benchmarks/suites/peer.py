"""What a peer is: what it needs, and how it runs a job from Parquet files to rows on the host, or to files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import Job


class LeftOut(Exception):
    """Why a peer does not take part in a job."""


class Peer:
    """A peer: `open` is not timed, `run` is, and both are called in a process of its own."""

    name = ""
    needs: tuple[str, ...] = ()
    """Modules, each with what installs it after a colon where that is called otherwise."""
    module = ""
    """Which by_*.py of a suite has the jobs as functions of the job's name."""
    on_cluster = False
    """Whether it takes all GPUs of the machine, and is measured where it is asked for alone."""

    def __init__(self, data: Path, engine: str) -> None:
        self.data, self.engine = data, engine

    @classmethod
    def missing(cls) -> str:
        """Say what is not installed, and what installs it."""
        absent = [need.rpartition(":")[2] for need in cls.needs if find_spec(need.partition(":")[0]) is None]
        return f"{' and '.join(absent)} not installed: pip install {' '.join(absent)}" if absent else ""

    @classmethod
    def on_gpu(cls, engine: str) -> bool:
        """Tell whether it needs a GPU."""
        return False

    def open(self) -> None:
        """Import what is needed, begin what memory is needed."""

    def run(self, job: Job, out: Path) -> Any:
        """Do the job: return its rows on the host, in a form that Arrow takes, or None where it has written files."""
        raise NotImplementedError

    def function(self, job: Job) -> Callable[..., Any]:
        """Return the job's function; raise `LeftOut` with the reason where the suite has none for this peer."""
        if find_spec(f".{job.suite}.{self.module}", __package__) is None:
            raise LeftOut(f"the suite is not written for {self.name}")
        module = import_module(f".{job.suite}.{self.module}", __package__)
        if not hasattr(module, job.name):
            raise LeftOut(module.LEFT_OUT[job.name])
        function: Callable[..., Any] = getattr(module, job.name)
        return function

    def files(self, table: str) -> list[str]:
        """Return the files of a table."""
        return sorted(str(path) for path in (self.data / table).glob("*.parquet"))


class GpuPeer(Peer):
    """A peer that needs a GPU."""

    @classmethod
    def on_gpu(cls, engine: str) -> bool:
        """Tell that it needs one."""
        return True
