"""What a run read: the files of each source, and the state in which it saw them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.rejected import RejectedRows
from gpuetl.io.data_file import DataFile
from gpuetl.messages import redacted
from gpuetl.plan.nodes import Read
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass

MOST_NAMED = 100
"""The files of a source that are named; of others the digest tells whether they are the same."""


@dataclass(frozen=True)
class InputFile:
    """A file as the run saw it: bytes, the time of its last change in UTC, and the ETag of an object."""

    path: str
    size: int | None = None
    modified: str = ""
    e_tag: str = ""


@dataclass(frozen=True)
class InputReport:
    """The files of one source.

    Parameters
    ----------
    name, format, path
        Of the source.  Rows in memory have the format `memory` and no path.
    files, bytes
        How many files there are, and their sizes together.  None where the run failed before it had listed them.
    digest
        SHA-256 of the paths, sizes, times and ETags of all files: equal for the same files in the same states.
    first
        The first 100 files.
    """

    name: str
    format: str
    path: str
    files: int | None = None
    bytes: int | None = None
    digest: str = ""
    first: tuple[InputFile, ...] = ()


def input_reports(plan: Plan) -> tuple[InputReport, ...]:
    """Return the inputs of a run, in the order of its nodes.  It lists no files: the run has, or it failed before."""
    datasets = {node.dataset.name: node.dataset for node in plan.nodes if isinstance(node, Read)}
    return tuple(input_report(one) for one in datasets.values() if not isinstance(one, RejectedRows))


def input_report(dataset: Dataset) -> InputReport:
    """Return the files of a source."""
    if isinstance(dataset, FrameDataset):
        return InputReport(dataset.name, dataset.format, "", 0, dataset.table.nbytes)
    path = redacted(str(dataset.path))
    found: tuple[DataFile, ...] | None = vars(dataset).get("files")
    if found is None:
        return InputReport(dataset.name, dataset.format, path)
    states = [input_file(one) for one in found]
    named = tuple(InputFile(redacted(one.path), one.size, one.modified, one.e_tag) for one in states[:MOST_NAMED])
    sizes = [one.size for one in states]
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    return InputReport(dataset.name, dataset.format, path, len(states), total, digest_of(states), named)


def input_file(file: DataFile) -> InputFile:
    """Return the state of a file, whose path does not depend on the working folder."""
    path, state = os.path.abspath(file.path) if isinstance(file.path, Path) else str(file.path), file.state  # noqa: PTH100
    if state is None:
        return InputFile(path)
    return InputFile(path, state.size, utc_text(state.mtime_ns / 1e9), str(getattr(state, "e_tag", "")))


def digest_of(files: Iterable[InputFile]) -> str:
    """Return a digest of files and their states."""
    whole = hashlib.sha256()
    for line in lines_of(files):
        whole.update(line.encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def lines_of(files: Iterable[InputFile]) -> Iterator[str]:
    """Yield a line for each file."""
    for one in files:
        yield f"{one.path}\0{one.size}\0{one.modified}\0{one.e_tag}\n"


def utc_text(seconds: float) -> str:
    """Return a time in seconds since 1970 as ISO 8601 in UTC; nothing for one that Python's calendar does not have."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return ""
