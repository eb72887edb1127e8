"""The manifests of a pipeline's runs, in its state folder: written by each run, and read again.

    runs/<run id>.json            the report of a run that has ended, whatever ended it
    runs/<run id>.started.json    a run that has not ended: it is running, or its process was killed

The manifest is the report of the run as JSON, with the pipeline's text and the files that it read.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gpuetl.output_files import whole
from gpuetl.places.local.commit.locks import boot_id
from gpuetl.records import dataclass
from gpuetl.state.files import StateFiles

FOLDER = "runs"
SUFFIX, STARTED = ".json", ".started.json"
HALF_ESCAPED = re.compile(r"\\ud[89a-f]")
"""An escaped surrogate: half of a character, or a part of a text that is no Unicode."""
MOST_MANIFESTS = 1000
"""Of a pipeline; the oldest go."""
THREADS = 16
"""That read manifests: an object store answers each request after some milliseconds."""

Liveness = Literal["running", "lost", "elsewhere"]


def manifest_name(run_id: str) -> str:
    """Return the name of a run's manifest in the state folder."""
    return f"{FOLDER}/{run_id}{SUFFIX}"


def started_name(run_id: str) -> str:
    """Return the name of the file of a run that has not ended."""
    return f"{FOLDER}/{run_id}{STARTED}"


def manifest_text(data: Mapping[str, Any]) -> str:
    """Return a report as JSON with a line for each of its fields."""
    text = _lines(data)
    return text if HALF_ESCAPED.search(text) is None else _lines(whole(data))


def _lines(data: Mapping[str, Any]) -> str:
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


# Runs that have not ended.


@dataclass(frozen=True)
class StartedRun:
    """A run that has begun, and the process that does it.

    `process_start` is when the process began, in ticks of its machine since that was started: another process may get
    the same number later.  `namespace` tells containers apart, in which processes have other numbers.
    """

    run_id: str
    pipeline: str
    engine: str
    started: float
    host: str
    boot: str
    pid: int
    process_start: int = 0
    namespace: str = ""

    @classmethod
    def here(cls, run_id: str, pipeline: str, engine: str, started: float) -> StartedRun:
        """Return a run of this process."""
        pid = os.getpid()
        return cls(
            run_id, pipeline, engine, started, socket.gethostname(), boot_id(), pid, process_start(pid), namespace()
        )

    @classmethod
    def read(cls, text: bytes) -> StartedRun | None:
        """Return the run that a file holds; None for one that was not written by a gpuetl like this one."""
        try:
            content = json.loads(text)
            return cls(**{name: content[name] for name in cls.__dataclass_fields__})
        except (ValueError, TypeError, KeyError):
            return None

    @property
    def status(self) -> Liveness:
        """Whether the process is alive; `elsewhere` where this process cannot see it: on another host."""
        if self.boot != boot_id() and self.host == socket.gethostname():
            return "lost"  # the machine has been started again
        if self.boot != boot_id() or self.namespace != namespace():
            return "elsewhere"
        found = process_start(self.pid)
        return "running" if found and found == self.process_start else "lost"

    def to_json(self) -> bytes:
        """Return the text of its file."""
        return (json.dumps(whole(asdict(self)), indent=1) + "\n").encode()


def process_start(pid: int) -> int:
    """Return when a process began; 0 where there is none."""
    with suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        fields = text.rpartition(")")[2].split()
        return 0 if fields[0] in "ZX" else int(fields[19])
    return 0


@cache
def namespace() -> str:
    """Return what names the processes of this container, or machine."""
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return ""


# All runs of a state folder.


class RunFile(NamedTuple):
    """A run in a state folder: the manifest as plain data, or the file of one that has not ended."""

    run_id: str
    manifest: Mapping[str, Any] | None = None
    started: StartedRun | None = None

    @property
    def status(self) -> str:
        """That of the manifest; `unreadable` for a file that is damaged."""
        if self.manifest is not None:
            return str(self.manifest["status"])
        return self.started.status if self.started else "unreadable"


def run_ids(files: StateFiles) -> tuple[list[str], list[str]]:
    """Return the ids of runs that have a manifest, and of those that have not, the oldest first.

    Raises
    ------
    OSError
        Where the folder or store cannot be read.
    """
    names = [name.removeprefix(f"{FOLDER}/") for name in files.names(FOLDER)]
    ended = [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX) and not name.endswith(STARTED)]
    begun = [name.removesuffix(STARTED) for name in names if name.endswith(STARTED)]
    known = set(ended)
    return sorted(ended), sorted(one for one in begun if one not in known)


def read_run(files: StateFiles, run_id: str) -> RunFile:
    """Read a run, which may have no file any more.

    Raises
    ------
    OSError
        Where the folder or store cannot be read.
    """
    if (text := files.read(manifest_name(run_id))) is not None:
        return RunFile(run_id, read_manifest(text))
    text = files.read(started_name(run_id))
    return RunFile(run_id, started=None if text is None else StartedRun.read(text))


def read_manifest(text: bytes) -> Mapping[str, Any] | None:
    """Return a manifest as plain data; None for other text, such as that of a file that a full disk has cut off."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "schema_version" in found and "status" in found else None


def read_runs(files: StateFiles, last: int | None = None) -> list[RunFile]:
    """Read the last runs of a state folder, or all: the newest first.

    Raises
    ------
    OSError
        Where the folder or store cannot be read.
    """
    ended, begun = run_ids(files)
    wanted = sorted((*ended, *begun), reverse=True)[:last]
    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(lambda run_id: read_run(files, run_id), wanted))
    return sorted(found, key=start_of, reverse=True)


def start_of(run: RunFile) -> tuple[float, str]:
    """Return when a run began: ids have the local time, which may go back."""
    if run.manifest is not None:
        return float(run.manifest.get("started", 0.0)), run.run_id
    return (run.started.started if run.started else 0.0), run.run_id


def newest_id(files: StateFiles, ended: Sequence[str]) -> str:
    """Return the id of the run that began last, of runs that have a manifest; ids tell whole seconds.

    Raises
    ------
    OSError
        Where the folder or store cannot be read.
    """
    second = max(ended).partition("-")[0]
    rivals = [run_id for run_id in ended if run_id.partition("-")[0] == second]
    return max(rivals, key=lambda run_id: start_of(read_run(files, run_id))) if len(rivals) > 1 else rivals[0]


def forget_oldest(files: StateFiles, most: int = MOST_MANIFESTS) -> None:
    """Remove the oldest manifests and leave `most`, and what is left of runs that were lost before these.

    Raises
    ------
    OSError
        Where the folder or store refuses that.
    """
    ended, begun = run_ids(files)
    old = ended[:-most]
    for run_id in old:
        files.delete(manifest_name(run_id))
    for run_id in begun:
        if old and run_id <= old[-1]:
            files.delete(started_name(run_id))
