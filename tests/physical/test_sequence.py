"""Sources whose partitions follow each other in an order: they are sorted where they are."""

from datetime import date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import RunOptions, col, expr
from gpuetl.run import planning
from gpuetl.testing import assert_same, assert_tables_equal
from plans import kept_plan, lowered, physical_lines
from tables import table, write_source

SORTED = ["Read [3]", "Sort [3]", "gather [1]"]
TYPES = {"int64": lambda i: i, "date": lambda i: date(1969, 12, 26 + i), "string": lambda i: f"{i}",
         "timestamp": lambda i: datetime(2020, 1, 1, i), "bool": lambda i: i > 2}  # fmt: skip


def lines(steps):
    steps.stage(steps.pipeline.unused_name("s"))
    return physical_lines(lowered(steps.pipeline))


@pytest.fixture
def ascending(source):
    """Three partitions of 2 rows, each of which begins where the one before it ends; b repeats across them."""
    return source(
        table(
            {"a": "int64", "b": "int64", "f": "float64"},
            *zip((1, 0, 3, 2, 5, 4), (0, 1, 1, 1, 1, 2), range(6), strict=True),
        )
    )


@pytest.mark.part(6)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_partitions_that_follow_each_other_are_sorted_where_they_are(source, pipeline, engine, dtype, descending):
    """Of all types whose statistics bound every value."""
    values = [TYPES[dtype](i) for i in ((4, 5, 2, 3, 0, 1) if descending else (1, 0, 3, 2, 5, 4))]
    steps = source(table({"x": dtype, "row": "int64"}, *zip(values, range(6), strict=True)))
    steps = steps.sort("x desc" if descending else "x")
    assert lines(steps) == SORTED
    (rows,) = assert_same(pipeline, engine, ordered=True).values()
    assert rows["x"].to_pylist() == sorted(values, reverse=descending)


@pytest.mark.parametrize(
    ("order", "stays"),
    [
        (["a"], True),
        (["a", "f desc"], True),
        (["b"], True),  # rows that tie are in the order of the input
        (["b", "a"], False),  # rows that tie in b are told apart by a, also in different partitions
        (["a desc"], False),
        (["f"], False),  # NaN is not in the statistics
    ],
)
def test_the_first_key_must_ascend_from_partition_to_partition(ascending, order, stays):
    """Strictly, unless it is the only one."""
    assert (lines(ascending.sort(*order)) == SORTED) is stays


@pytest.mark.parametrize("rows", [[1, 2, 2, 3, None, 4], [1, 2, 2, 9, 4, 5], [None] * 6])
def test_nulls_and_ranges_that_overlap_are_exchanged(source, rows):
    """Where a null belongs depends on the order, and statistics do not say which row it is."""
    assert "range x [3]" in lines(source(table({"x": "int64"}, *((x,) for x in rows))).sort("x"))


def test_filters_and_names_do_not_change_the_sequence(ascending):
    """What computes the key does."""
    kept = ascending.filter(col("f") >= 0).rename({"a": "z"}).filter(col("z") < 9)
    assert lines(kept.sort("z"))[-2:] == ["Sort [3]", "gather [1]"]
    assert "range z [3]" in lines(kept.with_columns(z=-col("z")).sort("z"))


def test_the_first_rows_of_a_sequence_are_in_its_first_partitions(ascending, pipeline):
    """The others are not read."""
    steps = ascending.sort("a").limit(2)
    assert lines(steps) == ["Read [3]", "Sort [3]", "Limit [3]", "gather [1]", "Limit [1]"]
    run = pipeline.run(engine="pandas", options=RunOptions(partition_rows=2))
    assert [work.rows_in for work in run.report.stages if work.kind == "source"] == [2]
    assert run["s_1"].to_arrow()["a"].to_pylist() == [0, 1]


def test_a_window_over_a_sequence_does_not_sort_again(ascending, pipeline):
    """Sorted partitions that follow each other are in order when they are gathered."""
    steps = ascending.sort("a").window((), "a", n=expr("cum_sum(a)"))
    assert lines(steps) == ["Read [3]", "Sort [3]", "gather [1]", "Window [1]"]
    assert assert_same(pipeline, ordered=True)["s_1"]["n"].to_pylist() == [0, 1, 3, 6, 10, 15]


def test_a_sort_without_an_exchange_is_explained(ascending, pipeline):
    """The plan says why there is none."""
    ascending.sort("a").stage("s")
    text = pipeline.explain(options=RunOptions(partition_rows=2))
    assert "    Sort by a; partitions follow each other  ~6 rows\n      Read t" in text


def test_partition_columns_are_in_sequence(pipeline):
    """A folder by day, read by its names."""
    for day in (1, 2, 3):
        folder = pipeline.root / "t" / f"day={day}"
        folder.mkdir(parents=True)
        pq.write_table(table({"x": "int64"}, (9 - day,), (day,)), folder / "x.parquet")
    steps = pipeline.read_parquet("all", "t", partitions={"day": "int32"}).sort("day", "x")
    assert lines(steps) == SORTED


def test_durations_of_files_in_different_units_are_compared_as_durations(pipeline):
    """Of 5 s in milliseconds and 7 ms in microseconds the statistics have 5000 and 7000."""
    for name, unit, value in (("a", "ms", 5000), ("b", "us", 7000)):
        write_source(pipeline, name, pa.table({"x": pa.array([value], pa.duration(unit))}))
    pipeline.read_parquet("all", "*.parquet").sort("x").stage("s")
    run = pipeline.run(engine="pandas", options=RunOptions(partition_rows=1))
    assert run["s"].to_arrow()["x"].to_pylist() == [timedelta(milliseconds=7), timedelta(seconds=5)]


def test_empty_partitions_are_in_any_sequence(pipeline):
    """They have no values that could stand in the way."""
    for name, rows in (("a", [1]), ("b", []), ("c", [2])):
        write_source(pipeline, name, pa.table({"x": pa.array(rows, pa.int64())}))
    steps = pipeline.read_parquet("all", "*.parquet").sort("x")
    steps.stage("s")
    options = RunOptions(partition_rows=1)
    assert physical_lines(lowered(pipeline, options))[-2:] == ["Sort [2]", "gather [1]"]
    got = pipeline.run(engine="pandas", keep=["s"], options=options)["s"].to_arrow()
    assert_tables_equal(got, table({"x": "int64"}, (1,), (2,)), ordered=True)


def by_key(steps, *skipped):
    """Return the exchanges by hash of the lowered plan; few groups, which are gathered by default, meet by key, too."""
    steps.stage(steps.pipeline.unused_name("s"))
    stages = steps.pipeline.plan().last_stages()
    options = RunOptions(partition_rows=2, skip_passes=("gather_groups", *skipped))
    plan = planning.lowered(kept_plan(steps.pipeline, stages[-1]), options, "pandas")[0]
    return [line for line in physical_lines(plan) if line.startswith("hash")]


@pytest.fixture
def by_day(pipeline):
    """Three days, a partition each, not in their order; in each a and b."""
    days = [date(2024, 1, day) for day in (2, 3, 1) for _ in range(2)]
    rows = table({"day": "date", "k": "string", "x": "int64"}, *zip(days, "ab" * 3, range(6), strict=True))
    return write_source(pipeline, "days", rows)


@pytest.mark.part(5)
@pytest.mark.parametrize(
    ("steps", "exchanged"),
    [
        (lambda t: t.aggregate(["day", "k"], n=expr("median(x)")), []),
        (lambda t: t.aggregate("k", n=expr("median(x)")), ["hash k [3]"]),
        (lambda t: t.window("day", "x desc", n=expr("row_number()")), []),
        (lambda t: t.distinct("day"), []),
        (lambda t: t.rename({"day": "d"}).aggregate("d", n=expr("count(*)")).window("d", "n", r=expr("rank()")), []),
        (lambda t: t.with_columns(day=expr("day")).filter(expr("x <> 2")).aggregate("day", n=expr("count(*)")), []),
        (lambda t: t.with_columns(day=expr("DATE '2024-01-01'")).distinct("day"), ["hash day [3]"]),
    ],
)
def test_rows_whose_keys_are_apart_are_not_exchanged(by_day, pipeline, engine, steps, exchanged):
    """Folders by day are so; the choice has a name."""
    found = steps(by_day)
    assert by_key(found) == exchanged
    assert by_key(found, "keys_apart")
    assert_same(pipeline, engine)


def test_a_key_in_two_partitions_or_a_null_one_is_exchanged(source):
    """And so are floats, whose NaN and -0.0 footers do not tell."""
    shared = source(table({"k": "int64"}, (1,), (2,), (2,), (3,)), "shared")
    null = source(table({"k": "int64"}, (1,), (2,), (None,), (3,)), "null")
    floats = source(table({"k": "float64"}, (1.0,), (2.0,), (4.0,), (3.0,)), "floats")
    assert [by_key(steps.distinct("k")) for steps in (shared, null, floats)] == [["hash k [2]"]] * 3


def test_folders_by_value_are_apart(pipeline):
    """By the values in their names."""
    for month in (1, 2, 3):
        folder = pipeline.root / "t" / f"month={month}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"x": [month, None]}), folder / "rows.parquet")
    months = pipeline.read_parquet("t", "t/*/*.parquet", partitions={"month": "int32"})
    assert by_key(months.aggregate("month", n=expr("median(x)"))) == []
    assert_same(pipeline)
