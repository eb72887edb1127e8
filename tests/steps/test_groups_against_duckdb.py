"""Aggregates and windows of random rows, against DuckDB where it means the same."""

import numpy as np
import pyarrow as pa
import pytest

from gpuetl import RunOptions, expr
from gpuetl.testing import Tolerance, assert_tables_equal
from tables import write_source

duckdb = pytest.importorskip("duckdb")

AGGREGATES = {
    "q1": ("quantile(x, 0.1)", "quantile_cont(x, 0.1)"),
    "q9": ("quantile(i, 0.9)", "quantile_cont(i::double, 0.9)"),
    "med": ("median(x)", "median(x)"),
    "f": ("first(i)", "first(i ORDER BY t, id)"),
    "l": ("last(x)", "last(x ORDER BY t, id)"),
    "fi": ("first(i, ignore_nulls => true)", "first(i ORDER BY t, id) FILTER (WHERE i IS NOT NULL)"),
    "ff": ("last(i) FILTER (WHERE x > 0)", "last(i ORDER BY t, id) FILTER (WHERE x > 0)"),
    "lo": ("min_by(id, x) FILTER (WHERE id > 20)", "first(id ORDER BY x, id) FILTER (WHERE id > 20 AND x IS NOT NULL)"),
    "hi": ("max_by(id, x)", "first(id ORDER BY x DESC, id) FILTER (WHERE x IS NOT NULL)"),
    "cs": ("covar_samp(x, y)", "covar_samp(x, y)"),
    "cp": ("covar_pop(x, y)", "covar_pop(x, y)"),
    "r": ("corr(x, y)", "CASE WHEN count(*) FILTER (WHERE x IS NOT NULL AND y IS NOT NULL) > 1 THEN corr(x, y) END"),
    "vp": ("var_pop(x)", "var_pop(x)"),
    "sd": ("std(i)", "stddev_samp(i)"),
    "n": ("count_if(x > y)", "count_if(x > y)"),
    "s": ("sum(x)", "sum(x)"),
    "mx": ("max(y) - min(y)", "max(y) - min(y)"),
}
WINDOWS = {
    "a": ("rank()", "rank() OVER w"),
    "b": ("dense_rank()", "dense_rank() OVER w"),
    "c": ("percent_rank()", "percent_rank() OVER w"),
    "d": ("cume_dist()", "cume_dist() OVER w"),
}
UNTIED = {
    "e": ("ntile(4)", "ntile(4) OVER u"),
    "f": ("lag(i, 2, -1)", "lag(i, 2, -1) OVER u"),
    "g": ("lag(i IGNORE NULLS)", "lag(i IGNORE NULLS) OVER u"),
    "h": ("lead(x, 2, 0.5, true)", "lead(x, 2, 0.5 IGNORE NULLS) OVER u"),
    "j": ("first(i, ignore_nulls => true)", "first_value(i IGNORE NULLS) OVER (u ROWS BETWEEN UNBOUNDED PRECEDING AND "
          "UNBOUNDED FOLLOWING)"),
    "k2": ("last(x)", "last_value(x) OVER (u ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"),
    "l": ("bfill(i)", "first_value(i IGNORE NULLS) OVER (u ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"),
    "m": ("ffill(x)", "last_value(x IGNORE NULLS) OVER (u ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"),
    "v": ("rolling_var(x, 3)", "var_samp(x) OVER (u ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"),
}  # fmt: skip


def random_rows(seed, count=200):
    """Rows of a few groups, with nulls, ties and small numbers."""
    rng = np.random.default_rng(seed)

    def column(values, dtype):
        return pa.array(values, dtype, mask=rng.random(count) < 0.2)

    return pa.table({
        "id": pa.array(np.arange(count)), "k": column(rng.integers(0, 12, count), pa.int64()),
        "t": column(rng.integers(0, 9, count), pa.int64()), "i": column(rng.integers(-5, 5, count), pa.int64()),
        "x": column(rng.integers(-50, 50, count) / 8, pa.float64()), "y": column(rng.normal(size=count), pa.float64()),
    })  # fmt: skip


def selected(calls):
    return ", ".join(f"{sql} AS {name}" for name, (_, sql) in calls.items())


def answers(pipeline, steps, rows, query):
    """Return our answer, in partitions of 20 rows or one, and DuckDB's as the same types."""
    name = steps.named()
    for size in (20, 10**6):
        got = pipeline.run(engine="pandas", keep=[name], options=RunOptions(partition_rows=size))[name].to_arrow()
        connection = duckdb.connect()
        connection.register("t", rows)
        yield got, connection.sql(query).to_arrow_table().cast(got.schema)


@pytest.mark.part(2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", [(), ("k",)])
def test_aggregates(pipeline, seed, by):
    rows = random_rows(seed)
    calls = {name: expr(ours) for name, (ours, _) in AGGREGATES.items()}
    steps = write_source(pipeline, "t", rows, 10).aggregate(by, ["t", "id"], **calls)
    query = f"SELECT {'k,' * bool(by)} {selected(AGGREGATES)} FROM t {'GROUP BY k' * bool(by)}"
    for got, expected in answers(pipeline, steps, rows, query):
        assert_tables_equal(got, expected, tolerance=Tolerance(1e-9, 1e-9))


@pytest.mark.part(2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("direction", ["", " desc"])
def test_windows(pipeline, seed, direction):
    rows = random_rows(seed)
    t = write_source(pipeline, "t", rows, 10)
    steps = t.window("k", f"t{direction}", **{name: expr(ours) for name, (ours, _) in WINDOWS.items()})
    steps = steps.window("k", [f"t{direction}", "id"], **{name: expr(ours) for name, (ours, _) in UNTIED.items()})
    order = f"PARTITION BY k ORDER BY t{direction} NULLS LAST"
    query = f"SELECT *, {selected(WINDOWS | UNTIED)} FROM t WINDOW w AS ({order}), u AS ({order}, id)"
    for got, expected in answers(pipeline, steps, rows, query):
        assert_tables_equal(got, expected, tolerance=Tolerance(1e-9, 1e-9))
