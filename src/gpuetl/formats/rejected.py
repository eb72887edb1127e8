"""The rows that a CSV source puts into quarantine, as a source of their own."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from gpuetl.formats.dataset import Dataset
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64, STRING
from gpuetl.types.schema import Schema

REJECTED = ".rejected"
"""What follows a source's or a stage's name in that of its quarantine."""


def without_rejected(name: str) -> str:
    """Return the source or stage that a relation belongs to: `txns` for `txns` and for `txns.rejected`."""
    return name.removesuffix(REJECTED)


COLUMNS = Schema({"file": STRING, "line": INT64, "text": STRING, "_rule": STRING, "_run": STRING})


@dataclass(frozen=True, eq=False)
class RejectedRows(Dataset):
    """The rows of `source` that are not as its schema says: where they stand, as they are written, and why.

    `line` counts from 1, and is where the row begins.  `_rule` is what is wrong, `_run` the id of the run.
    """

    source: Dataset = field(kw_only=True)
    run_id: str = field(kw_only=True, default="")

    @classmethod
    def of(cls, source: Dataset, run_id: str) -> RejectedRows:
        """Return the quarantine of a source."""
        return cls(f"{source.name}{REJECTED}", source.format, source.path, source=source, run_id=run_id)

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        """The source's."""
        return self.source.files

    @cached_property
    def schema(self) -> Schema:
        """The same for every source."""
        return COLUMNS

    @cached_property
    def row_groups(self) -> tuple[RowGroup, ...]:
        """The source's, without what is known of their values."""
        return tuple(group.without_ranges for group in self.source.row_groups)

    def column_values(self, name: str) -> None:
        """Return nothing: files say nothing of the rows that will not fit."""
