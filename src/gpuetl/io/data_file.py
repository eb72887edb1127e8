"""A file of a source: its row groups, limits of their values, and the error of an unreadable one."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

from gpuetl.places.file_state import DatasetError as DatasetError  # noqa: PLC0414  what reads files imports both
from gpuetl.places.file_state import FileState
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass

# A file of a source, its row groups, and what is known of their values.


NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class DataFile:
    """One file and the values of the partition columns in its path, as written there.

    `state` is that in which the plan saw the file.  It goes where the file is read, and is compared there.
    """

    path: FilePath
    partition: Mapping[str, str | None]
    state: FileState | None = None


@dataclass(frozen=True)
class RowGroup:
    """A piece of a file that is read as a whole; a small CSV file is one piece with an unknown number of rows.

    `ranges` has the smallest and largest value and the number of nulls, for the columns that state them.  `extent` is
    what the format's own reader needs to find the piece.
    """

    file: DataFile
    index: int
    rows: int
    file_bytes: Mapping[str, int]
    ranges: Mapping[str, tuple[Any, Any, int]]
    extent: object = None

    @property
    def without_ranges(self) -> RowGroup:
        """The piece as what reads it wants it."""
        return RowGroup(self.file, self.index, self.rows, self.file_bytes, {}, self.extent)


class ColumnValues(NamedTuple):
    """Estimates from footers for a column of strings, bytes or nested values.

    Each is what a few row groups have.  The bytes of a text are with its offset.  `distinct` is infinite where nothing
    tells.  `row_bytes` are those of all values of a row in memory.
    """

    a_row: float
    text_bytes: float
    distinct: float = inf
    row_bytes: float = 0.0
