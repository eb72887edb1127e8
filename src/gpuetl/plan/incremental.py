"""What a run reads of a source, where it does not read all of it: what the pipeline asks for, and what was chosen."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal, NamedTuple

from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

Changed = Literal["error", "take", "skip"]
"""What to do with a file that has changed since a run read it."""
Late = Literal["warn", "ignore", "error"]
"""What to do where rows came that a watermark has passed."""


@dataclass(frozen=True)
class NewFiles:
    """Read the files that no successful run has read.

    `path` is that of the source, as it is written.  `sinks` are those that read the source.
    """

    path: str
    changed: Changed = "error"
    sinks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Watermark:
    """Read the rows beyond those that successful runs have read, but those of the last `lateness` before the newest.

    `path` is that of the source, as it is written.  `sinks` are those that read the source.
    """

    path: str
    column: str
    dtype: DataType
    lateness: timedelta | int
    late: Late = "warn"
    sinks: frozenset[str] = frozenset()


Incremental = NewFiles | Watermark


@dataclass(frozen=True)
class Selection:
    """What a run reads of an incremental source.

    Parameters
    ----------
    source
        The name of the source.
    kind
        `new_files` or `watermark`.
    has_new
        Whether there is anything to read.
    text
        The same in words.
    numbers
        Counts and watermarks, by name, for reports.
    is_known
        Whether all of this is known.  Otherwise the run finds it with a query, before it begins.
    warnings
        What to look at before the rows are trusted.
    """

    source: str
    kind: str
    has_new: bool
    text: str
    numbers: dict[str, Any]
    is_known: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The same with the source's name."""
        return f"source '{self.source}': {self.text}"


class Reader(NamedTuple):
    """The run that reads: the folder of its pipeline, its id, and whether it begins as if there were no state."""

    root: FilePath
    run_id: str
    fresh: bool = False
