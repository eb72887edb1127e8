"""Casts from text to durations and back, on every engine: many texts in one column."""

from datetime import timedelta

import pytest

from gpuetl import RunFailed, expr
from tables import table

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
DURATIONS = {
    "1 day": DAY, "3 days ago": -3 * DAY, "@ 1 day 2 hours": DAY + 2 * HOUR, "1h30m": 1.5 * HOUR, "1 week -1 day": 6 * DAY, "1.5 weeks": 10.5 * DAY, "2 D 3 HRS": 2 * DAY + 3 * HOUR,
    "42": timedelta(seconds=42), " -47.210 ": timedelta(seconds=-47.21), "1 day 2:30": DAY + 2.5 * HOUR, "-2:30:01.5": -2.5 * HOUR - timedelta(seconds=1.5), "1 hour -0:30": HOUR / 2,
    "0.0000005 seconds": timedelta(microseconds=1), "20 msecond 16 usecs": timedelta(microseconds=20016), "35:10:00": 35 * HOUR + timedelta(minutes=10),
    "106751991 days": 106751991 * DAY, "-9223372022400000000 us": -106751991 * DAY,
    **dict.fromkeys(["106751992 days", "", " ", "x", "1 xyz", "5 ago", "1 month", "2 years", "12 months -1 year", "1.5 us", "1 day2:30", "2:30 ago", "1:60", "1 s 2", "1\u00a0day",
                     "@ 42", ".5 s", "1e3 s", "0.1234567891 s"]),
}  # fmt: skip
WRITTEN = {
    0: "00:00:00", 1: "00:00:00.000001", -1: "-00:00:00.000001", 86_400_000_000: "1 day", -86_400_000_000: "-1 day", 172_801_500_000: "2 days 00:00:01.5", -90_000_000: "-00:01:30",
    9223372036854775000: "106751991 days 04:00:54.775", -9223372022400000000: "-106751991 days", -86_400_000_010: "-1 day -00:00:00.00001", 36_000_000_000: "10:00:00",
}  # fmt: skip


def test_durations(source, check):
    written = {timedelta(microseconds=micros): text for micros, text in WRITTEN.items()}
    rows = list(zip([None, *DURATIONS], [None, *DURATIONS.values()], strict=True))
    t = source(table({"s": "string", "d": "duration"}, *rows, *((text, d) for d, text in written.items())))
    read = [*(d for _, d in rows), *written]
    out = t.select(read=expr("TRY_CAST(s AS interval)"), again=expr("CAST(CAST(d AS string) AS duration) = d"))
    check(
        out,
        table({"read": "duration", "again": "bool"}, *((d, None if d is None else True) for d in read)),
        ordered=True,
    )
    shown = t.select(text=expr("CAST(d AS string)")).filter(expr("text IN ('1 day', '-1 day -00:00:00.00001')"))
    check(shown, table({"text": "string"}, ("1 day",), ("1 day",), ("-1 day -00:00:00.00001",)))


@pytest.mark.parametrize("micros", WRITTEN)
def test_the_text_of_a_duration(micros, source, pipeline):
    source(table({"d": "duration"}, (timedelta(microseconds=micros),))).select(text=expr("CAST(d AS string)")).stage(
        "s"
    )
    assert pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow()["text"].to_pylist() == [WRITTEN[micros]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 month", "CAST(s AS interval) has no result, for 1 month: months have no fixed length"),
        ("1 fortnight", "for 1 fortnight: not a valid duration"),
    ],
)
def test_a_text_that_is_no_duration_is_an_error_with_its_row(source, pipeline, local_engine, text, message):
    source(table({"s": "string"}, ("1 day",), (text,))).select(out=expr("CAST(s AS interval)")).stage("wrong")
    with pytest.raises(RunFailed) as error:
        pipeline.run(engine=local_engine, keep=["wrong"])
    assert message in str(error.value)
