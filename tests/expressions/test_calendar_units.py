"""Units of date_diff, date_sub, date_trunc and date_part by DuckDB's other names."""

from datetime import date, datetime

import duckdb
import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, expr
from gpuetl.expressions.functions.timestamps import UNIT_NAMES

NAMES = [name for unit, names in UNIT_NAMES.items() for name in (unit, *names.split())]
A, B = "TIMESTAMP '1999-12-31 23:59:59.5'", "TIMESTAMP '2024-02-29 12:30:00.25'"


def test_each_name_is_that_of_duckdb(pipeline):
    rows = pa.table(
        {"a": [datetime(1999, 12, 31, 23, 59, 59, 500_000)], "b": [datetime(2024, 2, 29, 12, 30, 0, 250_000)]}
    )
    calls = {}
    for name in NAMES:
        if name not in ("week", *UNIT_NAMES["week"].split()):  # DuckDB's date_diff counts weeks that begin on Thursday
            calls[f"diff {name}"] = f"date_diff('{name.upper()}', a, b)"
        calls[f"sub {name}"] = f"date_sub('{name.title()}', a, b)"
        calls[f"trunc {name}"] = f"date_trunc('{name}', b)"
        calls[f"part {name}"] = f"date_part('{name}', b)"
    pipeline.from_frame("t", rows).select(**{name: expr(call) for name, call in calls.items()}).stage("s")
    found = pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow().to_pylist()[0]
    listed = ", ".join(f'{call} AS "{name}"' for name, call in calls.items())
    (expected,) = duckdb.sql(f"SELECT {listed} FROM (SELECT {A} AS a, {B} AS b)").to_arrow_table().to_pylist()
    midnights = {name: datetime(v.year, v.month, v.day) for name, v in expected.items() if type(v) is date}
    assert found == expected | midnights


@pytest.mark.parametrize("name", ["fortnight", "", "hourss"])
def test_a_text_that_names_no_unit_is_refused(pipeline, name):
    pipeline.from_frame("t", pa.table({"a": [date(2024, 1, 1)]})).select(n=expr(f"date_trunc('{name}', a)")).stage("s")
    with pytest.raises(InvalidPipeline, match=f"date_trunc takes one of .*, got '{name}'"):
        pipeline.plan()
