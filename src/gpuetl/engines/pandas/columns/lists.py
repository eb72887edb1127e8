"""Columns of lists: elements beside the rows that they belong to, and lists made of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import ListParts, Masked, list_parts, repeated, take_or_null
from gpuetl.engines.pandas.columns.order import sorted_order
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Elements:
    """A column of lists taken apart: its elements, the row of each, and which rows are no null."""

    parts: ListParts
    rows: Ints
    valid: Flags

    @classmethod
    def of(cls, lists: Any) -> Elements:
        """Take a list array apart."""
        parts = list_parts(lists)
        return cls(parts, np.repeat(np.arange(len(lists)), parts.lengths), flags(lists.is_valid()))

    @property
    def values(self) -> Any:
        """The elements of all rows, below each other."""
        return self.parts.values

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.valid)

    @property
    def known(self) -> Flags:
        """Which elements are not null."""
        return flags(self.values.is_valid())

    def order(self, descending: bool = False, nulls_first: bool = False) -> Ints:
        """Return the places of the elements in the order of each list: NaN last, equal ones as they stand."""
        frame = pa.table({"row": pa.array(self.rows), "value": self.values})
        if self.values.type == pa.null():
            return np.arange(len(self.values), dtype=np.int64)
        return sorted_order(frame, [SortKey("row"), SortKey("value", descending, nulls_first)])


def flags(column: Any) -> Flags:
    """Return an array of booleans without nulls as NumPy holds it."""
    found: Flags = column.to_numpy(zero_copy_only=False)
    return found


def beside(*columns: Any) -> tuple[Any, ...]:
    """Return columns of one length: those of a single row are repeated for the rows of the others."""
    rows = max((len(column) for column in columns if len(column) != 1), default=1)
    if any(not len(column) for column in columns):
        rows = 0
    return tuple(column if len(column) == rows else repeated(column[0], rows) for column in columns)


def lists_of(values: Any, lengths: Ints, valid: Flags | None = None) -> Any:
    """Return lists of so many values each, one after the other; null where not valid."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    mask = None if valid is None or valid.all() else pa.array(~valid)
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)


def lists_at(values: Any, places: Ints, rows: Ints, valid: Flags) -> Any:
    """Return lists of the values at some places, -1 for null, each of which belongs to a row, in the order of rows."""
    found = take_or_null(values, Masked(np.maximum(places, 0), places >= 0))
    return lists_of(found, np.bincount(rows, minlength=len(valid)), valid)
