"""fill_gaps: the rows that are missing on an even grid of times, dates or numbers."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, RunFailed, col, expr, lit, load
from gpuetl.testing import assert_tables_equal
from tables import table, write_source

TYPES = {"k": "string", "t": "timestamp", "x": "int64", "s": "string"}


def at(hour, minute=0, day=1):
    return datetime(2026, 1, day, hour, minute)


ROWS = [
    ("b", at(9, 45), 5, "w"),
    ("a", at(10), 1, "x"),
    ("a", at(10, 40), 2, None),
    (None, at(8), None, "n"),
    ("a", None, 7, "null"),
    ("a", at(10, 44), 3, "y"),
    ("a", at(11, 1), 4, "z"),
    (None, at(8, 31), 6, "m"),
]
A, NONE = (
    [
        ("a", at(10), 1, "x"),
        ("a", at(10, 15), None, None),
        ("a", at(10, 40), 2, None),
        ("a", at(10, 44), 3, "y"),
        ("a", at(10, 45), None, None),
        ("a", at(11, 1), 4, "z"),
        ("a", None, 7, "null"),
    ],
    [(None, at(8), None, "n"), (None, at(8, 15), None, None), (None, at(8, 31), 6, "m")],
)


@pytest.fixture
def t(pipeline):
    return write_source(pipeline, "t", table(TYPES, *ROWS))


def test_groups_get_rows_for_points_without_rows(t, check):
    """A point has a row if one lies between it and the next point; rows stay as they are."""
    check(t.fill_gaps("t", "15 minutes", by="k"), table(TYPES, *A, ROWS[0], *NONE))


def test_bounds_hold_for_every_group(t, check):
    """Rows are made from `start` on and before `before`, and nowhere else; groups of nulls are one."""
    filled = t.filter(col("t").is_not_null()).fill_gaps(
        "t", timedelta(minutes=20), by="k", start=at(9, 50), before=lit(at(10, 59)), mark="made"
    )
    made = [("a", at(10, 20)), ("b", at(10)), ("b", at(10, 20)), ("b", at(10, 40)),
            (None, at(10)), (None, at(10, 20)), (None, at(10, 40))]  # fmt: skip
    expected = [(*row, False) for row in ROWS if row[1]] + [(k, time, None, None, True) for k, time in made]
    check(filled, table({**TYPES, "made": "bool"}, *expected))


GRIDS = [
    ("date", {"every": "1 day"}, [date(2026, 2, 27), date(2026, 3, 2)], [date(2026, 2, 28), date(2026, 3, 1)]),
    ("date", {"every": "1 week", "origin": date(2026, 1, 5)}, [date(2025, 12, 30), date(2026, 1, 13)], [date(2026, 1, 5)]),
    ("date", {"every": "1 week"}, [date(2025, 12, 30), date(2026, 1, 13)], [date(2026, 1, 5)]),
    ("date", {"every": "7 months"}, [date(1999, 1, 15), date(2000, 2, 2)], [date(1999, 6, 1)]),
    ("timestamp", {"every": "1 week"}, [datetime(2026, 1, 5, 1), datetime(2026, 1, 20)], [datetime(2026, 1, 12)]),
    ("date", {"every": "1 month"}, [date(1969, 11, 15), date(1970, 2, 2)], [date(1969, 12, 1), date(1970, 1, 1)]),
    ("date", {"every": "1 month", "origin": date(2025, 1, 31)}, [date(2024, 1, 31), date(2024, 3, 31), date(2024, 5, 31)],
     [date(2024, 2, 29), date(2024, 4, 30)]),
    ("date", {"every": "2 years", "start": date(2019, 1, 1), "before": date(2026, 1, 1)}, [date(2023, 7, 1)],
     [date(2020, 1, 1), date(2024, 1, 1)]),
    ("timestamp", {"every": "1 quarter", "origin": datetime(2000, 1, 1, 6)}, [datetime(2026, 1, 1, 5, 59), datetime(2026, 7, 1, 6)],
     [datetime(2026, 1, 1, 6), datetime(2026, 4, 1, 6)]),
    ("timestamp[Europe/Berlin]", {"every": "1 month"},
     [datetime(2026, 2, 3, tzinfo=ZoneInfo("Europe/Berlin")), datetime(2026, 5, 1, tzinfo=ZoneInfo("Europe/Berlin"))],
     [datetime(2026, 3, 1, tzinfo=ZoneInfo("Europe/Berlin")), datetime(2026, 4, 1, tzinfo=ZoneInfo("Europe/Berlin"))]),
    ("timestamp[Europe/Berlin]", {"every": "1 hour"},
     [datetime(2026, 3, 29, 0, tzinfo=UTC), datetime(2026, 3, 29, 3, tzinfo=UTC)],
     [datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 3, 29, 2, tzinfo=UTC)]),
    ("int64", {"every": 10}, [-25, 3, 9, 21], [-20, -10, 10]),
    ("int32", {"every": 3, "origin": 1, "start": -4, "before": 6}, [2], [-2, 4]),
    ("decimal(6,2)", {"every": Decimal("0.05"), "before": 1}, [Decimal("0.87"), Decimal("0.95")], [Decimal("0.90")]),
]  # fmt: skip


@pytest.mark.part(8)
def test_grids_of_times_dates_and_numbers(pipeline, engine, layout):
    """Months have the origin's day, or the last one; the usual origin is a Monday, 2000-01, or 0."""
    expected = {}
    for number, (dtype, options, values, made) in enumerate(GRIDS):
        types = {"t": dtype, "x": "int64"}
        source = write_source(pipeline, f"t{number}", table(types, *((value, 1) for value in values)))
        source.fill_gaps("t", **options).stage(f"filled{number}")
        rows = sorted([(value, 1) for value in values] + [(value, None) for value in made])
        expected[f"filled{number}"] = table(types, *rows)
    found = pipeline.run(engine=engine, keep=[*expected], options=layout)
    for name, rows in expected.items():
        assert_tables_equal(found[name].to_arrow(), rows, ordered=True, what=name)


def test_nested_columns_are_null_in_rows_that_are_made(pipeline, check):
    rows = pa.table({"t": [1, 3], "l": [[1, 2], []], "s": [{"a": "x"}, {"a": None}]})
    expected = pa.table({"t": [1, 2, 3], "l": [[1, 2], None, []], "s": [{"a": "x"}, None, {"a": None}]})
    check(write_source(pipeline, "t", rows).fill_gaps("t", 1), expected, ordered=True)


def test_buckets_of_an_aggregate_are_filled_and_carried_on(t, check):
    """The step fits to time_bucket."""
    bucket = expr("time_bucket(INTERVAL '15 minutes', t)")
    grouped = t.filter(col("k") == "a").aggregate({"slot": bucket}, x=col("x").sum()).filter(col("slot").is_not_null())
    filled = grouped.fill_gaps("slot", "15 minutes").window((), "slot", y=col("x").ffill())
    rows = [(at(10), 1, 1), (at(10, 15), None, 1), (at(10, 30), 5, 5), (at(10, 45), None, 5), (at(11), 4, 4)]
    check(filled, table({"slot": "timestamp", "x": "int64", "y": "int64"}, *rows))


@pytest.mark.parametrize("rows", [[], [("a", at(1), 1, "s")]])
def test_few_rows(pipeline, check, rows):
    t = write_source(pipeline, "t", table(TYPES, *rows))
    check(t.fill_gaps("t", "1 hour", by="k"), table(TYPES, *rows))


def test_too_many_rows_are_refused_before_they_are_made(pipeline, failure):
    rows = [("a", datetime(1, 1, 1), 1, "s"), ("a", datetime(2026, 1, 1), 1, "s")]
    t = write_source(pipeline, "t", table(TYPES, *rows))
    message = failure(t.fill_gaps("t", "1 second", by="k"), RunFailed)
    assert message == (
        "stage 'result', step 1: fill_gaps would make more than 2,147,483,647 rows, and a frame holds no more.  "
        "Look for a row that is far from the others, or take a wider `every`"
    )


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ("{on: x, every: 1 day}", "every is an interval, and 'x' is int64", "Write a number: every: 10."),
        ("{on: t, every: 5}", "every is a number, and 't' is timestamp", "Write every: 1 day."),
        ("{on: f, every: 5}", "'f' is float64, which has no even grid", "Cast it to a decimal or to int64 in a step before."),
        ("{on: s, every: 5}", "'s' is string, which has no even grid", "Take a timestamp, a date or a number."),
        ("{on: d, every: 1 hour}", "every is 1:00:00, and 'd' is date", "Write whole days, or cast it to timestamp."),
        ("{on: d, every: 1 day, start: \"TIMESTAMP '2026-01-01'\"}", "start is timestamp, and 'd' is date", "Write DATE '2026-01-31'."),
        ("{on: z, every: 1 month, origin: \"DATE '2026-01-02'\"}",
         "origin is no start of a month on a clock, as 'z' (timestamp[UTC]) needs it",
         "Write origin: DATE '2000-01-01', or take local_time(x) in a step before."),
        ("{on: t, every: 1 month 1 day}", "takes months or a fixed length, got '1 month 1 day'", "Write 15 minutes,"),
        ("{on: t, every: 0 days}", "must be above zero", "Write 15 minutes,"),
        ("{on: t, every: soon}", "takes an interval or a number, got 'soon'", "Write 15 minutes,"),
        ("{on: x, every: 0.5}", "every is 0.5, and 'x' is int64", "Write a number that the column can have."),
        ("{on: t, by: t, every: 1 day}", "'t' is in by and in on", "Leave it out of by."),
        ("{on: t, every: 1 day, mark: x}", "there is a column 'x' already", "Give the mark another name."),
        ("{on: tt, every: 1 day}", "unknown column 'tt'", "Columns:"),
        ("{on: t, every: 1 day, start: t}", "unknown column 't'", ""),
    ],
)  # fmt: skip
def test_what_makes_no_grid_is_refused(tmp_path, options, message, hint):
    types = "{t: timestamp, x: int64, s: string, f: float64, d: date, z: 'timestamp[UTC]'}"
    text = f"sources: {{a: {{csv: a.csv, schema: {types}}}}}\nstages: {{b: {{from: a, steps: [{{fill_gaps: {options}}}]}}}}\n"
    path = tmp_path / "p.yaml"
    path.write_text(text + "sinks: {c: {from: b, parquet: c.parquet}}\n")
    with pytest.raises(InvalidPipeline) as caught:
        load(path).explain()
    assert message in str(caught.value)
    assert hint in str(caught.value)
