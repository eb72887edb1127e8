"""Rows by their numbers, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Column, whole
from gpuetl.engines.pandas.columns.masked import Masked, from_masked
from gpuetl.threads import in_threads
from gpuetl.types.data_types import INT64, STRING

SAMPLE_ROWS, DISTINCT_IN_SAMPLE = 1 << 13, 1 << 10


def take_rows(frame: pa.Table, rows: NDArray[np.int64]) -> pa.Table:
    """Return the rows of a frame that has columns, in the order of `rows`."""
    numbers = pa.array(rows)
    columns = in_threads(lambda column: take_column(column, numbers), frame.columns)
    return pa.table(columns, schema=frame.schema)


def take_or_null(column: Column, rows: Masked) -> Column:
    """Return the values at `rows`, null where `rows` is not valid."""
    return take_column(column, from_masked(rows, INT64))


def take_column(column: Column, rows: Any) -> Column:
    """Return the values at `rows`, an Arrow array; one array, since Arrow is slow in many pieces.

    Texts that repeat are moved as numbers of a dictionary: Arrow moves texts one by one.
    """
    values = whole(column)
    if values.type != STRING or len(rows) < SAMPLE_ROWS or not _repeats(values):
        return pc.take(values, rows, boundscheck=False)
    encoded = values.dictionary_encode()
    return encoded.dictionary.take(encoded.indices.take(rows))


def _repeats(values: Any) -> bool:
    return bool(pc.count_distinct(values[:SAMPLE_ROWS]).as_py() <= DISTINCT_IN_SAMPLE)
