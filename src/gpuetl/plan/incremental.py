"""What a run reads of a source, where it does not read all of it: what the pipeline asks for, and what was chosen."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, Literal

from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

Changed = Literal["error", "take", "skip"]
"""What to do with a file that has changed since a run read it."""
Late = Literal["warn", "ignore", "error"]
"""What to do where rows came that a watermark has passed."""
WatermarkValue = int | date
"""A value of a watermark's column; a `datetime` is a `date`, too."""


@dataclass(frozen=True)
class NewFiles:
    """Read the files that no successful run has read; `path` is that of the source, as it is written."""

    path: str
    changed: Changed = "error"


@dataclass(frozen=True)
class Watermark:
    """Read the rows beyond those that successful runs have read, but those of the last `lateness` before the newest.

    `path` is that of the source, as it is written.
    """

    path: str
    column: str
    dtype: DataType
    lateness: timedelta | int
    late: Late = "warn"


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
    """

    source: str
    kind: str
    has_new: bool
    text: str
    numbers: dict[str, Any]
    is_known: bool = True
