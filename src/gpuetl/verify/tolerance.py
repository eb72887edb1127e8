"""Comparison of Arrow tables by the contract: what must be bit-equal is, floats may differ by rounding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.records import dataclass
from gpuetl.types.data_types import is_floating, is_opaque, type_name
from gpuetl.types.nested_types import is_list, is_map, is_struct
from gpuetl.types.schema import Schema

Flags = NDArray[np.bool_]
SHOWN_ROWS = 5


@dataclass(frozen=True)
class Tolerance:
    """Floats are equal if both are NaN, or |got - expected| <= rtol * |expected| + atol; so -0.0 is 0.0.

    `atol` may be an array, with a value for each row.
    """

    rtol: float = 1e-12
    atol: float | NDArray[np.float64] = 0.0


ROUNDING = Tolerance()


def assert_tables_equal(
    got: pa.Table,
    expected: pa.Table,
    ordered: bool = False,
    *,
    tolerance: Tolerance = ROUNDING,
    what: str = "",
) -> None:
    """Raise `AssertionError`, with the first rows that differ, unless both have the same schema and rows.

    Null equals null alone, floats are equal within the tolerance, all other values must be identical.  Where
    the order of rows does not count, both are sorted by all columns, floats last: rows that only floats tell
    apart may pair wrongly where those differ by rounding.  `what` is compared, and begins the message.
    """
    start = f"{what}: " if what else ""
    if not got.schema.equals(expected.schema):
        raise AssertionError(f"{start}the schema is\n  {_columns(got)}\nexpected\n  {_columns(expected)}")
    if got.num_rows != expected.num_rows:
        counts = f"{got.num_rows} rows, expected {expected.num_rows}"
        raise AssertionError(f"{start}{counts}\n{_first_rows(got, expected)}")
    if not ordered:
        got, expected = in_canonical_order(got), in_canonical_order(expected)
    wrong = [~equal_values(a, b, tolerance) for a, b in zip(got.columns, expected.columns, strict=True)]
    rows = np.flatnonzero(np.logical_or.reduce(wrong)) if wrong else np.zeros(0, np.int64)
    if len(rows):
        shown = _differences(got, expected, wrong, rows[:SHOWN_ROWS])
        raise AssertionError(f"{start}{len(rows)} of {got.num_rows} rows differ\n{shown}")


def in_canonical_order(table: pa.Table) -> pa.Table:
    """Return the table sorted by all its columns, floats last; NaN and then null come after every value."""
    keys = sorted(
        (key for column in table.columns for key in _sort_keys(column)), key=lambda key: is_floating(key.type)
    )
    if not keys or table.num_rows < 2:
        return table
    numbered = pa.table({str(i): key for i, key in enumerate(keys)})
    return table.take(pc.sort_indices(numbered, sort_keys=[(name, "ascending") for name in numbered.column_names]))


def _sort_keys(column: Any) -> Iterator[Any]:
    """Yield what a column is sorted by: itself; for lists their lengths, then their first elements, and so on.

    A struct has those of its fields, after whether it is null; a map is a list of structs.
    """
    if is_struct(column.type):
        yield column.is_valid()
        for place in range(column.type.num_fields):
            yield from _sort_keys(pc.struct_field(column, [place]))
    elif is_list(column.type) or is_map(column.type):
        lists = as_lists(column)
        lengths = pc.fill_null(pc.list_value_length(lists), -1).to_numpy().astype(np.int64)
        yield pa.chunked_array([pa.array(lengths)])
        elements, sizes = pc.list_flatten(lists), np.maximum(lengths, 0)
        starts = np.cumsum(sizes) - sizes
        for place in range(sizes.max(initial=0)):
            yield from _sort_keys(elements.take(pa.array(starts + place, mask=sizes <= place)))
    else:
        yield _as_text(column) if is_opaque(column.type) else column


def as_lists(column: Any) -> Any:
    """Return maps as lists of structs; lists as they are."""
    if not is_map(column.type):
        return column
    return column.cast(pa.list_(pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])))


def _as_text(column: Any) -> Any:
    """Return values that Arrow does not compare as strings; null stays null."""
    texts = [None if value is None else str(value) for value in column.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string())])


def equal_values(got: Any, expected: Any, tolerance: Tolerance = ROUNDING) -> Flags:
    """Return, for each row of two columns of one type, whether the contract calls the values equal."""
    valid = _flags(expected.is_valid())
    same_nulls: Flags = _flags(got.is_valid()) == valid
    if pa.types.is_null(got.type):
        return same_nulls
    if is_floating(got.type):
        equal = _close(_numbers(got), _numbers(expected), tolerance)
    elif is_list(got.type) or is_map(got.type):
        equal = _equal_lists(as_lists(got), as_lists(expected), tolerance)
    elif is_struct(got.type):
        equal = np.ones(len(got), bool)
        for place in range(got.type.num_fields):
            equal &= equal_values(pc.struct_field(got, [place]), pc.struct_field(expected, [place]), tolerance)
    elif is_opaque(got.type):
        equal = _flags(pc.fill_null(pc.equal(_as_text(got), _as_text(expected)), False))
    else:
        equal = _flags(pc.fill_null(pc.equal(got, expected), False))
    same: Flags = same_nulls & (equal | ~valid)
    return same


def _equal_lists(got: Any, expected: Any, tolerance: Tolerance) -> Flags:
    """Return where both lists are as long, and equal element by element; null has the length -1."""
    lengths, other_lengths = (pc.fill_null(pc.list_value_length(column), -1).to_numpy() for column in (got, expected))
    same: Flags = lengths == other_lengths
    elements, others = (pc.list_flatten(column.filter(pa.array(same))) for column in (got, expected))
    rows = np.repeat(np.flatnonzero(same), np.maximum(lengths[same], 0))
    same[rows[~equal_values(elements, others, tolerance)]] = False
    return same


def _close(got: NDArray[Any], expected: NDArray[Any], tolerance: Tolerance) -> Flags:
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(got - expected)
        near = np.isfinite(expected) & (distance <= tolerance.rtol * np.abs(expected) + tolerance.atol)
    close: Flags = near | (got == expected) | (np.isnan(got) & np.isnan(expected))
    return close


def _numbers(column: Any) -> NDArray[Any]:
    with np.errstate(invalid="ignore"):  # a NaN that signals
        numbers: NDArray[Any] = pc.fill_null(column, 0.0).to_numpy().astype(np.float64)
    return numbers


def _flags(column: Any) -> Flags:
    flags: Flags = column.to_numpy().astype(np.bool_)
    return flags


def _columns(table: pa.Table) -> str:
    return ", ".join(f"{name}: {type_name(dtype)}" for name, dtype in Schema.of_arrow(table.schema).items())


def _first_rows(got: pa.Table, expected: pa.Table) -> str:
    lines: list[str] = []
    for which, table in (("got", got), ("expected", expected)):
        lines.extend(f"  {which:8} {row}" for row in table[:SHOWN_ROWS].to_pylist())
    return "\n".join(lines)


def _differences(got: pa.Table, expected: pa.Table, wrong: list[Flags], rows: NDArray[np.int64]) -> str:
    lines: list[str] = []
    for row in rows.tolist():
        names = [name for name, differs in zip(got.column_names, wrong, strict=True) if differs[row]]
        lines.append(f"  row {row} differs in {', '.join(names)}")
        for which, table in (("got", got), ("expected", expected)):
            lines.append(f"    {which:8} {table.slice(row, 1).to_pylist()[0]}")
    return "\n".join(lines)
