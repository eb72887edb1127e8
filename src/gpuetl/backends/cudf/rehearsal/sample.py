"""A few rows of a source: the first ones, with the limits and nulls that the statistics of its files tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.backends.cudf.columns.validity import empty_bits, with_nulls
from gpuetl.backends.cudf.device.types import whole_number
from gpuetl.backends.cudf.interchange import from_arrow
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.rehearsal.launch import set_bits, set_valid
from gpuetl.backends.cudf.rehearsal.limits import ROWS, Limits
from gpuetl.backends.cudf.sources.units import type_as_read
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING, DataType
from gpuetl.io.parquet_limits import MICROSECONDS

LEAST_ROWS = 3


def sampled(
    path: Path, group: int, types: Mapping[str, DataType], limits: Mapping[str, Limits], machine: Machine
) -> dict[str, Vector]:
    """Return the first rows of a row group of a Parquet file."""
    from pyarrow import parquet

    if not types:
        return {}
    with parquet.ParquetFile(path, memory_map=True) as file:
        batch = next(file.iter_batches(ROWS, [group], list(types), use_threads=False))
    columns = {name: in_type(batch.column(name), type_as_read(stored)) for name, stored in types.items()}
    vectors = {name: from_arrow(column, machine) for name, column in columns.items()}
    return {name: widened(vector, limits.get(name), machine) for name, vector in vectors.items()}


def widened(vector: Vector, limits: Limits | None, machine: Machine) -> Vector:
    """Return a column with its limits, and with a null where it has any.

    Limits that no row has are put into the first and the last, which keeps an order, and distinct keys distinct.
    Texts are but given their nulls: how far their numbers range is not known from limits.
    """
    if limits is None or vector.rows < LEAST_ROWS or vector.elements is not None:
        return vector
    *ends, nulls = limits
    rows = vector.rows
    valid = np.ones(rows, bool) if vector.valid is None else set_bits(vector.valid)[:rows]
    valid[1] &= not nulls
    if vector.dtype != STRING and ends[0] is not None:
        data = vector.data.copy()
        for row, end in zip((0, -1), (as_stored(end, vector.dtype) for end in ends), strict=True):
            if end not in data[valid]:
                data[row], valid[row] = end, True
        vector = replace(vector, data=machine.arrays.asarray(data))
    words = empty_bits(rows, machine)
    set_valid(words, valid)
    return with_nulls(replace(vector, valid=machine.arrays.asarray(words)), int(np.count_nonzero(~valid)))


def as_stored(end: Any, dtype: DataType) -> int | float:
    """Return a limit as the number that a column has: a time in the unit of its type."""
    if isinstance(end, float):
        return end
    number = whole_number(end, dtype)
    return number // MICROSECONDS[dtype.unit] if isinstance(end, datetime) else number


def in_type(column: pa.Array, dtype: DataType) -> pa.Array:
    """Return a column in a type, often its own: a cast imports much."""
    return column if column.type == dtype else column.cast(dtype)
