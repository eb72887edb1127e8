"""Functions of times in a pipeline: the same on every layout, and the same from YAML as from Python."""

from datetime import UTC, date, datetime

import pytest

import gpuetl as ge
from gpuetl import RunFailed, col, expr
from tables import table

pytestmark = pytest.mark.single_rows


def test_times_are_read_moved_to_a_zone_and_truncated(source, check):
    t = source(
        table(
            {"k": "int64", "t": "string"},
            (1, "31.03.2024 03:30"),
            (2, None),
            (3, "31.03.2024 01:30"),
            (4, "29.02.2024 00:00"),
            (5, "x"),
        )
    )
    steps = t.with_columns(ts=expr("try_strptime(t, '%d.%m.%Y %H:%M')")).with_columns(
        at=col("ts").dt.at_time_zone("Europe/Berlin")
    )
    result = steps.select(
        k=col("k"),
        at=expr("at AT TIME ZONE 'UTC'"),
        hour=expr("hour(at)"),
        day=expr("convert_zone(date_trunc('day', at), 'UTC')"),
    )
    expected = table(
        {"k": "int64", "at": "timestamp", "hour": "int64", "day": "timestamp[UTC]"},
        (1, datetime(2024, 3, 31, 1, 30), 3, datetime(2024, 3, 30, 23, tzinfo=UTC)), (2, None, None, None),
        (3, datetime(2024, 3, 31, 0, 30), 1, datetime(2024, 3, 30, 23, tzinfo=UTC)), (4, datetime(2024, 2, 28, 23), 0, datetime(2024, 2, 28, 23, tzinfo=UTC)),
        (5, None, None, None),
    )  # fmt: skip
    check(result, expected, ordered=True)


def test_rows_are_grouped_by_the_day_of_a_zones_clock(source, check):
    t = source(
        table(
            {"ts": "timestamp[UTC]"},
            *((datetime(2024, 10, 27, h, tzinfo=UTC),) for h in range(0, 24, 3)),
            (datetime(2024, 10, 26, 22, tzinfo=UTC),),
        )
    )
    days = t.with_columns(day=expr("to_date(ts AT TIME ZONE 'Europe/Berlin')")).aggregate(by="day", n=expr("count(*)"))
    (first, second) = (datetime(2024, 10, 27).date(), datetime(2024, 10, 28).date())
    check(days, table({"day": "date", "n": "int64"}, (first, 9)))
    assert second > first


def test_a_text_that_is_no_time_fails_with_the_column_and_the_value(source, failure):
    t = source(table({"t": "string"}, ("2024-01-01",), (None,), ("2024-02-30",)))
    message = failure(t.with_columns(d=expr("strptime(t, '%Y-%m-%d')")), RunFailed)
    assert message.startswith("stage 'result', step 1: column 'd': strptime(t, '%Y-%m-%d') has no result, ")
    assert "for 2024-02-30, %Y-%m-%d: not a date and time of this form\nRow 3 of " in message
    assert message.endswith(": t = '2024-02-30'\ntry_strptime gives null instead.")


def test_an_unknown_zone_is_a_problem_of_the_plan(source, problem):
    t = source(table({"ts": "timestamp"}))
    assert "does not know the time zone 'Europe/Berln'" in problem(
        t.with_columns(x=expr("ts AT TIME ZONE 'Europe/Berln'"))
    )


def test_yaml_and_python_make_the_same_plan_and_are_written_and_read_back():
    text = """
        gpuetl: 1
        name: times
        params: {zone: {type: string, default: Europe/Berlin}}
        sources: {t: {parquet: t.parquet, schema: {ts: timestamp, tz: "timestamp[-03:30]", n: int64}}}
        stages:
          out:
            from: t
            steps:
              - with_columns:
                  at: ts AT TIME ZONE $zone
                  gap: INTERVAL '1 day' * n - seconds(n)
                  month: date_trunc('month', add_months(ts, 1))
                  text: strftime(tz, '%Y-%m-%d %H:%M%z')
                  zoned: CAST(tz AS "timestamp[Etc/GMT+5]")
        sinks: {out: {from: out, parquet: out}}
    """
    pipeline = ge.Pipeline("times")
    zone = pipeline.param("zone", "string", default="Europe/Berlin")
    t = pipeline.read_parquet("t", "t.parquet", schema={"ts": "timestamp", "tz": "timestamp[-03:30]", "n": "int64"})
    t.with_columns(
        at=col("ts").dt.at_time_zone(zone),
        gap=expr("INTERVAL '1 day'") * col("n") - col("n").seconds(),
        month=col("ts").dt.add_months(1).dt.date_trunc("month"),
        text=col("tz").dt.strftime("%Y-%m-%d %H:%M%z"),
        zoned=col("tz").cast("timestamp[Etc/GMT+5]"),
    ).stage("out").write_parquet("out", "out")
    loaded = ge.loads(text)
    assert (
        pipeline.fingerprint
        == loaded.fingerprint
        == ge.loads(loaded.to_yaml()).fingerprint
        == ge.loads(pipeline.to_yaml()).fingerprint
    )


def test_months_are_added_to_dates_and_zoned_timestamps(source, check):
    t = source(
        table(
            {"k": "int64", "d": "date", "n": "int64", "ts": "timestamp[UTC]"},
            (1, date(2024, 1, 31), 1, datetime(2024, 1, 31, 1, 30, tzinfo=UTC)),
            (2, date(2023, 12, 31), None, datetime(2024, 8, 27, 0, 30, tzinfo=UTC)),
            (3, None, 2, None),
            (4, date(2024, 2, 29), -12, datetime(2024, 2, 29, 11, tzinfo=UTC)),
        )
    )
    result = t.with_columns(tz=expr("convert_zone(ts, 'Europe/Berlin')")).select(
        k=col("k"),
        month=expr("d + INTERVAL '1 month'"),
        column=expr("d + n * INTERVAL '1 month'"),
        day=expr("d + n"),
        days=expr("d - DATE '2024-01-01'"),
        zoned=expr("convert_zone(tz + INTERVAL '2 months', 'UTC')"),
        quarter=expr("time_bucket(INTERVAL '3 months', d)"),
    )
    expected = table(
        {"k": "int64", "month": "timestamp", "column": "timestamp", "day": "date", "days": "int64", "zoned": "timestamp[UTC]", "quarter": "date"},
        (1, datetime(2024, 2, 29), datetime(2024, 2, 29), date(2024, 2, 1), 30, datetime(2024, 3, 31, 1, 30, tzinfo=UTC), date(2024, 1, 1)),
        (2, datetime(2024, 1, 31), None, None, -1, datetime(2024, 10, 27, 1, 30, tzinfo=UTC), date(2023, 10, 1)),
        (3, None, None, None, None, None, None),
        (4, datetime(2024, 3, 29), datetime(2023, 2, 28), date(2024, 2, 17), 59, datetime(2024, 4, 29, 10, tzinfo=UTC), date(2024, 1, 1)),
    )  # fmt: skip
    check(result, expected, ordered=True)
    recent = t.filter(expr("d >= DATE '2024-01-01' AND d < DATE '2023-11-29' + INTERVAL '3 months'")).select("k")
    check(recent, table({"k": "int64"}, (1,)), ordered=True)
