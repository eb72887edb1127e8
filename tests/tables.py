"""Literal tables for tests."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl import Pipeline, Table
from gpuetl.types.data_types import parse_type

NAN, INF = float("nan"), float("inf")
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
ROW_GROUP_ROWS = 2


def table(types: Mapping[str, str], *rows: tuple[Any, ...]) -> pa.Table:
    """Return an Arrow table of columns with the language's types, from its rows."""
    columns = {
        name: pa.array([row[i] for row in rows], parse_type(dtype) if dtype != "null" else pa.null())
        for i, (name, dtype) in enumerate(types.items())
    }
    return pa.table(columns)


def write_source(pipeline: Pipeline, name: str, rows: pa.Table, row_group_size: int = ROW_GROUP_ROWS) -> Table:
    """Write rows as `name`.parquet below the pipeline's folder, and declare them as a source of that name."""
    pq.write_table(rows, pipeline.root / f"{name}.parquet", row_group_size=row_group_size)
    return pipeline.read_parquet(name, f"{name}.parquet")
