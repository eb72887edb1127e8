"""The rows of an aggregate by group: their order, and what several calls need of them, computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.aggregates.tables import Table, table_of
from gpuetl.engines.cudf.columns.arrays import mark_both, pick, scan, scatter, set_marks
from gpuetl.engines.cudf.columns.compact import bounds_where
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.keys import Key, keys_of
from gpuetl.engines.cudf.columns.order import sort_keys
from gpuetl.engines.cudf.columns.texts import numbered_texts
from gpuetl.engines.cudf.columns.validity import valid_rows
from gpuetl.engines.cudf.columns.words import measured
from gpuetl.engines.cudf.expressions.canonical import canonical
from gpuetl.engines.cudf.expressions.evaluate import evaluate
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.expressions.ir import Column, Expr, Literal
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows sorted by group: group g is from starts[g] to starts[g + 1].

    `rows` are the rows' numbers in the frame, None where they are in order there.  Groups whose keys range narrowly
    have a `table` by key.
    """

    frame: Frame
    rows: Array | None
    starts: Array
    machine: Machine
    table: Table | None = None
    _made: dict[Hashable, Any] = field(default_factory=dict)

    @classmethod
    def by(cls, frame: Frame, keys: Sequence[str], machine: Machine) -> Groups:
        """Sort by the keys; without keys there is one group, also of no rows."""
        if not keys:
            return cls(frame, None, machine.arrays.asarray(np.array([0, frame.rows], np.int64)), machine)
        own = keys_of(frame.columns, [SortKey(name) for name in keys], frame.rows, machine)
        layout = measured(own, machine)
        if table := table_of(own, layout, machine):
            return cls(frame, table.rows, table.starts, machine, table)
        order = sort_keys(own, len(own.keys), False, machine, layout)
        return cls(frame, order.rows, bounds_where(order.new_group, machine), machine)

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.starts) - 1

    @property
    def first_rows(self) -> Array:
        """The number of each group's first row."""
        return self.starts[:-1] if self.rows is None else pick(self.rows, self.starts[:-1], self.machine)

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under this name, made when it is first asked for."""
        if what not in self._made:
            self._made[what] = make()
        made: T = self._made[what]
        return made

    def keys(self, names: Sequence[str]) -> dict[str, Vector]:
        """Return the values of each group in the columns that it is made by: floats with one zero and one NaN."""
        columns = self.frame.select(tuple(names)).columns
        keys = take(columns, self.first_rows, self.machine, missing=False) if names else {}
        return {name: canonical(vector, self.machine) for name, vector in keys.items()}

    @property
    def codes(self) -> Array:
        """The group (int32) of each row of the frame."""

        def make() -> Array:
            if self.table:
                return self.table.groups(self.machine)
            marks = self.machine.arrays.zeros(self.frame.rows, "uint8")
            set_marks(marks, self.starts[1:-1], self.machine)
            sorted_codes = scan(marks, self.machine, "int32")
            if self.rows is None:
                return sorted_codes
            codes = self.machine.arrays.empty(self.frame.rows, "int32")
            scatter(codes, self.rows, self.machine, sorted_codes)
            return codes

        return self.once("codes", make)

    @property
    def code_key(self) -> Key:
        """The group of each row as a key."""
        return Key(Vector(pa.int32(), self.frame.rows, self.codes), False)

    def column(self, argument: Expr) -> Vector:
        """Return an argument's values."""
        if isinstance(argument, Column):
            return self.frame.columns[argument.name]
        columns, rows = self.frame.columns, self.frame.rows
        return self.once(argument, lambda: evaluate({"": argument}, columns, rows, self.machine)[""])

    def valid(self, argument: Expr) -> Array | None:
        """Return where (uint8) an argument is not null, None where it never is."""
        column = self.column(argument)
        return valid_rows(column, self.machine) if column.nulls else None

    def true(self, argument: Expr) -> Array | None:
        """Return where (uint8) a truth value is true, None for the constant; null is not."""
        if argument == Literal(True, BOOL):
            return None
        return both(self.column(argument).data, self.valid(argument), self.machine)

    def key(self, argument: Expr, descending: bool = False) -> Key:
        """Return an argument as a key."""
        column = self.numbered(argument)
        return Key(column, column.valid is not None, descending)

    def numbered(self, argument: Expr) -> Vector:
        """Return an argument's values, texts as their numbers."""
        return self.once(("numbered", argument), lambda: numbered_texts(self.column(argument), self.machine))


def both(left: Array | None, right: Array | None, machine: Machine) -> Array | None:
    """Return where two marks of rows are set; None marks every row."""
    if left is None or right is None:
        return right if left is None else left
    return mark_both(left, right, machine)
