"""Casts from text to durations and back, and to lists, structs and maps, on every engine: many texts in one column."""

from datetime import date, datetime, time, timedelta

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


MOMENTS = {
    "2020/1/2": (date(2020, 1, 2), datetime(2020, 1, 2), None), " 2020 01 02 ": (date(2020, 1, 2), datetime(2020, 1, 2), None), "2020-1-2T 3:04": (None, datetime(2020, 1, 2, 3, 4), None),
    "2020-02-28 24:00:00": (None, datetime(2020, 2, 29), None), "2020-01-02 03:04:05.1234569": (None, None, None), "2020-01-02 03:04:05.12345600": (None, datetime(2020, 1, 2, 3, 4, 5, 123456), None), "3:04:05.9999990": (None, None, time(3, 4, 5, 999999)), "3:04:05.9999999": (None, None, None),
    " 23:59 ": (None, None, time(23, 59)), **dict.fromkeys(["2020-01/02", "20-01-02", "02/01/2020", "2020-02-30", "24:00", "3", "2020-01-02 10:00Z", "2020-01-02 24:01", "9999-12-31 24:00"], (None, None, None)),
}  # fmt: skip


def test_dates_and_times(source, check):
    t = source(table({"s": "string"}, *((text,) for text in MOMENTS)))
    read = t.select(d=expr("TRY_CAST(s AS date)"), ts=expr("TRY_CAST(s AS timestamp)"), t=expr("TRY_CAST(s AS time)"))
    check(read, table({"d": "date", "ts": "timestamp", "t": "time"}, *MOMENTS.values()), ordered=True)


LISTS = {
    "[1, 2, NULL]": ["1", "2", None], "[]": [], " [ ] ": [], "[,]": ["", ""], "[1,]": ["1", ""], "[[1, 2], {a: 'x, y'}]": ["[1, 2]", "{a: 'x, y'}"],
    r"""[ "a, b", 'c', d e , "NULL", null, "q\"x", a\"b, a\b, "\\", 'it''s', a"b"c]""": ["a, b", "c", "d e", "NULL", None, 'q"x', 'a"b', r"a\b", "\\", "its", "abc"],
    "[é, 'ü]']": ["é", "ü]"], "[a)b, (c, d)]": ["a)b", "(c, d)"],
    **dict.fromkeys(["[1, 2", "[1] x", "1", "", "NULL", "[a]b]", "[(]", "['a]", "[" * 40 + "]" * 40]),
}  # fmt: skip
STRUCTS = {
    "{a: 1, b: [x, 'y z', NULL]}": {"a": 1, "b": ["x", "y z", None]}, "{'b': [], \"a\": NULL}": {"a": None, "b": []}, "{}": {"a": None, "b": None}, "{a: x}": {"a": None, "b": None},
    "{ b : \"[1, 2]\" }": {"a": None, "b": ["1", "2"]},
    **dict.fromkeys(["{a: 1, c: 2}", "{A: 1}", "{a: 1, a: 2}", "{a}", "{: 1}", "{a: 1} x", "(1, [])", "a: 1"]),
}  # fmt: skip
MAPS = {
    "{a=1, b=2}": [("a", 1), ("b", 2)], "{}": [], "{ k v = 3, 'x=y' = NULL, =4}": [("k v", 3), ("x=y", None), ("", 4)],
}  # fmt: skip


def test_lists_structs_and_maps(source, check):
    texts = [None, *LISTS, *STRUCTS]
    t = source(table({"s": "string"}, *((text,) for text in texts)))
    read = t.select(
        strings=expr("TRY_CAST(s AS text[])"), numbers=expr("list_sum(TRY_CAST(s AS int[]))"),
        inner=expr("list_length(TRY_CAST(s AS text[][]))"), st=expr("TRY_CAST(s AS struct<a: int64, b: list<string>>)"),
    )  # fmt: skip
    numbers = {"[1, 2, NULL]": 3, "[1,]": 1}
    rows = [
        (LISTS.get(text), numbers.get(text), None if LISTS.get(text) is None else len(LISTS[text]), STRUCTS.get(text))
        for text in texts
    ]
    types = {"strings": "list<string>", "numbers": "int64", "inner": "int64", "st": "struct<a: int64, b: list<string>>"}
    check(read, table(types, *rows), ordered=True)


def test_maps(source, check):
    t = source(table({"s": "string"}, *((text,) for text in [None, *MAPS])))
    wanted = table({"m": "map<string, int64>"}, (None,), *((entries,) for entries in MAPS.values()))
    check(t.select(m=expr("CAST(s AS map<string, bigint>)")), wanted, ordered=True)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CAST(s || '1, 2' AS int[])", "CAST(s || '1, 2' AS list<int32>) has no result in row 0, for [1, 2: not a valid list<int32>"),
        ("CAST(s || 'x]' AS int[])", "has no result in row 0, for x: not a valid int32"),
        ("CAST('{a=1, a=' || s || '}' AS map<string, string>)", "AS map<string, string>) has no result in row 0, for "),
        ("CAST('{a: 1, b: 2}' || s AS struct<a: int64>)", "not a valid struct<a: int64>"),
    ],
)  # fmt: skip
def test_a_text_that_has_no_such_form_is_an_error(source, pipeline, local_engine, sql, message):
    source(table({"s": "string"}, ("[",) if "map" not in sql else ("1",))).select(out=expr(sql)).stage("wrong")
    with pytest.raises(RunFailed) as error:
        pipeline.run(engine=local_engine, keep=["wrong"])
    assert message.replace(" in row 0", "") in str(error.value)


def test_try_cast_does_not_read_maps(source, problem):
    t = source(table({"s": "string"}))
    assert "cannot cast string to map<string, int64>" in problem(
        t.select(out=expr("TRY_CAST(s AS map<string, int64>)"))
    )
