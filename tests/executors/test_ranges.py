"""Sorts by ranges: partitions in order one after another, of rows that tie too, and of about the same size."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import RunOptions, col
from gpuetl.engines.registry import load_backend
from gpuetl.executors.local import LocalExecutor
from gpuetl.executors.runner import Runner, sampled_rows
from gpuetl.telemetry.recorder import Recorder
from gpuetl.testing import assert_tables_equal
from plans import lowered
from tables import INF, INT64_MAX, INT64_MIN, NAN, table, write_source

VALUES = {
    "int8": [3, None, -128, 127, 3],
    "int64": [INT64_MAX, None, INT64_MIN, 0, -1, 0],
    "uint64": [2**64 - 1, 0, None, 2**63, 1],
    "float32": [NAN, -0.0, None, INF, 0.0, -INF],
    "float64": [1.5, NAN, None, -0.0, 0.0, -INF, NAN],
    "bool": [True, None, False, True],
    "string": ["b", "", None, "é", "B", "\U0001f600", "\uffff", "b"],
    "date": [date.max, None, date.min, date(1970, 1, 1)],
    "timestamp": [datetime(1969, 12, 31), None, datetime(2262, 1, 1), datetime(1, 1, 1)],
    "duration": [timedelta(-1), None, timedelta(0), timedelta(9)],
    "decimal(9,2)": [Decimal("1.50"), None, Decimal("-1.50"), Decimal(0)],
    "decimal(38,2)": [Decimal(10) ** 35, None, -(Decimal(10) ** 35), Decimal("0.01")],
    "null": [None, None, None],
}
OPTIONS = RunOptions(partition_rows=2)


@pytest.fixture
def partitions(pipeline, local_engine):
    """Runs a table's steps in partitions of 2 rows, and returns the partitions that are gathered to be kept."""

    def run(steps, options=OPTIONS):
        name, backend = steps.named(), load_backend(local_engine)
        ranges = lowered(pipeline, options).kept[name].source
        executor = LocalExecutor(Runner(backend, Recorder()), [ranges])
        tables = [backend.to_arrow(frame) for frame in executor.partitions(ranges)]
        assert not executor.store.waiting
        assert not +executor.readers
        return tables

    return run


@pytest.mark.part(12)
@pytest.mark.parametrize("order", ["x", "x desc nulls first"])
def test_ranges_of_every_type_are_in_order_one_after_another(pipeline, source, partitions, order):
    """One partition says what the order is."""
    rows = 12
    columns = {name: (values * rows)[:rows] for name, values in VALUES.items()}
    types = {f"c{place}": name for place, name in enumerate(VALUES)} | {"row": "int64"}
    t = source(table(types, *zip(*columns.values(), range(rows), strict=True)))
    for name in types:
        keys = order.replace("x", name)
        steps = t.select(name, "row") if name != "row" else t.select("row")
        got = pa.concat_tables(partitions(steps.sort(keys)))
        run = steps.sort(keys).named()
        expected = pipeline.run(engine="pandas", keep=[run], options=RunOptions(optimize=False))[run].to_arrow()
        assert_tables_equal(got, expected, ordered=True, what=keys)


def test_several_keys_bound_ranges(source, partitions):
    """Rows that tie in the first key are told apart by the second, whose order is its own."""
    rows = [("a", 1), ("b", 2), ("a", None), ("b", 1), (None, 3), ("a", 2), ("b", None), ("a", 3)]
    got = partitions(source(table({"k": "string", "v": "int64"}, *rows)).sort("k desc", "v nulls first"))
    assert [[*zip(*part.to_pydict().values(), strict=True)] for part in got] == [
        [("b", None), ("b", 1)],
        [("b", 2), ("a", None)],
        [("a", 1), ("a", 2)],
        [("a", 3), (None, 3)],
    ]


def test_rows_that_all_tie_fill_all_partitions_and_keep_their_order(source, partitions):
    """Those of one partition are not told apart."""
    got = partitions(source(table({"x": "int64", "row": "int64"}, *((7, i) for i in range(6)))).sort("x"))
    assert [part["row"].to_pylist() for part in got] == [[0, 1], [2, 3], [4, 5]]


def test_what_is_sorted_twice_keeps_the_first_order_of_ties(source, partitions):
    """Ranges of ranges."""
    t = source(table({"a": "int64", "b": "int64"}, (1, 1), (0, 2), (1, 3), (0, 4), (1, 5), (1, 6)))
    got = partitions(t.sort("b desc").sort("a"))
    assert [part["b"].to_pylist() for part in got] == [[4, 2], [6, 5], [3, 1]]


def test_few_rows_of_large_partitions_are_one_range(source, partitions):
    """A filter may leave less than a boundary is worth; the other partitions are empty."""
    t = source(table({"x": "int64"}, *((100 - i,) for i in range(100))))
    got = partitions(t.filter(col("x") % 10 == 0).sort("x"), RunOptions(partition_rows=50))
    assert [part["x"].to_pylist() for part in got] == [[10, 20, 30, 40, 50], [60, 70, 80, 90, 100]]
    got = partitions(t.filter(col("x") > 98).sort("x"), RunOptions(partition_rows=50))
    assert [part["x"].to_pylist() for part in got] == [[99, 100], []]


def test_no_rows_are_sorted(source, partitions):
    """There is no boundary."""
    t = source(table({"x": "string", "y": "int64"}, ("a", 1), ("b", 2), ("c", 3)))
    got = partitions(t.filter(col("y") * col("y") < 0).sort("x"))
    assert sum(part.num_rows for part in got) == 0


def test_the_files_of_a_folder_are_in_order(pipeline, source, engine):
    """Read by their names, they are the sorted table."""
    source(table({"x": "int64"}, *((i * 7 % 10,) for i in range(10)))).sort("x").write_parquet("folder", "out")
    pipeline.run(engine=engine, options=OPTIONS)
    files = sorted((pipeline.root / "out").glob("*.parquet"))
    assert [pq.read_table(path)["x"].to_pylist() for path in files] == [[2 * i, 2 * i + 1] for i in range(5)]


def test_a_limit_of_ranges_leaves_the_rest_alone(pipeline, source):
    """Ranges that are not asked for are not sorted, and let go."""
    ordered = source(table({"x": "int64"}, *((9 - i,) for i in range(10)))).sort("x").with_columns(y=col("x") * 2)
    ordered.filter(col("y") >= 0).limit(3).stage("first")
    physical = lowered(pipeline, OPTIONS)
    runner = Runner(load_backend("pandas"), Recorder())
    executor = LocalExecutor(runner, physical.roots)
    (frame,) = executor.partitions(physical.kept["first"])
    assert frame["x"].to_pylist() == [0, 1, 2]
    assert not executor.store.waiting
    assert not +executor.readers
    assert [work.partitions for work in runner.recorder.work.values() if work.name == "Sort"] == [2]


def test_ranges_of_a_sample_are_of_about_the_same_size(pipeline, partitions):
    """Also of rows that are in order already; of those that tie, the ones of a partition stay together."""
    x = np.random.default_rng(1).permutation(40_000)
    texts = [f"{number:06}" for number in x.tolist()]
    rows = pa.table({"x": x, "sorted": np.sort(x), "saw": np.arange(40_000) % 4, "text": texts})
    t = write_source(pipeline, "t", rows, row_group_size=10_000)
    for name, most in (("x", 10_500), ("sorted", 10_500), ("saw", 12_500), ("text", 10_500)):
        sizes = [part.num_rows for part in partitions(t.sort(name), RunOptions(partition_rows=10_000))]
        assert sum(sizes) == 40_000
        assert len(sizes) == 4
        assert max(sizes) <= most


def test_one_row_of_each_so_many_is_sampled():
    """Each from its own stretch; of the last one, which is cut off, perhaps none."""
    for rows in (0, 1, 99, 100, 1000, 12345):
        sample = sampled_rows(rows, 100)
        assert (sample // 100).tolist() == list(range(len(sample)))
        assert rows // 100 <= len(sample) <= rows // 100 + 1
    assert sampled_rows(4, 1).tolist() == [0, 1, 2, 3]
    assert len(set((sampled_rows(10_000, 100) % 100).tolist())) > 50


@pytest.mark.parametrize("name", [":partition", "partition:0"])
def test_a_key_of_any_name_is_sorted_by_ranges(pipeline, source, engine, name):
    """Boundaries have a column beside the keys, of a name that none of them has."""
    source(table({name: "int64"}, (3,), (1,), (6,), (2,), (5,), (4,))).sort(name).stage("s")
    rows = pipeline.run(engine=engine, options=OPTIONS)["s"].to_arrow()
    assert rows[name].to_pylist() == [1, 2, 3, 4, 5, 6]
