"""Columns of one type, which kernels take together: a launch, and what it allocates, costs the host the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gpuetl.engines.cudf.columns.written import empty_values
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.sinks.host_texts import HostTexts
from gpuetl.engines.cudf.sinks.levels import Levels
from gpuetl.engines.cudf.vector import Vector, storage_type
from gpuetl.records import dataclass


class Column(NamedTuple):
    """A column of a batch; `texts` are those that its values are numbers of."""

    vector: Vector
    texts: HostTexts | None
    levels: Levels


@dataclass(frozen=True, eq=False)
class Stack:
    """Columns' values of one type, without nulls; in memory for all rows, of which the valid ones come first."""

    values: Sequence[Array]
    stored: str
    levels: Sequence[Levels]
    machine: Machine

    @property
    def column_pages(self) -> int:
        """The pages of a column."""
        return self.levels[0].pages

    @property
    def pages(self) -> int:
        """The pages of all columns."""
        return len(self.levels) * self.column_pages

    @property
    def counts(self) -> list[int]:
        """The values of each page, when the host has been told."""
        return [count for each in self.levels for count in each.counts]

    @cached_property
    def table(self) -> Array:
        """Where each column's values lie, and where it is written where its pages begin: int64[columns, 2]."""
        address = self.machine.address
        places = [(address(v), address(each.d_starts)) for v, each in zip(self.values, self.levels, strict=True)]
        return self.machine.arrays.asarray(np.array(places, np.int64))

    def split(self, pages: Sequence[Any]) -> list[Sequence[Any]]:
        """Return what is of pages by columns."""
        size = self.column_pages
        return [pages[at : at + size] for at in range(0, len(pages), size)]


def stack_of(columns: Sequence[Column], machine: Machine) -> Stack:
    """Return the values that are not null of columns of one type: a column's own memory where none can be."""
    stored = storage_type(columns[0].vector.numbers.dtype)
    return Stack(valid_values(columns, machine), stored, [column.levels for column in columns], machine)


def valid_values(columns: Sequence[Column], machine: Machine) -> list[Array]:
    """Copy the values of columns that may have nulls."""
    nullable = [column for column in columns if column.levels.valid is not None]
    if not nullable:
        return [column.vector.data for column in columns]
    rows, dtype = nullable[0].levels.rows, nullable[0].vector.numbers.dtype
    memory = empty_values(dtype, rows * len(nullable), machine)
    own = {id(column): memory[at * rows : (at + 1) * rows] for at, column in enumerate(nullable)}
    table = [
        [machine.address(each) for each in (c.vector.data, c.levels.valid, c.levels.through, own[id(c)])]
        for c in nullable
    ]
    entry = f"compact_bytes{np.dtype(storage_type(dtype)).itemsize}"
    arguments = [rows * len(nullable), rows, machine.arrays.asarray(np.array(table, np.int64))]
    machine.launch(machine.closed("pages"), entry, arguments[0], arguments)
    return [own.get(id(column), column.vector.data) for column in columns]
