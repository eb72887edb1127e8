"""Columns that nobody computes with pass through every step and file, whatever their types."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import col, count, expr, row_number
from gpuetl.testing import assert_tables_equal
from tables import table, write_source

STRUCT = pa.struct([("a", pa.int64()), ("b", pa.string())])
DEEP = pa.struct([("s", STRUCT), ("l", pa.list_(pa.int64()))])
COLUMNS = {
    "struct": (STRUCT, [{"a": 1, "b": "x"}, None, {"a": None, "b": None}, {"a": 4, "b": ""}, {"a": 5, "b": "y"}]),
    "deep": (DEEP, [None, {"s": None, "l": []}, {"s": {"a": 1, "b": None}, "l": [1, None]}, {"s": None, "l": None}, None]),
    "structs": (pa.list_(STRUCT), [[{"a": 1, "b": "x"}, None], [], None, [{"a": 2, "b": "y"}], [None]]),
    "lists": (pa.list_(pa.list_(pa.int64())), [[[1], [], None], None, [], [[2, None]], [None]]),
    "strings": (pa.list_(pa.list_(pa.string())), [[["a"], None], None, [["", "bc"]], [], [[None]]]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("k", 1)], None, [], [("a", None), ("k", 2)], [("z", 3)]]),
    "deep_map": (pa.map_(pa.string(), STRUCT), [[("k", {"a": 1, "b": "x"})], None, [], [("a", None)], []]),
    "binary": (pa.binary(), [b"\xff\x00", None, b"", b"abc", b"\x80"]),
    "uuid": (pa.binary(16), [bytes(range(16)), None, b"\xff" * 16, b"\0" * 16, bytes(range(16))]),
    "three": (pa.binary(3), [b"abc", None, b"\0\0\0", b"\xff\xfe\xfd", b"xyz"]),
    "time": (pa.time64("us"), [dt.time(1), None, dt.time(23, 59, 59, 999999), dt.time(0), dt.time(12, 30)]),
    "wide": (pa.decimal256(50, 2), [Decimal("1.25"), None, Decimal("-" + "9" * 48 + ".99"), Decimal("0.00"), Decimal(7)]),
    "flags": (pa.list_(pa.bool_()), [[True, None], None, [], [False], [True, True]]),
}  # fmt: skip
NAMES = list(COLUMNS)


def rows_of(names):
    columns = {name: pa.array(COLUMNS[name][1], COLUMNS[name][0]) for name in names}
    return pa.table({"k": pa.array([3, 1, 2, None, 1], pa.int64()), **columns})


EVERY = rows_of(NAMES)


def picked(*rows, of=EVERY):
    return of.take(pa.array(rows, pa.int64()))


@pytest.mark.part(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_each_type_is_read_filtered_and_sorted(source, check, name):
    t = source(rows_of([name]))
    wanted = picked(1, 4, 0, of=rows_of([name]))
    check(t.filter(expr("k <> 2")).sort("k"), wanted, ordered=True)


def test_filter_that_keeps_all_or_none(source, check):
    t = source(EVERY)
    check(t.filter(expr("k > 0 OR k IS NULL")), EVERY)
    check(t.filter(expr("k > 9")), EVERY.slice(0, 0))


def test_limit(source, check):
    check(source(EVERY).sort("k desc").limit(2), picked(0, 2), ordered=True)


def test_join_passes_values_of_both_sides_and_nulls_where_there_is_no_partner(source, check):
    t, other = source(EVERY), source(table({"k": "int64", "n": "int64"}, (1, 10), (9, 90)), "other")
    joined = picked(1, 4).append_column("n", pa.array([10, 10]))
    check(t.join(other, on="k"), joined)
    missing = pa.table({"k": pa.array([9]), **{n: pa.nulls(1, COLUMNS[n][0]) for n in NAMES}, "n": pa.array([90])})
    check(t.join(other, on="k", how="right"), pa.concat_tables([joined, missing]))


def test_union_puts_them_below_each_other(source, check):
    t, other = source(EVERY), source(picked(1, 0), "other")
    check(t.union(other), pa.concat_tables([EVERY, picked(1, 0)]))
    only = source(table({"k": "int64"}, (7,)), "only")
    nulls = pa.table({"k": pa.array([7]), **{n: pa.nulls(1, COLUMNS[n][0]) for n in NAMES}})
    check(t.union(only, missing="null"), pa.concat_tables([EVERY, nulls]))


def test_distinct_by_another_column_keeps_a_row_of_each(source, check):
    kept = source(EVERY).distinct("k", keep="first", order_by="time")
    check(kept, picked(0, 2, 3, 4))


def test_a_window_step_passes_them(source, check):
    t = source(EVERY).window(by="k", order_by="time", n=row_number())
    check(t, EVERY.append_column("n", pa.array([1, 2, 1, 1, 1])))


@pytest.mark.part(8)
@pytest.mark.parametrize("name", NAMES)
def test_nulls_are_found_counted_and_replaced(source, check, name):
    t = source(rows_of([name]))
    values = COLUMNS[name][1]
    expected = pa.table({"is_null": pa.array([value is None for value in values])})
    check(t.select(is_null=col(name).is_null()), expected)
    check(t.aggregate(n=count(col(name))), table({"n": "int64"}, (sum(value is not None for value in values),)))
    chosen = pa.table({"x": pa.array([values[0], None, values[2], None, None], COLUMNS[name][0])})
    check(t.select(x=expr(f"CASE WHEN k = 3 OR k = 2 THEN {name} END")), chosen)
    both = pa.table({"x": pa.array(values, COLUMNS[name][0])})
    check(t.select(x=expr(f"coalesce(CASE WHEN k = 1 THEN {name} END, {name})")), both)


@pytest.mark.usefixtures("encoded_on_device")
def test_sinks_write_what_was_read(pipeline, engine, layout, tmp_path):
    t = write_source(pipeline, "t", EVERY)
    t.write_parquet("out", "out.parquet", mode="overwrite")
    pipeline.run(engine=engine, options=layout)
    written = pq.read_table(tmp_path / "out.parquet" if (tmp_path / "out.parquet").exists() else tmp_path / "out")
    uuids, place = written["uuid"], written.column_names.index("uuid")
    assert uuids.type == pa.uuid()
    written = written.set_column(place, "uuid", pa.chunked_array([chunk.storage for chunk in uuids.chunks]))
    assert written.sort_by("k").num_rows == EVERY.num_rows
    order = [1, 4, 2, 0, 3]
    got = written.take(pa.array(sorted(range(5), key=lambda i: (written["k"][i].as_py() or 9, i))))
    assert got.select(NAMES).to_pylist() == picked(*order).select(NAMES).to_pylist()
    assert written.schema.types == EVERY.schema.types


def test_frames_in_memory(pipeline, answer):
    assert_tables_equal(answer(pipeline.from_frame("t", EVERY).filter(expr("k > 1"))), picked(0, 2))
