"""Two tables by the contract: rows paired by keys, and how their values differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.records import dataclass
from gpuetl.types.data_types import can_be_key, is_floating
from gpuetl.value_texts import shown
from gpuetl.verify.tolerance import Tolerance, equal_values, in_canonical_order

# Two tables by the contract: the rows that one has more often, the values that differ, the order.


SHOWN_ROWS = 5
RELATIVE, OF_LARGEST = 1e-9, 1e-12
FLOAT32 = 2.0**-22
"""Of float32: two roundings."""


@dataclass(frozen=True)
class RowDifference:
    """One row that differs: its keys, and the values that do; None where an engine has not got the row."""

    keys: Mapping[str, Any]
    got: Mapping[str, Any] | None
    expected: Mapping[str, Any] | None


DIFFERENCES = {
    "columns": "other columns or types: {columns}",
    "rows": "{count:,} rows that only one has",
    "values": "{count:,} rows differ in {columns}",
    "order": "{count:,} rows out of the order of {columns}",
}


@dataclass(frozen=True)
class Difference:
    """How a stage's rows differ: in columns, in which rows there are, in values, or in order alone.

    `count` is how many rows do, `columns` are those with other values, `rows` the first of them.
    """

    what: Literal["columns", "rows", "values", "order"]
    count: int
    columns: tuple[str, ...] = ()
    rows: tuple[RowDifference, ...] = ()

    def __str__(self) -> str:
        return DIFFERENCES[self.what].format(count=self.count, columns=", ".join(self.columns))


@dataclass(frozen=True)
class Contract:
    """What makes a stage's rows the same.

    Parameters
    ----------
    keys
        Columns by which rows are told apart; rows pair by them, and differences are shown with them.
    order
        Columns whose values must come in the same order.
    bounds
        For a table of the stage's rows, the distances that are allowed in columns, row by row.  Other floats may differ
        by 1e-9 of their size (2^-22 for float32) or 1e-12 of the largest value of their column: what cancels has no
        better bound.
    """

    keys: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    bounds: Mapping[str, Any] = field(default_factory=dict)


def compare_tables(got: pa.Table, expected: pa.Table, contract: Contract) -> Difference | None:
    """Return how two tables differ, or None.

    Rows pair in the order of their keys and then of all other columns, floats last, unless they are the same as they
    came.  `contract.bounds` belong to the rows of `expected`.
    """
    if not got.schema.equals(expected.schema):
        fields, others = set(got.schema), set(expected.schema)
        names = tuple(dict.fromkeys(column.name for column in [*got.schema, *expected.schema]
                                    if not (column in fields and column in others)))  # fmt: skip
        return Difference("columns", max(got.num_rows, expected.num_rows), names or tuple(expected.column_names))
    bounded = expected
    for name, bound in contract.bounds.items():
        bounded = bounded.append_column(f":bound:{name}", pa.array(bound))
    if got.num_rows == expected.num_rows and not wrong_values(got, bounded):
        return None
    pairing = exact_columns(expected, contract.keys)
    if not pairing:
        pairing = exact_columns(expected, expected.column_names)
    missing = unmatched(got, expected, pairing)
    if missing is not None:
        return missing
    left, right = (in_canonical_order(keys_first(table, pairing)) for table in (got, bounded))
    wrong = wrong_values(left, right)
    if wrong:
        return value_difference(left, right, wrong, contract.keys or pairing)
    return order_difference(got, expected, contract.order)


def exact_columns(table: pa.Table, names: Iterable[str]) -> list[str]:
    """Return the columns whose values can be compared for equality as they are: no floats, nested values or nulls."""
    dtypes = {name: table.schema.field(name).type for name in names}
    return [n for n, t in dtypes.items() if can_be_key(t) and not (is_floating(t) or pa.types.is_null(t))]


def keys_first(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the table with its keys at the beginning, by which it is sorted first."""
    return table.select([*keys, *(name for name in table.column_names if name not in keys)])


def unmatched(got: pa.Table, expected: pa.Table, keys: Sequence[str]) -> Difference | None:
    """Return the keys for which one table has more rows than the other, or None."""
    if not keys:
        gap = abs(got.num_rows - expected.num_rows)
        return Difference("rows", gap) if gap else None
    names = numbered_names(keys)
    signed = [
        table.select(keys).rename_columns(names).append_column("side", pa.repeat(pa.scalar(sign), table.num_rows))
        for table, sign in ((got, 1), (expected, -1))
    ]
    counts = pa.concat_tables(signed).group_by(names).aggregate([("side", "sum")])
    more = counts.filter(pc.not_equal(counts["side_sum"], 0))
    if not more.num_rows:
        return None
    first = more.sort_by([(name, "ascending") for name in names]).slice(0, SHOWN_ROWS)
    sides, first = first["side_sum"].to_pylist(), first.select(names).rename_columns(keys)
    rows = tuple(extra_row(first, row, keys, side) for row, side in enumerate(sides))
    return Difference("rows", int(pc.sum(pc.abs(more["side_sum"])).as_py()), (), rows)


def numbered_names(keys: Sequence[str]) -> list[str]:
    """Return names for keys that Arrow takes for no path, and that no column beside them has."""
    return [str(place) for place in range(len(keys))]


def extra_row(keys_of: pa.Table, row: int, keys: Sequence[str], side: int) -> RowDifference:
    """Return a key and how many more rows the actual side has; negative if the expected side has more."""
    more = {"rows": f"{abs(side):+d}"}
    return RowDifference(values(keys_of, row, keys), more if side > 0 else None, more if side < 0 else None)


def wrong_values(got: pa.Table, expected: pa.Table) -> dict[str, Any]:
    """Return, for each column in which rows differ, which rows do; bounds stand beside the expected columns."""
    wrong = {}
    for name in got.column_names:
        right = expected.column(name)
        bound = expected.column(f":bound:{name}").to_numpy() if f":bound:{name}" in expected.column_names else None
        differs = ~equal_within(got.column(name), right, bound)
        if differs.any():
            wrong[name] = differs
    return wrong


def equal_within(got: Any, expected: Any, bound: Any) -> Any:
    """Return which rows are equal, floats within the bound or, where there is none (NaN), within the tolerance."""
    equal = equal_values(got, expected, tolerance_of(expected))
    if bound is None:
        return equal
    known = ~np.isnan(bound)
    return np.where(known, equal_values(got, expected, Tolerance(0.0, np.where(known, bound, 0.0))), equal)


def tolerance_of(expected: Any) -> Tolerance:
    """Return how far a column's floats may differ, by the largest of them that is finite."""
    if not is_floating(expected.type):
        return Tolerance(RELATIVE)
    finite = expected.filter(pc.fill_null(pc.is_finite(expected), False))
    largest = pc.max(pc.abs(finite)).as_py() or 0.0
    return Tolerance(FLOAT32 if expected.type == pa.float32() else RELATIVE, OF_LARGEST * largest)


def value_difference(got: pa.Table, expected: pa.Table, wrong: Mapping[str, Any], keys: Sequence[str]) -> Difference:
    """Describe values that differ in rows that pair."""
    rows = np.flatnonzero(np.logical_or.reduce(list(wrong.values())))
    shown_rows = []
    for row in rows[:SHOWN_ROWS].tolist():
        names = [name for name, differs in wrong.items() if differs[row]]
        pair = (values(table, row, names) for table in (got, expected))
        shown_rows.append(RowDifference(values(expected, row, keys), *pair))
    return Difference("values", len(rows), tuple(wrong), tuple(shown_rows))


def order_difference(got: pa.Table, expected: pa.Table, order: Sequence[str]) -> Difference | None:
    """Describe rows that are all there, in another order of the columns that the stage is sorted by."""
    wrong = wrong_values(got.select(list(order)), expected.select(list(order))) if order else {}
    if not wrong:
        return None
    found = value_difference(got, expected, wrong, ())
    return Difference("order", found.count, tuple(wrong), found.rows)


def values(table: pa.Table, row: int, names: Iterable[str]) -> dict[str, Any]:
    """Return a row's values: numbers, booleans and strings as they are, all others as strings."""
    return {name: plain(table.column(name)[row]) for name in names}


def plain(value: pa.Scalar) -> Any:
    """Return a value as plain data, also a moment that Python has not."""
    if (
        not value.is_valid
        or is_floating(value.type)
        or pa.types.is_integer(value.type)
        or pa.types.is_boolean(value.type)
    ):
        return value.as_py()
    return shown(value)
