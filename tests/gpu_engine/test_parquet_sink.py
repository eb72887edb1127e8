"""Parquet files written from columns in device memory: what readers find in them."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz.data import TYPES, pool
from gpu_engine.host_machine import COMPILER, HostMachine
from gpu_engine.test_columns import uploaded
from gpuetl.backends.cudf.sinks.parquet import Layout, write_parquet
from gpuetl.expressions.types import is_list
from gpuetl.plan.schema import Schema

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()
SMALL = Layout(page_rows=64, group_rows=256, batch_rows=512)
"""Several pages, row groups and batches of few rows."""
WRITTEN = {name: dtype for name, dtype in TYPES.items() if not is_list(dtype)}


def written(table, path, layout=SMALL, machine=MACHINE):
    write_parquet(uploaded(table), Schema.of_arrow(table.schema), path, machine, layout)
    return pq.ParquetFile(path)


def table_of(rows, nulls, seed=0):
    draws = random.Random(seed)
    return pa.table({
        name: pa.array([draws.choice([*pool(dtype, wild=True), *[None] * nulls]) for _ in range(rows)], dtype)
        for name, dtype in WRITTEN.items()
    })  # fmt: skip


def encodings(parquet, column):
    return parquet.metadata.row_group(0).column(column).encodings


@pytest.mark.parametrize("nulls", [0, 2])
@pytest.mark.parametrize("rows", [0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 512, 513, 1300])
def test_pyarrow_reads_rows_and_types_of_all_columns(tmp_path, rows, nulls):
    table = table_of(rows, nulls, seed=rows)
    parquet = written(table, tmp_path / "x.parquet")
    pq.write_table(table, tmp_path / "pyarrow.parquet")
    got, expected = parquet.read(), pq.read_table(tmp_path / "pyarrow.parquet")
    got.validate(full=True)
    assert got.schema.equals(expected.schema, check_metadata=True)
    assert str(got.to_pydict()) == str(expected.to_pydict())
