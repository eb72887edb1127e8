"""The state of a file: what tells that it is still the file, with the content, that a plan was made for."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import UTC, datetime
from typing import Protocol

from gpuetl.messages import coded
from gpuetl.places.paths import FilePath

AGAIN = "Run again when no other program changes the files of the source."


class DatasetError(Exception):
    """A source whose files are missing or are not what it says; worded for the user, without the place."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message)

    def __reduce__(self) -> tuple[type[DatasetError], tuple[str, str]]:
        """Keep the hint on the way from a worker."""
        return type(self), (self.args[0], self.hint)


class FileState(Hashable, Protocol):
    """What a filesystem reports of a file, as far as a change of its content changes it.

    Two states are equal if nothing at all has changed, which is what a cache needs.  `difference` is what ends a run.
    A local file has an inode and times; an object of a store has a time and an ETag.
    """

    @property
    def size(self) -> int:
        """Bytes of the file."""

    @property
    def mtime_ns(self) -> int:
        """When the content last changed, in nanoseconds after 1970."""

    @property
    def identity(self) -> Hashable:
        """What is equal for two paths of one file."""

    @property
    def guards_reads(self) -> bool:
        """Whether each read names the state, and fails where it is another one: then nobody has to look again."""

    def is_settled(self, least_ns: int) -> bool:
        """Tell whether the file last changed longer ago than this, so that another change gives another state."""

    def difference(self, now: FileState) -> str:
        """Say what is different now, in words; nothing where the file is the same."""


def size_and_time_difference(before: FileState, now: FileState) -> list[str]:
    """Say, in words, whether the size and the modification time of a file differ."""
    parts = []
    if before.size != now.size:
        parts.append(f"its size was {before.size:,} bytes and is {now.size:,} now")
    if before.mtime_ns != now.mtime_ns:
        parts.append(f"it was last modified at {utc(before.mtime_ns)} and is from {utc(now.mtime_ns)} now")
    return parts


def utc(time_ns: int) -> str:
    """Return a time of a filesystem in words."""
    try:
        return f"{datetime.fromtimestamp(time_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    except (OverflowError, ValueError, OSError):  # a time that Python's calendar does not have
        return f"{time_ns:,} ns after 1970"


def refuse_change(path: FilePath, planned: FileState | None, now: FileState) -> None:
    """Raise `DatasetError` for a file that is not what the plan saw."""
    if planned is not None and (what := planned.difference(now)):
        raise DatasetError(coded("GE1420", f"{path} changed during the run: {what}"), AGAIN)


def deleted(path: FilePath) -> DatasetError:
    """Word a file that is not there any more."""
    return DatasetError(coded("GE1420", f"{path} was deleted or moved during the run"), AGAIN)


def shortened(path: FilePath) -> DatasetError:
    """Word a file that ended while it was read."""
    return DatasetError(coded("GE1420", f"{path} changed during the run: it ends earlier now"), AGAIN)
