"""The rows of an aggregate by group: their order, and what several calls need of them, computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gpuetl.backends.cudf.columns.gather import take
from gpuetl.backends.cudf.columns.order import changes, sort_rows
from gpuetl.backends.cudf.columns.validity import valid_rows
from gpuetl.backends.cudf.columns.words import Digit, key_digits, pack
from gpuetl.backends.cudf.expressions.canonical import canonical
from gpuetl.backends.cudf.expressions.evaluate import evaluate
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.ir import Column, Expr
from gpuetl.plan.node import SortKey

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows sorted by group: group g is from starts[g] to starts[g + 1].

    `rows` are the rows' numbers in the frame, None where they are in order there.
    """

    frame: Frame
    rows: Array | None
    starts: Array
    machine: Machine
    _made: dict[Hashable, Any] = field(default_factory=dict)

    @classmethod
    def by(cls, frame: Frame, keys: Sequence[str], machine: Machine) -> Groups:
        """Sort by the keys; without keys there is one group, also of no rows."""
        arrays = machine.arrays
        end = arrays.full(1, frame.rows, "int64")
        if not keys:
            return cls(frame, None, arrays.concatenate([arrays.zeros(1, "int64"), end]), machine)
        order = sort_rows(frame, [SortKey(name) for name in keys], len(keys), False, machine)
        starts = order.group_starts(machine).astype("int64")
        return cls(frame, order.rows, arrays.concatenate([starts, end]), machine)

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.starts) - 1

    @property
    def first_rows(self) -> Array:
        """The number of each group's first row."""
        return self.starts[:-1] if self.rows is None else self.rows[self.starts[:-1]]

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under this name, made when it is first asked for."""
        if what not in self._made:
            self._made[what] = make()
        made: T = self._made[what]
        return made

    def keys(self, names: Sequence[str]) -> dict[str, Vector]:
        """Return the values of each group in the columns that it is made by: floats with one zero and one NaN."""
        keys = take(self.frame.select(tuple(names)).columns, self.first_rows, self.machine) if names else {}
        return {name: canonical(vector, self.machine) for name, vector in keys.items()}

    @property
    def codes(self) -> Array:
        """The group (int64) of each row of the frame."""

        def make() -> Array:
            arrays = self.machine.arrays
            marks = arrays.zeros(self.frame.rows + 1, "int64")
            marks[self.starts[1:-1]] = 1
            sorted_codes = arrays.cumsum(marks)[: self.frame.rows]
            if self.rows is None:
                return sorted_codes
            codes = arrays.empty(self.frame.rows, "int64")
            codes[self.rows] = sorted_codes
            return codes

        return self.once("codes", make)

    def column(self, argument: Expr) -> Vector:
        """Return an argument's values."""
        if isinstance(argument, Column):
            return self.frame.columns[argument.name]
        columns, rows = self.frame.columns, self.frame.rows
        return self.once(argument, lambda: evaluate({"": argument}, columns, rows, self.machine)[""])

    def valid(self, argument: Expr) -> Array:
        """Return where an argument is not null."""
        return valid_rows(self.column(argument), self.machine).astype(bool)

    def true(self, argument: Expr) -> Array:
        """Return where a truth value is true; null is not."""
        return self.column(argument).data.astype(bool) & self.valid(argument)

    def digits(self, argument: Expr, descending: bool = False, nulls_first: bool = False) -> list[Digit]:
        """Return an argument's values as digits in their order."""
        key = SortKey("", descending, nulls_first)
        return self.once((argument, key), lambda: key_digits(self.column(argument), key, self.machine))


@dataclass(frozen=True, eq=False)
class Runs:
    """Some rows sorted by group and then by digits: equal ones stand together.

    `rows` are their numbers in the frame, `codes` their groups, `new` marks the first of each run of equal rows.
    """

    rows: Array
    codes: Array
    new: Array

    @classmethod
    def of(cls, groups: Groups, kept: Array, digits: Sequence[Digit]) -> Runs:
        """Sort the rows where `kept` is true, stably."""
        machine = groups.machine
        rows = machine.arrays.nonzero(kept)[0]
        codes = groups.codes[rows]
        own = Digit(codes.astype("uint64"), max(1, groups.count - 1).bit_length())
        words = pack([own, *(Digit(digit.values[rows], digit.bits) for digit in digits)], machine)
        order = machine.sorted_order([word.values for word in words])
        return cls(rows[order], codes[order], changes(len(rows), words, order, machine))

    def edge(self, groups: Groups, last: bool = False) -> Array:
        """Return the place of each group's first or last row among these, -1 where it has none."""
        arrays = groups.machine.arrays
        places = arrays.searchsorted(self.codes, arrays.arange(groups.count + 1))
        found = places[1:] > places[:-1]
        return arrays.where(found, places[1:] - 1 if last else places[:-1], -1)
