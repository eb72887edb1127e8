"""The rows that aggregates take: their groups, and what several calls need of them, computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, to_masked, whole
from gpuetl.engines.pandas.columns.keys import Groups
from gpuetl.engines.pandas.columns.order import ordinal
from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.expressions.ir import Call, Expr
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Aggregate
from gpuetl.records import dataclass

T = TypeVar("T")
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """The rows of an aggregate's frame, and their groups."""

    operation: Aggregate
    frame: pa.Table
    groups: Groups
    _cache: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under this name, made when it is first asked for."""
        if what not in self._cache:
            self._cache[what] = make()
        cached: T = self._cache[what]
        return cached

    def column(self, argument: Expr) -> Any:
        """Return an argument's values as one Arrow array."""
        return self.once(argument, lambda: whole(evaluate_column(argument, self.frame)))

    def argument(self, argument: Expr) -> Any:
        """Return the same, not kept where one call alone takes it: it may be a copy of the column."""
        if self.calls_by_argument[argument] > 1:
            return self.column(argument)
        return whole(evaluate_column(argument, self.frame))

    def chunks(self, argument: Expr) -> Any:
        """Return an argument's values, of one group as they are in the frame, perhaps in several chunks."""
        return self.argument(argument) if self.groups.count > 1 else evaluate_column(argument, self.frame)

    @cached_property
    def calls_by_argument(self) -> Counter[Expr]:
        """How many calls take each argument."""
        return Counter(argument for call in self.operation.calls.values() for argument in set(call.args))

    def condition(self, argument: Expr) -> Flags:
        """Return where a boolean is true; null is not."""

        def true() -> Flags:
            masked = to_masked(self.column(argument))
            return masked.values & masked.valid

        return self.once(("condition", argument), true)

    def valid(self, argument: Expr) -> Flags:
        """Return where an argument is not null."""
        valid: Flags = self.column(argument).is_valid().to_numpy(zero_copy_only=False)
        return valid

    def order_of(self, call: Call) -> tuple[SortKey, ...]:
        """Return the order of rows that a call needs."""
        orders = self.operation.orders
        return next(orders[name] for name, own in self.operation.calls.items() if own == call and name in orders)

    def own_order_of(self, call: Call) -> tuple[SortKey, ...]:
        """Return the order of rows that a call has; none where its values are in their own."""
        orders = self.operation.orders
        found = (orders[name] for name, own in self.operation.calls.items() if own == call and name in orders)
        return next(found, ())

    def digits(self, key: SortKey) -> Ints:
        """Return integers in the order that a sort key asks for."""
        return self.once(key, lambda: ordinal(self.frame.column(key.column), key))


def reduced_chunks(groups: Groups, values: Any, function: np.ufunc, neutral: Any) -> Masked:
    """Return what `reduced` does of a column; of one group it reduces each chunk, without a copy of the column."""
    if groups.count > 1 or not isinstance(values, pa.ChunkedArray) or values.num_chunks < 2:
        return reduced(groups, to_masked(values), function, neutral)
    of_chunks = [reduced(groups, to_masked(chunk), function, neutral) for chunk in values.chunks]
    partial = Masked(
        np.concatenate([one.values for one in of_chunks]), np.concatenate([one.valid for one in of_chunks])
    )
    return reduced(groups, partial, function, neutral)


def reduced(groups: Groups, x: Masked, function: np.ufunc, neutral: Any) -> Masked:
    """Return a reduction of each group's values by a NumPy function, one after the other; null where there is none.

    Group codes are dense, so the groups' results are an array that each value is added into: O(rows).  NumPy reduces
    the values of one group in blocks, which is six times as fast, and sums floats more exactly.
    """
    whole_column = bool(x.valid.all())
    if groups.count == 1:
        own = x.values if whole_column else x.values[x.valid]
        with np.errstate(over="ignore", invalid="ignore"):
            value = function.reduce(own, initial=neutral, dtype=own.dtype)
        return Masked(np.full(1, value, own.dtype), np.full(1, len(own) > 0))
    result = np.full(groups.count, neutral, x.values.dtype)
    codes, values = (groups.codes, x.values) if whole_column else (groups.codes[x.valid], x.values[x.valid])
    with np.errstate(over="ignore", invalid="ignore"):
        function.at(result, codes, values)
    return Masked(result, np.bincount(codes, minlength=groups.count) > 0)


def grouped(groups: Groups, values: Any, function: str, options: Any = None) -> Any:
    """Run one of Acero's hash aggregates, on one thread so that groups keep their order."""
    table = pa.table({"code": groups.codes, "value": values})
    result = table.group_by("code", use_threads=False).aggregate([("value", function, options)])
    if result.num_rows < groups.count:  # no rows and no keys: the one group is empty
        return pa.nulls(groups.count, result.column(f"value_{function}").type)
    return whole(result.column(f"value_{function}"))
