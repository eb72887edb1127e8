"""Whether peers agree: rows in any order, floats within rounding; of huge ones sums of all and a sample in full."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import dataset

from gpuetl.testing import Tolerance, assert_tables_equal

ROUNDING = Tolerance(rtol=1e-8, atol=1e-7)  # sums of a hundred million floats, in any order
WHOLE_ROWS = 2_000_000
SAMPLE = 997
"""Of more rows, those whose `ts` is a multiple of this are compared in full."""


def assert_same_answers(got: Path, expected: Path) -> None:
    """Raise `AssertionError` unless both folders hold the same outputs."""
    for name in outputs(expected):
        for ours, theirs in zip(rows_of(got, name), rows_of(expected, name), strict=True):
            assert_tables_equal(*alike(ours, theirs), tolerance=ROUNDING, what=name)


def outputs(folder: Path) -> list[str]:
    """Return the names of what a peer wrote; some write a folder where others write a file."""
    return sorted(path.stem for path in folder.iterdir() if not path.name.startswith("."))


def rows_of(folder: Path, name: str) -> list[pa.Table]:
    """Return an output's rows; of very many, their sums and a sample."""
    found = sorted(path for path in folder.rglob("*.parquet") if path.is_file())
    files = [path for path in found if path.relative_to(folder).parts[0].removesuffix(".parquet") == name]
    assert files, f"{name} was not written"
    count = sum(pq.read_metadata(path).num_rows for path in files)
    rows = dataset.dataset([str(path) for path in files])
    if count <= WHOLE_ROWS:
        return [rows.to_table()]
    return [pa.table({"rows": [count]}), *digest(rows)]


def digest(rows: dataset.Dataset) -> tuple[pa.Table, pa.Table]:
    """Return the sums of all numbers, and the rows of the sample."""
    names = [field.name for field in rows.schema if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)]
    sums, sample = np.zeros(len(names)), []
    for batch in rows.to_batches():
        sums += [pc.sum(batch[name]).as_py() or 0 for name in names]
        times = batch["ts"].cast(pa.timestamp("us")).to_numpy(zero_copy_only=False).astype(np.int64)
        sample.append(batch.filter(pa.array(times % SAMPLE == 0)))
    return pa.table({name: [value] for name, value in zip(names, sums, strict=True)}), pa.Table.from_batches(sample)


def alike(got: pa.Table, expected: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return both with the expected one's columns and types."""
    if set(got.column_names) != set(expected.column_names):
        raise AssertionError(f"the columns are {got.column_names}, expected {expected.column_names}")
    expected = pa.table({name: plain(expected[name]) for name in expected.column_names})
    return pa.table({field.name: as_type(plain(got[field.name]), field.type) for field in expected.schema}), expected


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values without dictionaries, decimals as floats, texts of one kind, and null for NaN."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        return column.cast(pa.float64())
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def as_type(column: pa.ChunkedArray, dtype: pa.DataType) -> pa.ChunkedArray:
    """Return a column in another type that holds the same values."""
    if pa.types.is_timestamp(column.type) and dtype == pa.date32():
        column = column.cast(pa.timestamp("s"))
    return column.cast(dtype)
