"""Columns of CSV text that Arrow reads as CAST does, without their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import Column
from gpuetl.engines.pandas.io.csv_values import PLAIN_VALUES, Written, read_texts
from gpuetl.formats.csv_options import CsvOptions, csv_options
from gpuetl.formats.dataset import Dataset
from gpuetl.types.data_types import BOOL, DATE, DataType, is_integer

BLOCK_BYTES = 1 << 18
"""Of text that is looked at at a time: it stays in the cache."""


def read_columns(dataset: Dataset, text: bytes, header: Sequence[str], types: Mapping[str, DataType]) -> pa.Table:
    """Read columns of records, in their types where Arrow reads these as CAST does, else as they are written.

    CAST and Arrow's CSV reader share the converters of texts.  The reader refuses some texts that CAST reads, such as
    `+1`: columns are then read as they are written.  It also reads texts that CAST refuses, and those are looked for:
    `0x1F` as an integer, `nan(1)` and numbers beyond the type as floats, and nulls in quotes.

    Raises
    ------
    pyarrow.ArrowInvalid
        Where a row has too few or too many fields or a text is not UTF-8.
    """
    options = csv_options(dataset)
    direct = direct_types(types, options, text)
    try:
        rows = read_texts(dataset, text, header, list(types), types=direct)
    except pa.ArrowInvalid:
        if not direct:
            raise
        return read_texts(dataset, text, header, list(types))
    has_quotes = bool(options.quote) and text.find(options.quote.encode()) >= 0
    doubtful = [name for name in direct if is_doubtful(rows.column(name), has_quotes)]
    if doubtful:
        texts = read_texts(dataset, text, header, doubtful)
        for name in doubtful:
            rows = rows.set_column(rows.column_names.index(name), name, texts.column(name))
    return rows


def direct_types(types: Mapping[str, DataType], options: CsvOptions, text: bytes) -> dict[str, DataType]:
    """Return the columns whose type Arrow reads as CAST does, but for what `is_doubtful` finds."""
    plain = {
        name: dtype
        for name, dtype in types.items()
        if is_shared(dtype) and Written.of(options, name, dtype) == PLAIN_VALUES
    }
    if any(is_integer(dtype) for dtype in plain.values()) and has_hexadecimal(text):
        plain = {name: dtype for name, dtype in plain.items() if not is_integer(dtype)}
    return plain


def is_shared(dtype: DataType) -> bool:
    """Tell whether CAST reads a type with Arrow's converter."""
    is_float = pa.types.is_float32(dtype) or pa.types.is_float64(dtype)
    return is_integer(dtype) or is_float or dtype in (BOOL, DATE) or pa.types.is_timestamp(dtype)


def has_hexadecimal(text: bytes) -> bool:
    """Tell whether `0x` or `0X` is somewhere in a text."""
    bytes_ = np.frombuffer(text, np.uint8)
    for start in range(0, len(bytes_), BLOCK_BYTES):
        block = bytes_[start : start + BLOCK_BYTES + 1]
        found = (block[1:] | 0x20) == ord("x")
        found &= block[:-1] == ord("0")
        if found.any():
            return True
    return False


def is_doubtful(column: Column, has_quotes: bool) -> bool:
    """Tell whether Arrow may have read a text in a column that CAST refuses."""
    if has_quotes and column.null_count:
        return True  # Arrow takes nulls in quotes for null, if the type is not string
    return pa.types.is_floating(column.type) and pc.all(pc.is_finite(column)).as_py() is False
