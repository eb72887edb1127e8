"""What lies behind a null is nobody's concern: it is what a step before left there, or what a frame of pandas has."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fuzz.data import TYPES
from gpu_engine.differential import casts, expressions
from gpuetl import expr
from gpuetl.engines.pandas.expressions.evaluate import NoResult, evaluate_column
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.unparse import to_sql
from gpuetl.types.nested_types import is_list
from tables import write_source

pytestmark = pytest.mark.slow

EXTREMES = {"greatest": (0xFF, 0x7F), "least": (0, 0x80), "all bits": (0xFF, 0xFF)}
"""Of a signed integer: its bytes, and the last of them."""
SLICE = 6
"""Rows at a time: where one has no result, the others are not looked at."""


def with_hidden(column, low, high):
    """Return a column of fixed width with these bytes behind its nulls; another as it is."""
    if not (pa.types.is_primitive(column.type) or pa.types.is_decimal(column.type)) or column.type == pa.bool_():
        return column
    width = column.type.bit_width // 8
    data = np.frombuffer(column.buffers()[1], np.uint8)[: len(column) * width].reshape(-1, width).copy()
    data[np.asarray(column.is_null())] = [low] * (width - 1) + [high]
    return pa.Array.from_buffers(column.type, len(column), [column.buffers()[0], pa.py_buffer(data)])


def answer(call, rows):
    """Return the values as text, so that NaN equals itself, or the row that has none."""
    try:
        return str(evaluate_column(call, rows))
    except NoResult as failed:
        return failed.row


def slices(rows, size):
    """Return the rows in tables of their own, of so many rows."""
    lists = rows.to_pydict()
    for start in range(0, rows.num_rows, size):
        yield {n: pa.array(values[start : start + size], rows.schema.field(n).type) for n, values in lists.items()}


def check(call, rows):
    """A call must be the same whatever lies behind nulls."""
    if not rows.num_columns:
        return  # as of pi()
    size = SLICE if isinstance(answer(call, rows), int | None) else rows.num_rows
    for columns in slices(rows, size):
        expected = answer(call, pa.table({n: with_hidden(column, 0, 0) for n, column in columns.items()}))
        for what, (low, high) in EXTREMES.items():
            found = answer(call, pa.table({n: with_hidden(column, low, high) for n, column in columns.items()}))
            assert found == expected, f"{to_sql(call)} with {what} behind nulls, of {columns}"


@pytest.mark.part(12)
@pytest.mark.parametrize(
    "seed",
    [0, pytest.param(1, marks=pytest.mark.full(reason="functions of more types over what is behind nulls"))],
    ids=["", "more types"],
)
@pytest.mark.parametrize("name", [name for kind, name in FUNCTIONS if kind == "scalar"])
def test_no_function_looks_behind_nulls(name, seed):
    for call, rows in expressions(name, most=2, seed=seed, wild=False):
        check(call, rows)


@pytest.mark.part(10)
@pytest.mark.parametrize("source", [dtype for dtype in TYPES.values() if not is_list(dtype)], ids=str)
def test_no_cast_looks_behind_nulls(source):
    for lenient in (False, True):
        for call, rows in casts(source, list(TYPES.values()), lenient, wild=False):
            check(call, rows)


def test_times_of_pandas_that_are_none_have_no_overflow(pipeline, engine, layout):
    """NaT is the least integer: a day less than that is none."""
    times = pd.DataFrame({"t": [pd.Timestamp(2024, 1, 2), pd.NaT], "d": [pd.Timedelta(hours=1), pd.NaT]})
    day_less = {"t": expr("t - interval '1 day'"), "d": expr("d - interval '1 day'"), "twice": expr("d + d")}
    pipeline.from_frame("times", times).with_columns(**day_less).stage("result")
    rows = pipeline.run(engine=engine, keep=["result"], options=layout)["result"].to_arrow()
    hours = [timedelta(hours=-23), timedelta(hours=2)]
    assert rows.to_pylist() == [
        {"t": datetime(2024, 1, 1), "d": hours[0], "twice": hours[1]},
        {"t": None, "d": None, "twice": None},
    ]


def test_what_a_window_finds_nothing_for_has_no_overflow(pipeline, engine, layout):
    """The least of nothing is the greatest integer, and null."""
    hours = pa.array([None, None, timedelta(hours=1)], pa.duration("us"))
    rows = write_source(pipeline, "t", pa.table({"t": [1, 2, 3], "d": hours}))
    least = rows.window(order_by="t", least=expr("rolling_min(d, 2)"), most=expr("rolling_max(d, 2)"))
    sums = least.select("t", more=expr("least + interval '1 hour'"), less=expr("most - interval '1 hour'"))
    sums.stage("result")
    rows = pipeline.run(engine=engine, keep=["result"], options=layout)["result"].to_arrow()
    assert rows.sort_by("t").to_pylist() == [
        {"t": 1, "more": None, "less": None},
        {"t": 2, "more": None, "less": None},
        {"t": 3, "more": timedelta(hours=2), "less": timedelta(0)},
    ]
