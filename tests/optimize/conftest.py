"""Sources for plans."""

from datetime import date, datetime
from pathlib import Path

import pytest

from gpuetl import Pipeline, Table
from tables import table, write_source

T = {"k": "int64", "x": "int64", "s": "string"}
U = {"k": "int64", "y": "int64", "w": "int64"}


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    """Sources t and u of a few rows, with keys that match, repeat and miss, and nulls."""
    pipeline = Pipeline("test", root=tmp_path)
    write_source(
        pipeline,
        "t",
        table(T, (1, 1, "a"), (2, None, "2"), (None, 3, "b"), (1, 4, None), (3, 5, "5"), (2, 6, "6")),
    )
    write_source(pipeline, "u", table(U, (1, 10, 1), (2, None, 2), (4, 30, None), (None, 40, 4)))
    times = {"d": "date", "ts": "timestamp", "k": "int64"}
    write_source(pipeline, "v", table(times, *((date(2024, 1, d), datetime(2024, 1, d), d) for d in range(1, 7))))
    return pipeline


@pytest.fixture
def t(pipeline: Pipeline) -> Table:
    return pipeline.table("t")


@pytest.fixture
def u(pipeline: Pipeline) -> Table:
    return pipeline.table("u")
