"""Dates and times as text: what each specifier writes, what is read and what is not, and that both are inverse."""

from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from expressions.evaluation import table, typed, value, values
from expressions.test_calendar import extremes
from gpuetl.errors import EvaluationError, InvalidExpression
from gpuetl.expressions.ir import Literal, Parameter
from gpuetl.types.data_types import STRING, TIMESTAMP, parse_type

MOMENTS = [
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime(2024, 2, 29, 0, 5, 7, 250),
    None,
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 12),
]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("%Y", ["1969", "2024", None, "0001", "9999"]), ("%m", ["12", "02", None, "01", "12"]), ("%d", ["31", "29", None, "01", "31"]),
        ("%H", ["23", "00", None, "00", "12"]), ("%I", ["11", "12", None, "12", "12"]), ("%p", ["PM", "AM", None, "AM", "PM"]),
        ("%M", ["59", "05", None, "00", "00"]), ("%S", ["59", "07", None, "00", "00"]), ("%f", ["999999", "000250", None, "000000", "000000"]),
        ("%j", ["365", "060", None, "001", "365"]), ("%y", ["69", "24", None, "01", "99"]), ("%b", ["Dec", "Feb", None, "Jan", "Dec"]),
        ("%B", ["December", "February", None, "January", "December"]), ("%a", ["Wed", "Thu", None, "Mon", "Fri"]),
        ("%A", ["Wednesday", "Thursday", None, "Monday", "Friday"]), ("%G", ["1970", "2024", None, "0001", "9999"]),
        ("%V", ["01", "09", None, "01", "52"]), ("%u", ["3", "4", None, "1", "5"]), ("%w", ["3", "4", None, "1", "5"]),
        ("%g", ["999", "000", None, "000", "000"]), ("%n", ["999999000", "000250000", None, "000000000", "000000000"]),
        ("%-d/%-m/%-y", ["31/12/69", "29/2/24", None, "1/1/1", "31/12/99"]), ("%-H:%-M:%-S %-I %-j", ["23:59:59 11 365", "0:5:7 12 60", None, "0:0:0 12 1", "12:0:0 12 365"]),
        ("%U %W", ["52 52", "08 09", None, "00 01", "52 52"]), ("%c|%x|%X", ["1969-12-31 23:59:59|1969-12-31|23:59:59", "2024-02-29 00:05:07|2024-02-29|00:05:07",
         None, "0001-01-01 00:00:00|0001-01-01|00:00:00", "9999-12-31 12:00:00|9999-12-31|12:00:00"]),
        ("Wk%%%V.日%", None), ("100%%-%d '😀'", ["100%-31 '😀'", "100%-29 '😀'", None, "100%-01 '😀'", "100%-31 '😀'"]),
    ],
)  # fmt: skip
def test_each_specifier_has_one_width(form, expected):
    frame = table(ts=("timestamp", MOMENTS))
    sql = "strftime(ts, '{}')".format(form.replace("'", "''"))
    if expected is None:
        with pytest.raises(InvalidExpression, match="strftime does not support '%' in a format"):
            values(sql, frame)
        return
    assert values(sql, frame) == expected
    assert values(sql, frame.slice(0, 0)) == []
    assert values(sql, frame.slice(2, 1)) == [None]


def test_a_date_is_written_as_its_midnight_and_a_zoned_timestamp_by_its_clock():
    assert value("strftime(DATE '2024-02-29', '%d.%m.%y %H:%M')") == "29.02.24 00:00"
    utc = [datetime(2024, 10, 27, 0, 30), datetime(2024, 10, 27, 1, 30), None]
    frame = table(tz=("timestamp[Europe/Berlin]", utc), ny=("timestamp[America/St_Johns]", utc))
    assert values("strftime(tz, '%H:%M%z')", frame) == ["02:30+0200", "02:30+0100", None]
    assert values("strftime(ny, '%H:%M%z')", frame) == ["22:00-0230", "23:00-0230", None]


def test_a_year_without_4_digits_is_an_error_naming_it():
    with pytest.raises(
        EvaluationError, match=r"in row 0, for -290308-12-21 19:59:05.224192, %d: the year must have 4 digits"
    ):
        values("strftime(ts, '%d')", extremes())
    with pytest.raises(EvaluationError, match=r"in row 1, for 5881580-07-11: the year must have 4 digits"):
        values("CAST(d AS string)", extremes().slice(1).append_column("x", pa.array([1, 2])).take([1, 0]))
    assert values("TRY_CAST(ts AS string)", extremes()) == [None, None, None]


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("29.02.2024", "%d.%m.%Y", datetime(2024, 2, 29)), ("29.02.2023", "%d.%m.%Y", None), ("31.04.2024", "%d.%m.%Y", None),
        ("00.01.2024", "%d.%m.%Y", None), ("01.00.2024", "%d.%m.%Y", None), ("01.13.2024", "%d.%m.%Y", None),
        ("1.2.2024", "%d.%m.%Y", None), ("01.02.2024 ", "%d.%m.%Y", None), ("01.02.2024\n", "%d.%m.%Y", None), ("", "%Y%j", None),
        ("٠١.02.2024", "%d.%m.%Y", None), ("01x02x2024", "%d.%m.%Y", None),
        ("2024-02-29 23:59:59.000001", "%Y-%m-%d %H:%M:%S.%f", datetime(2024, 2, 29, 23, 59, 59, 1)), ("2024-01-01 24:00", "%Y-%m-%d %H:%M", None),
        ("2024-01-01 00:60", "%Y-%m-%d %H:%M", None), ("2016-12-31 23:59:60", "%Y-%m-%d %H:%M:%S", None),
        ("20240229", "%Y%m%d", datetime(2024, 2, 29)), ("2024060", "%Y%j", datetime(2024, 2, 29)), ("2023366", "%Y%j", None), ("2024000", "%Y%j", None),
        ("690101", "%y%m%d", datetime(1969, 1, 1)), ("680101", "%y%m%d", datetime(2068, 1, 1)),
        ("May 05, 2024", "%b %d, %Y", datetime(2024, 5, 5)), ("may 05, 2024", "%b %d, %Y", None), ("September 30 0001", "%B %d %Y", datetime(1, 9, 30)),
        ("Thu 29 Feb 2024", "%a %d %b %Y", datetime(2024, 2, 29)), ("Fri 29 Feb 2024", "%a %d %b %Y", None), ("Thursday 29.02.2024", "%A %d.%m.%Y", datetime(2024, 2, 29)),
        ("2024-02-29 12:00 AM", "%Y-%m-%d %I:%M %p", datetime(2024, 2, 29)), ("2024-02-29 12:30 PM", "%Y-%m-%d %I:%M %p", datetime(2024, 2, 29, 12, 30)),
        ("2024-02-29 00:30 PM", "%Y-%m-%d %I:%M %p", None), ("2024-02-29 13:30 PM", "%Y-%m-%d %H:%M %p", datetime(2024, 2, 29, 13, 30)),
        ("2024-02-29 13:30 AM", "%Y-%m-%d %H:%M %p", None), ("2020-W53-7", "%G-W%V-%u", datetime(2021, 1, 3)), ("2021-W53-1", "%G-W%V-%u", None),
        ("2020 060 29", "%Y %j %d", datetime(2020, 2, 29)), ("2020 060 28", "%Y %j %d", None), ("2021 2020-W53-7", "%Y %G-W%V-%u", datetime(2021, 1, 3)),
        ("2020-W00-1", "%G-W%V-%u", None), ("2020 53 Sun", "%G %V %a", datetime(2021, 1, 3)), ("50% of 2024.01.01", "50%% of %Y.%m.%d", datetime(2024, 1, 1)),
        ("9999-12-31T23:59:59.999999", "%Y-%m-%dT%H:%M:%S.%f", datetime(9999, 12, 31, 23, 59, 59, 999_999)), ("a.c20240101", "a.c%Y%m%d", datetime(2024, 1, 1)),
        ("abc20240101", "a.c%Y%m%d", None), ("日2024😀01-01", "日%Y😀%m-%d", datetime(2024, 1, 1)),
        ("2024-02-29T10:00:00+0530", "%Y-%m-%dT%H:%M:%S%z", datetime(2024, 2, 29, 4, 30, tzinfo=UTC)), ("2024-01-01T00:00:00-0001", "%Y-%m-%dT%H:%M:%S%z", datetime(2024, 1, 1, 0, 1, tzinfo=UTC)),
        ("2024-01-01T00:00:00+2400", "%Y-%m-%dT%H:%M:%S%z", None), ("2024-01-01T00:00:00Z", "%Y-%m-%dT%H:%M:%S%z", None), ("2024-02-30T00:00:00+0000", "%Y-%m-%dT%H:%M:%S%z", None),
    ],
)  # fmt: skip
def test_a_text_is_read_where_the_format_writes_it_again_as_it_is(text, form, expected):
    frame = table(t=("string", [None, text, None]))
    assert values(f"try_strptime(t, '{form}')", frame) == [None, expected, None]
    if expected is None:
        with pytest.raises(EvaluationError) as error:
            values(f"strptime(t, '{form}')", frame)
        assert str(error.value).endswith(f"in row 1, for {text}, {form}: not a date and time of this form")
    else:
        assert values(f"strptime(t, '{form}')", frame) == [None, expected, None]
        assert value(f"strptime('{text}', '{form}')") == expected


@pytest.mark.parametrize("texts", [[], [None], [None, None]])
def test_empty_columns_and_nulls_have_nothing_to_parse(texts):
    frame = table(t=("string", texts))
    assert values("strptime(t, '%Y-%m-%d')", frame) == texts
    assert values("to_date(strptime(t, '%Y-%m-%d'))", frame) == texts


def test_several_chunks_of_text_are_one_column():
    chunks = pa.chunked_array([["2024-01-01"], [], [None, "x"]], STRING)
    assert values("try_strptime(t, '%Y-%m-%d')", pa.table({"t": chunks})) == [datetime(2024, 1, 1), None, None]


WHOLE = [
    "%Y-%m-%dT%H:%M:%S.%f",
    "%d/%m/%Y %I:%M:%S %p %f",
    "%f%S%M%H%d%m%Y",
    "%A, %d %B %Y, %H.%M.%S,%f",
    "%Y-%j %H:%M:%S.%f",
    "%G-W%V-%u %H:%M:%S.%f",
]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.none() | st.datetimes(), max_size=20), st.sampled_from(WHOLE))
@example([datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)], WHOLE[-1])
def test_a_text_that_holds_everything_is_read_back_as_what_was_written(moments, form):
    naive = [moment and moment.replace(fold=0) for moment in moments]
    assert values(f"strptime(strftime(ts, '{form}'), '{form}')", table(ts=("timestamp", naive))) == naive


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.datetimes(datetime(1950, 1, 1), datetime(9998, 1, 1)), min_size=1, max_size=20))
def test_an_instant_is_read_back_from_any_clocks_text_with_its_offset(moments):
    frame = table(tz=("timestamp[Europe/Berlin]", [moment.replace(fold=0) for moment in moments]))
    form = "%Y-%m-%d %H:%M:%S.%f %z"
    assert values(f"strptime(strftime(tz, '{form}'), '{form}') = tz", frame) == [True] * len(moments)
    assert values('CAST(CAST(tz AS string) AS "timestamp[Europe/Berlin]") = tz', frame) == [True] * len(moments)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("strftime(ts, '%Q')", "strftime does not support '%Q' in a format"), ("strftime(ts, '%-Y')", "strftime does not support '%-Y' in a format"),
        ("strftime(ts, '')", "strftime takes a format such as '%Y-%m-%d', got ''"), ("strftime(ts, '%%')", "strftime takes a format such as '%Y-%m-%d', got '%%'"),
        ("strftime(ts, '%H %z')", "strftime takes a zoned timestamp for '%z', got timestamp"), ("strftime(t, '%Y')", "strftime takes a date or a timestamp, got string"),
        ("strftime(ts, 7)", "strftime takes a string as format, got int64"), ("strftime(ts, $bad)", "strftime does not support '%!' in a format"),
        ("strptime(t, '%H:%M')", "strptime needs a year, a month and a day, or %Y and %j, or %G, %V and %u, to read a date by '%H:%M'"),
        ("strptime(t, '%Y-%m-%d %I')", "strptime needs %p with %I, in '%Y-%m-%d %I'"), ("strptime(t, '%Y-%Y')", "strptime cannot read '%Y' twice, in '%Y-%Y'"),
        ("try_strptime(t, '%Y-%m-%d%q')", "try_strptime does not support '%q' in a format"), ("strptime(ts, '%Y-%m-%d')", "strptime takes string, got timestamp"),
        ("strptime(t, t)", "strptime takes a constant or a $parameter as format"),
    ],
)  # fmt: skip
def test_formats_are_checked_before_the_run(sql, message):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, {"ts": TIMESTAMP, "t": STRING}, {"bad": Literal("%!", STRING)})
    assert error.value.message == message


def test_a_format_may_be_a_parameter_without_a_value_yet():
    parameters = {"form": Parameter("form", STRING)}
    assert typed("strptime(t, $form)", {"t": STRING}, parameters).dtype == TIMESTAMP
    assert typed("strftime(ts, $form)", {"ts": TIMESTAMP}, parameters).dtype == STRING


def test_a_format_with_an_offset_gives_instants_in_utc():
    assert typed("strptime(t, '%Y-%m-%d %z')", {"t": STRING}).dtype == parse_type("timestamp[UTC]")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-02-29", datetime(2024, 2, 29)), ("2024-02-29 10", datetime(2024, 2, 29, 10)), ("2024-02-29T10:05", datetime(2024, 2, 29, 10, 5)),
        ("2024-02-29 10:05:07", datetime(2024, 2, 29, 10, 5, 7)), ("2024-02-29T10:05:07.5", datetime(2024, 2, 29, 10, 5, 7, 500_000)),
        ("1969-12-31 23:59:59.999999", datetime(1969, 12, 31, 23, 59, 59, 999_999)), ("0001-01-01", datetime(1, 1, 1)),
        ("2024-02-29 10:05:07.1234567", None), ("2024-02-29 10:05:07.12345600", datetime(2024, 2, 29, 10, 5, 7, 123_456)), ("2024-02-29 10:05:07Z", None), ("2024-02-29 10:05:07+02:00", None), ("2024-2-29", datetime(2024, 2, 29)),
        ("2024/02/29", datetime(2024, 2, 29)), ("2024 2 9", datetime(2024, 2, 9)), ("2024/2/9T 9:05", datetime(2024, 2, 9, 9, 5)), (" 2024-02-29", datetime(2024, 2, 29)),
        ("2024-02-29 \t", datetime(2024, 2, 29)), ("2024-02-29 24:00:00", datetime(2024, 3, 1)), ("2023-12-31 24:00", datetime(2024, 1, 1)), ("20240229", None), ("2024-02/29", None), ("24-02-09", None),
        ("29.02.2024", None), ("2024-02-30", None), ("2024-02-29 24:00:01", None), ("9999-12-31 24:00", None), ("2024-02-29 9", None), ("2024-02-29 UTC", None), ("", None), ("10000-01-01", None), ("-001-01-01", None),
    ],
)  # fmt: skip
def test_cast_reads_iso_timestamps(text, moment):
    frame = table(t=("string", [text, None]))
    assert values("TRY_CAST(t AS timestamp)", frame) == [moment, None]
    is_day = moment is not None and moment.hour == 0 and ":" not in text
    assert values("TRY_CAST(t AS date)", frame) == [moment.date() if is_day else None, None]


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2024-02-29 10:05:07Z", datetime(2024, 2, 29, 10, 5, 7)), ("2024-02-29T10Z", datetime(2024, 2, 29, 10)), ("2024-02-29T10:05+02", datetime(2024, 2, 29, 8, 5)),
        ("2024-02-29 10:05:07.25+0530", datetime(2024, 2, 29, 4, 35, 7, 250_000)), ("2024-01-01 00:00:00-03:30", datetime(2024, 1, 1, 3, 30)),
        ("2024-02-29 10:05:07", None), ("2024-02-29Z", None), ("2024-02-29 10:05:07+24:00", None), ("2024-02-29 10:05:07 Z", None), (" 2024/2/29 1:05:07 UTC ", datetime(2024, 2, 29, 1, 5, 7)), ("2024-02-29 24:00+01", datetime(2024, 2, 29, 23)), ("2024-02-29 10:05+02:60", None), ("2024-02-29 10:05:07z", None),
    ],
)  # fmt: skip
def test_cast_of_a_zoned_timestamp_needs_an_offset(text, utc):
    expected = utc and utc.replace(tzinfo=UTC)
    frame = table(t=("string", [text, None]))
    assert values("TRY_CAST(t AS timestamptz)", frame) == [expected, None]
    assert values('TRY_CAST(t AS "timestamp[Asia/Tokyo]")', frame) == [expected, None]


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("CAST(t AS timestamptz)", "It has no offset: write CAST(x AS timestamp) AT TIME ZONE 'UTC', or another zone."),
        ("CAST(t || 'Z' AS timestamp)", "It has an offset: write CAST(x AS timestamptz)."), ("CAST(t || 'x' AS timestamp)", "TRY_CAST gives null instead."),
    ],
)  # fmt: skip
def test_an_offset_that_is_missing_or_too_much_has_its_advice(sql, hint):
    with pytest.raises(EvaluationError) as error:
        values(sql, table(t=("string", ["2024-02-29 10:05"])))
    assert error.value.hint == hint


def test_a_constant_without_an_offset_says_how_to_write_its_zone():
    with pytest.raises(InvalidExpression) as error:
        typed("CAST('2024/2/29' AS timestamptz)")
    assert error.value.hint.startswith(
        "Write TIMESTAMP '2024-02-29 00:00:00' AT TIME ZONE 'UTC', or another zone, or TIMESTAMPTZ '"
    )


@pytest.mark.parametrize(
    ("dtype", "moment", "text"),
    [
        ("date", date(1, 1, 1), "0001-01-01"), ("date", date(1969, 12, 31), "1969-12-31"), ("timestamp", datetime(2024, 2, 29), "2024-02-29 00:00:00.000000"),
        ("timestamp", datetime(1969, 12, 31, 23, 59, 59, 999_999), "1969-12-31 23:59:59.999999"), ("timestamp[UTC]", datetime(2024, 2, 29), "2024-02-29 00:00:00.000000Z"),
        ("timestamp[Europe/Berlin]", datetime(2050, 7, 1), "2050-07-01 02:00:00.000000+0200"), ("timestamp[-03:30]", datetime(2024, 2, 29), "2024-02-28 20:30:00.000000-0330"),
    ],
)  # fmt: skip
def test_cast_writes_iso_text_that_it_reads_back(dtype, moment, text):
    frame = table(x=(dtype, [moment, None]))
    assert values("CAST(x AS string)", frame) == [text, None]
    assert values(f'CAST(CAST(x AS string) AS "{dtype}") = x', frame) == [True, None]


def test_a_clock_that_was_ahead_by_seconds_has_no_text():
    frame = table(x=("timestamp[Europe/Berlin]", [datetime(1800, 1, 1)]))
    with pytest.raises(EvaluationError, match="the zone's clock was then ahead by minutes and seconds"):
        values("CAST(x AS string)", frame)
    assert values("CAST(convert_zone(x, 'UTC') AS string)", frame) == ["1800-01-01 00:00:00.000000Z"]
    assert values("strftime(x, '%H:%M:%S')", frame) == ["00:53:28"]


def test_a_duration_of_a_day_moves_a_text_by_a_day():
    assert value("strftime(strptime('2024-02-28', '%Y-%m-%d') + days(1), '%Y-%m-%d')") == "2024-02-29"
    assert value("strptime('2024-03-01', '%Y-%m-%d') - strptime('2024-02-28', '%Y-%m-%d')") == timedelta(days=2)


@pytest.mark.parametrize(("form", "texts", "expected"), [
    ("%-m/%-d/%Y", ["3/5/2020", "03/05/2020", "12/31/2020", "13/5/2020", "0/5/2020", "003/5/2020", "2/30/2020", "3/5/2020 ", None],
     [datetime(2020, 3, 5), datetime(2020, 3, 5), datetime(2020, 12, 31), None, None, None, None, None, None]),
    ("%-I:%-M:%-S %p %-d/%-m/%-y", ["5:7:9 AM 1/2/20", "12:07:09 PM 1/2/20", "13:7:9 AM 1/2/20", "12:7:9 AM 31/12/69"],
     [datetime(2020, 2, 1, 5, 7, 9), datetime(2020, 2, 1, 12, 7, 9), None, datetime(1969, 12, 31, 0, 7, 9)]),
    ("%Y %-y-%-j", ["2020 20-001", "2020 20-366", "2021 21-366", "2021 20-1"], [datetime(2020, 1, 1), datetime(2020, 12, 31), None, None]),
    ("%Y-%U-%w", ["2021-19-4", "2021-00-5", "2021-00-1", "2021-53-0"], [datetime(2021, 5, 13), datetime(2021, 1, 1), None, None]),
    ("%Y-%W-%A", ["2021-19-Thursday", "2021-00-Sunday"], [datetime(2021, 5, 13), datetime(2021, 1, 3)]),
    ("%c.%g", ["2022-03-05 17:59:17.877"], [datetime(2022, 3, 5, 17, 59, 17, 877_000)]),
    ("%x %X.%n", ["2020-12-31 21:25:58.745232000", "2020-12-31 21:25:58.745232001"], [datetime(2020, 12, 31, 21, 25, 58, 745_232), None]),
])  # fmt: skip
def test_numbers_without_zeros_weeks_and_fractions_are_read(form, texts, expected):
    assert values(f"try_strptime(t, '{form}')", table(t=("string", texts))) == expected


@pytest.mark.parametrize(("sql", "message"), [
    ("strptime('111', '%-d%-m%Y')", "strptime cannot read '%-d' before another number"), ("strptime('1', '%-d1%Y%m')", "cannot read '%-d' before"),
    ("strptime('1', '%d %-d %m %Y')", "strptime cannot read '%d' twice"), ("strftime('%Y', DATE '2020-01-01')", "strftime takes a date or a timestamp, got string"),
    ("strftime(DATE '2020-01-01', '%-Y')", "strftime does not support '%-Y' in a format"),
])  # fmt: skip
def test_formats_that_could_be_read_in_two_ways_are_refused(sql, message):
    with pytest.raises(InvalidExpression, match=message):
        value(sql)
