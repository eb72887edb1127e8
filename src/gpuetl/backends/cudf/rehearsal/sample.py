"""A few rows of a source: the first ones, with the limits and nulls that the statistics of its files tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from gpuetl.backends.cudf.interchange import from_arrow
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING, DataType, is_list, language_type
from gpuetl.io.dataset import RowGroup

ROWS = 1 << 12
"""Enough that columns of few distinct texts show as such."""
MOST_GROUPS = 64
"""Row groups whose statistics are looked at: each takes some tens of microseconds a column."""
Limits = tuple[Any, Any, int]
"""A column's least and greatest value, and its nulls."""


def sampled(
    path: Path, group: int, types: Mapping[str, DataType], limits: Mapping[str, Limits], machine: Machine
) -> dict[str, Vector]:
    """Return the first rows of a row group of a Parquet file."""
    from pyarrow import parquet

    if not types:
        return {}
    with parquet.ParquetFile(path, memory_map=True) as file:
        batch = next(file.iter_batches(ROWS, [group], list(types), use_threads=False))
    nearest = {name: language_type(stored) or stored for name, stored in types.items()}
    columns = {name: in_type(batch.column(name), dtype) for name, dtype in nearest.items()}
    return {name: from_arrow(widened(column, limits.get(name)), machine) for name, column in columns.items()}


def widened(column: pa.Array, limits: Limits | None) -> pa.Array:
    """Return a column with its limits in the first and the last row, which keeps an order, and a null where it has any.

    Texts are but given their nulls: how far their numbers range is not known from limits.
    """
    if limits is None or len(column) < 3 or is_list(column.type):
        return column
    least, greatest, nulls = limits
    middle = column[1:-1]
    if nulls and not middle.null_count:
        middle = pa.concat_arrays([pa.nulls(1, column.type), middle[1:]])
    if least is None or column.type == STRING:
        return pa.concat_arrays([column[:1], middle, column[-1:]])
    first, last = (pa.repeat(pa.scalar(value, column.type), 1) for value in (least, greatest))
    return pa.concat_arrays([first, middle, last])


def in_type(column: pa.Array, dtype: DataType) -> pa.Array:
    """Return a column in a type, often its own: a cast imports much."""
    return column if column.type == dtype else column.cast(dtype)


def limits_of(names: Sequence[str], groups: Sequence[RowGroup]) -> dict[str, Limits]:
    """Return the limits of columns of which each row group states them."""
    groups = groups[:: -(-len(groups) // MOST_GROUPS) or 1]
    found = {name: [group.ranges.get(name) for group in groups] for name in names}
    return {name: together([each for each in of if each]) for name, of in found.items() if of and all(of)}


def together(limits: Sequence[Limits]) -> Limits:
    """Return the limits of all."""
    least, greatest = ([each[end] for each in limits if each[end] is not None] for end in range(2))
    nulls = sum(each[2] for each in limits)
    return (min(least), max(greatest), nulls) if least else (None, None, nulls)
