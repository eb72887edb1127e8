"""`incremental: {watermark: COLUMN}`: each run reads the rows beyond the last run's watermark, each row once."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, RunFailed, RunOptions, loads
from gpuetl.state.source_state import WatermarkState, source_state
from gpuetl.types.data_types import DATE, INT64, TIMESTAMP
from state.every_day import EveryDay, ids_in, rows, ts

LATE = "{watermark: ts, lateness: interval '2 hours'}"


@pytest.fixture(params=["parquet", "csv"])
def daily(request: pytest.FixtureRequest, tmp_path: Path, engine: str, layout: RunOptions) -> EveryDay:
    """A pipeline over rows beyond a watermark; files of one format state limits of values, those of the other do not."""
    return EveryDay(tmp_path, engine, request.param, LATE, layout)


@pytest.fixture
def one(tmp_path: Path) -> EveryDay:
    """The same on pandas, in Parquet."""
    return EveryDay(tmp_path, "pandas", incremental=LATE)


@pytest.mark.part(12)
def test_three_runs_read_each_row_once(daily: EveryDay) -> None:
    daily.arrives("a", rows([1, 2, 3], [ts(1, 7), ts(1, 10), ts(1, 8)]))
    report = daily.run()
    assert report.notes[:1] == (
        "source 'landing': rows with ts up to 2026-01-01 08:00:00; the newest is 2026-01-01 10:00:00",
    )
    assert daily.latest == [1, 3]
    daily.arrives("b", rows([4, 5, 6], [ts(1, 8, 30), ts(1, 12), None]))  # 4 is late, and in time
    report = daily.run()
    assert daily.latest == [2, 4]
    assert report.incremental[0].numbers == {
        "after": "2026-01-01T08:00:00", "upto": "2026-01-01T10:00:00", "newest": "2026-01-01T12:00:00", "nulls": 1,
        "late": 0, "rows": 2,
    }  # fmt: skip
    assert report.warnings == (
        "source 'landing': 1 row has no value in 'ts', and no run reads it.  Fill the column where the files are made",
    )
    daily.arrives("c", rows([7], [ts(1, 14)]))
    daily.run()
    assert daily.latest == [5]
    assert daily.ids == [1, 2, 3, 4, 5]  # 7 waits, and 6 has no time
    assert daily.state.sources["landing"] == {
        "kind": "watermark", "path": "landing", "column": "ts", "type": "timestamp", "value": "2026-01-01T12:00:00",
        "rows": 5,
    }  # fmt: skip


@pytest.mark.part(3)
def test_a_run_without_new_rows_changes_nothing(daily: EveryDay) -> None:
    daily.arrives("a", rows([1, 2], [ts(1, 7), ts(1, 10)]))
    daily.run()
    before = daily.store.files.read("state.json")
    report = daily.run()
    assert report.nothing_new
    wait = "the newest row has ts 2026-01-01 10:00:00, and rows of the last 2:00:00 wait"
    assert report.notes == (f"source 'landing': nothing new after 2026-01-01 08:00:00: {wait}",)
    daily.arrives("b", rows([3], [ts(1, 13)]))  # beyond the watermark lies no row but 2 and 3, and 2 is at 10:00
    daily.run()
    assert daily.latest == [2]
    daily.arrives("c", rows([4], [ts(1, 14)]))  # the watermark moves to 12:00, and there is no row to read
    report = daily.run()
    assert report.nothing_new
    nothing = "no row with ts after 2026-01-01 11:00:00, up to 2026-01-01 12:00:00; the newest is 2026-01-01 14:00:00"
    assert report.notes == (f"source 'landing': nothing new: {nothing}",)
    assert daily.ids == [1, 2]
    assert daily.store.files.read("state.json") != before
    assert daily.state.version == 2


def test_the_first_rows_all_wait(one: EveryDay) -> None:
    one.arrives("a", rows([1], [None]))
    report = one.run()
    assert report.nothing_new
    assert report.notes == ("source 'landing': nothing new: no row has a value in ts",)
    one.arrives("b", rows([], []))
    one.arrives("c", rows([2], [datetime(1, 1, 1, 1)]))
    assert one.run().nothing_new  # two hours before lies no day that there is


@pytest.mark.part(8)
def test_without_lateness_the_newest_row_is_read(daily: EveryDay) -> None:
    daily.incremental = "{watermark: ts}"
    daily.arrives("a", rows([1, 2], [ts(1, 7), ts(1, 10)]))
    daily.run()
    assert daily.latest == [1, 2]
    daily.arrives("b", rows([3, 4], [ts(1, 10), ts(1, 11)]))
    report = daily.run()
    assert daily.latest == [4]
    late = "1 row with ts up to 2026-01-01 10:00:00 came after a run had read these rows, and no run reads it"
    assert [warning.partition(".  ")[0] for warning in report.warnings] == [f"source 'landing': {late}"]


@pytest.mark.parametrize("late", ["warn", "ignore", "error"])
def test_rows_that_come_too_late(one: EveryDay, late: str) -> None:
    one.incremental = f"{{watermark: ts, late: {late}}}"
    one.arrives("a", rows([1], [ts(2)]))
    one.run()
    one.arrives("b", rows([2, 3, 4], [ts(1), ts(2), ts(3)]))
    if late == "error":
        with pytest.raises(RunFailed, match="2 rows with ts up to 2026-01-02 00:00:00 came after a run had read these"):
            one.run()
        assert one.ids == [1]
        return
    report = one.run()
    assert len(report.warnings) == (late == "warn")
    assert one.ids == [1, 4]
    one.arrives("c", rows([5], [ts(4)]))
    assert one.run().warnings == ()  # they are told once


def test_rows_that_are_gone(one: EveryDay) -> None:
    one.incremental = "{watermark: ts}"
    path = one.arrives("a", rows([1, 2], [ts(1), ts(1)]))
    one.arrives("b", rows([3], [ts(2)]))
    one.run()
    path.unlink()
    one.arrives("c", rows([4], [ts(3)]))
    what = "2 rows with ts up to 2026-01-02 00:00:00 are gone since the last run"
    assert [warning.partition(".  ")[0] for warning in one.run().warnings] == [f"source 'landing': {what}"]
    assert one.ids == [1, 2, 3, 4]


VALUES: dict[str, tuple[pa.DataType, list[Any], str]] = {
    "int64": (INT64, [5, 9, 7, 30], "3"),
    "int8": (pa.int8(), [-128, 9, 7, 30], "3"),
    "uint32": (pa.uint32(), [5, 9, 7, 4_000_000_000], "3"),
    "date": (DATE, [date(2026, 1, 1), date(2026, 1, 9), date(2026, 1, 7), date(2026, 2, 1)], "interval '3 days'"),
    "timestamp": (TIMESTAMP, [ts(1), ts(9), ts(7), ts(30)], "interval '3 days'"),
    "ms": (pa.timestamp("ms"), [ts(1), ts(9), ts(7), ts(30)], "interval '3 days'"),
    "ns": (pa.timestamp("ns"), [ts(1), ts(9), ts(7), ts(30)], "interval '3 days'"),
    "zone": (
        pa.timestamp("us", tz="Europe/Vienna"),
        [one.replace(tzinfo=UTC) for one in (ts(1), ts(9), ts(7), ts(30))],
        "interval '3 days'",
    ),
}


@pytest.mark.part(12)
@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("kind", VALUES)
def test_types_of_watermarks(tmp_path: Path, engine: str, kind: str, statistics: bool) -> None:
    dtype, values, lateness = VALUES[kind]
    (tmp_path / "in").mkdir()
    text = f"""\
gpuetl: 1
name: types
sources: {{s: {{parquet: in, incremental: {{watermark: w, lateness: {lateness}}}}}}}
sinks: {{out: {{from: s, parquet: out, mode: append}}}}
"""
    for first, last, read in ((0, 3, [0]), (3, 4, [0, 1, 2])):
        part = pa.table({"id": pa.array(range(first, last), INT64), "w": pa.array(values[first:last], dtype)})
        pq.write_table(part, tmp_path / f"in/{first}.parquet", write_statistics=statistics)
        loads(text, tmp_path).run(engine=engine)
        assert ids_in(tmp_path / "out") == read


def test_values_of_a_state_are_read_as_they_were_written() -> None:
    zone = pa.timestamp("us", tz="UTC")
    for dtype, value in (
        (INT64, 5),
        (DATE, date(2026, 1, 1)),
        (TIMESTAMP, ts(1, 7, 30)),
        (zone, ts(1).replace(tzinfo=UTC, microsecond=5)),
    ):
        state = WatermarkState("in", "w", dtype, value, 7)
        assert source_state(state.to_json()) == state


def test_a_watermark_in_the_names_of_folders(tmp_path: Path, engine: str) -> None:
    text = """\
gpuetl: 1
name: days
sources:
  s: {csv: in, schema: {id: int64}, partitions: {day: date}, incremental: {watermark: day, lateness: 1 day}}
sinks: {out: {from: s, parquet: out, mode: append}}
"""
    for day in (1, 2, 3):
        folder = tmp_path / f"in/day=2026-01-0{day}"
        folder.mkdir(parents=True)
        (folder / "a.csv").write_text(f"id\n{day}\n")
        report = loads(text, tmp_path).run(engine=engine).report
        assert report.nothing_new == (day == 1)
        assert ids_in(tmp_path / "out") == list(range(1, day))


def test_the_filter_of_the_source_comes_after_the_watermark(tmp_path: Path, engine: str) -> None:
    text = """\
gpuetl: 1
name: filtered
sources:
  s: {parquet: in, columns: [id], filter: "10 / (id - 1) > 0", incremental: {watermark: ts}}
sinks: {out: {from: s, parquet: out, mode: append}}
"""
    daily = EveryDay(tmp_path, engine)
    daily.arrives("a", rows([2, 3], [ts(1), ts(1)])).parent.rename(tmp_path / "in")
    loads(text, tmp_path).run(engine=engine)
    assert ids_in(tmp_path / "out") == [2, 3]
    assert pq.read_schema(next((tmp_path / "out").glob("*.parquet"))).names == ["id"]


def test_row_groups_of_earlier_runs_are_not_read(one: EveryDay) -> None:
    one.incremental = "{watermark: ts}"
    one.arrives("a", rows(range(10), [ts(1)] * 10))
    one.run()
    one.arrives("b", rows([10], [ts(2)]))
    report = one.run()
    (source,) = [stage for stage in report.stages if stage.kind == "source"]
    assert source.rows_out == 1
    assert source.skipped_rows == 10


def test_each_row_is_read_once_whatever_order_rows_come_in(one: EveryDay) -> None:
    random_rows, clock, expected = random.Random(5), ts(1), 0
    for day in range(12):
        count = random_rows.randint(0, 9)
        times = [clock - timedelta(minutes=random_rows.randint(0, 119)) for _ in range(count)]
        if count:
            one.arrives(f"{day}", rows(range(expected, expected + count), times), row_group_size=3)
            expected += count
        assert not [warning for warning in one.run().warnings if "came after" in warning]
        clock += timedelta(minutes=random_rows.randint(0, 90))
    one.arrives("end", rows([expected], [clock + timedelta(days=1)]))
    one.run()
    assert one.ids == list(range(expected))


def test_python_takes_the_same_keys(tmp_path: Path, engine: str) -> None:
    daily = EveryDay(tmp_path, engine)
    daily.arrives("a", rows([1, 2], [ts(1), ts(2)]))
    pipeline = Pipeline("every_day", root=tmp_path)
    keys = {"watermark": "ts", "lateness": timedelta(hours=3)}
    table = pipeline.read_parquet("landing", "landing", incremental=keys)  # type: ignore[arg-type]
    table.write_parquet("all", "out/all", mode="append")
    pipeline.run(engine=engine)
    assert daily.ids == [1]
    assert daily.state.sources["landing"]["value"] == "2026-01-01T21:00:00"
