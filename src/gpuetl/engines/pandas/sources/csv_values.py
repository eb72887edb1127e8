"""The texts of a CSV file's columns, and the values that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from gpuetl.engines.pandas.columns.column import Column
from gpuetl.engines.pandas.expressions.casts import cast_value
from gpuetl.errors import EvaluationError
from gpuetl.io.dataset import Dataset
from gpuetl.messages import coded
from gpuetl.types.data_types import DURATION, INT64, STRING, DataType

LARGEST_BLOCK = (1 << 31) - 1
BLOCK_BYTES = 1 << 20
"""What one thread parses at a time; a longer record is read by `CsvRows`."""


def read_texts(
    dataset: Dataset,
    source: Any,
    header: Sequence[str],
    columns: Sequence[str],
    bad_row: Callable[[Any], str] | None = None,
    **options: Any,
) -> pa.Table:
    """Read columns as they are written: nulls are null, quotes are undone.

    `bad_row` is called with each row that has too few or too many fields, in order.  With it, texts are bytes, which
    may not be UTF-8.  Without columns the result still has the rows.

    Raises
    ------
    pyarrow.ArrowInvalid
        Where that is not there, and a row has too few or too many fields or a text is not UTF-8.
    """
    counted = [name for name in header if header.count(name) == 1][:1]
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(columns or counted, pa.binary() if bad_row else STRING),
        include_columns=list(columns) or counted, null_values=list(dataset.nulls), strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )  # fmt: skip
    parse = csv.ParseOptions(
        delimiter=dataset.delimiter, ignore_empty_lines=len(header) > 1, newlines_in_values=True,
        invalid_row_handler=bad_row,
    )  # fmt: skip
    read = csv.ReadOptions(use_threads=bad_row is None, **{"block_size": BLOCK_BYTES, **options})
    return csv.read_csv(source, read_options=read, parse_options=parse, convert_options=convert)


def typed(texts: pa.Table, types: Mapping[str, DataType]) -> pa.Table:
    """Return columns of texts in their types.

    Raises
    ------
    pyarrow.ArrowInvalid, EvaluationError
        For a text that does not stand for a value of its type.
    """
    for place, (name, dtype) in enumerate(types.items()):
        if dtype != STRING:
            column, bad = values_of(texts.column(name), dtype)
            if bad is not None:
                raise EvaluationError(coded("GE1410", f"column '{name}' has other texts than {dtype}"))
            texts = texts.set_column(place, name, column)
    return texts


def values_of(text: Column, dtype: DataType) -> tuple[Column, Column | None]:
    """Return a column of texts as CAST reads them, and where they are not values, if anywhere: null then.

    Spaces and tabs around a value do not count.
    """
    try:
        return cast_text(text, dtype, lenient=False), None
    except (pa.ArrowInvalid, EvaluationError):
        values = cast_text(pc.utf8_trim(text, " \t"), dtype, lenient=True)
    bad = pc.and_(pc.is_null(values), pc.is_valid(text))
    return values, bad if pc.any(bad).as_py() else None


def cast_text(text: Column, dtype: DataType, lenient: bool) -> Column:
    """Cast texts; those of a duration are its microseconds."""
    values = cast_value(text, INT64 if dtype == DURATION else dtype, lenient=lenient, implicit=False)
    return values.cast(DURATION) if dtype == DURATION else values
