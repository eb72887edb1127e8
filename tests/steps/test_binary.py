"""Bytes, UUIDs, times of day and timestamps in nanoseconds: compared, keys, converted."""

import datetime as dt
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, RunFailed, expr
from tables import table

ONE, TWO = uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff"), uuid.UUID(int=2)
TYPES = {"k": "int64", "b": "binary", "u": "uuid", "f": "binary(2)", "t": "time", "s": "string"}
ROWS = [
    (1, b"ab", ONE.bytes, b"\x00\x01", dt.time(9, 30), "6f9619ff-8b86-d011-b42d-00c04fc964ff"),
    (2, b"", TWO.bytes, b"\xff\xff", dt.time(23, 59, 59, 999999), "YWI="),
    (3, None, None, None, None, None),
    (4, b"\xff\x80\x00", ONE.bytes, b"\x00\x01", dt.time(0), "10:15"),
    (None, b"ab", TWO.bytes, b"ab", dt.time(9, 30, 0, 1), "6162"),
]


@pytest.fixture
def t(source):
    """Five rows with values and nulls of each type."""
    return source(table(TYPES, *ROWS))


def column(dtype, *values):
    return table({"out": dtype}, *((value,) for value in values))


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("sql", "dtype", "values"),
    [
        ("hex(b)", "string", ["6162", "", None, "FF8000", "6162"]),
        ("to_base64(b)", "string", ["YWI=", "", None, "/4AA", "YWI="]),
        ("unhex(hex(b)) = b", "bool", [True, True, None, True, True]),
        ("from_base64(to_base64(u)) = unhex(hex(u))", "bool", [True, True, None, True, True]),
        ("byte_length(b)", "int64", [2, 0, None, 3, 2]),
        ("octet_length(u)", "int64", [16, 16, None, 16, 16]),
        ("md5(b)", "string", ["187ef4436122d1cc2f40dc2b92f0eba0", "d41d8cd98f00b204e9800998ecf8427e", None,
                              "1c3de5a5ff8863c6c9731b06d1702e10", "187ef4436122d1cc2f40dc2b92f0eba0"]),
        ("encode(s)", "binary", [ROWS[0][5].encode(), b"YWI=", None, b"10:15", b"6162"]),
        ("decode(encode(s)) = s", "bool", [True, True, None, True, True]),
        ("b > unhex('61')", "bool", [True, False, None, True, True]),
        ("b IN (unhex('6162'), unhex(''))", "bool", [True, True, None, False, True]),
        ("coalesce(b, unhex('00'))", "binary", [b"ab", b"", b"\0", b"\xff\x80\0", b"ab"]),
        ("CASE WHEN k < 3 THEN b ELSE encode('z') END", "binary", [b"ab", b"", b"z", b"z", b"z"]),
        ("CAST(u AS string)", "string", [str(ONE), str(TWO), None, str(ONE), str(TWO)]),
        ("TRY_CAST(s AS uuid)", "uuid", [ONE.bytes, None, None, None, None]),
        ("u = CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uuid)", "bool", [True, False, None, True, False]),
        ("hour(t)", "int64", [9, 23, None, 0, 9]),
        ("minute(t)", "int64", [30, 59, None, 0, 30]),
        ("second(t)", "int64", [0, 59, None, 0, 0]),
        ("microsecond(t)", "int64", [0, 999999, None, 0, 1]),
        ("t > TIME '09:30'", "bool", [False, True, None, False, True]),
        ("CAST(t AS string)", "string", ["09:30:00.000000", "23:59:59.999999", None, "00:00:00.000000", "09:30:00.000001"]),
        ("TRY_CAST(s AS time)", "time", [None, None, None, dt.time(10, 15), None]),
        ("coalesce(t, TIME '01:02:03.5')", "time",
         [dt.time(9, 30), dt.time(23, 59, 59, 999999), dt.time(1, 2, 3, 500000), dt.time(0), dt.time(9, 30, 0, 1)]),
        ("hash(b) = hash(decode(unhex('6162')))", "bool", [True, False, False, False, True]),
        ("bucket(u, 1)", "int64", [0, 0, 0, 0, 0]),
        ("greatest(f, CASE WHEN k = 1 THEN f END)", "binary(2)", [b"\x00\x01", b"\xff\xff", None, b"\x00\x01", b"ab"]),
    ],
)  # fmt: skip
def test_functions_of_bytes_and_times(t, check, sql, dtype, values):
    check(t.select(out=expr(sql)), column(dtype, *values), ordered=True)


def test_casts_of_bytes(source, check):
    """Bytes, the text that is written of them, a text, and what is read of it."""
    rows = [
        (b"ab", "ab", "ab", b"ab"), (b"", "", "", b""), (None, None, None, None), (b"\n", r"\x0A", "\n\x7f", b"\n\x7f"),
        (b"'\"\\\x7f\x00\xff ", r"\x27\x22\x5C\x7F\x00\xFF ", r"'\x5c\x7F\x00\xFf ", b"'\\\x7f\x00\xff "),
        ("é".encode(), r"\xC3\xA9", "é", None), (b"1", "1", "\\", None), (b"2", "2", r"a\x4", None), (b"3", "3", r"\X41", None),
        (ONE.bytes, r"o\x96\x19\xFF\x8B\x86\xD0\x11\xB4-\x00\xC0O\xC9d\xFF", r"\xG0", None),
    ]  # fmt: skip
    t = source(table({"b": "binary", "written": "string", "s": "string", "read": "binary"}, *rows))
    out = t.select(
        b=expr("CAST(CAST(b AS string) AS binary)"), written=expr("CAST(b AS string)"), read=expr("TRY_CAST(s AS blob)"),
        u=expr("TRY_CAST(b AS uuid)"), again=expr("CAST(TRY_CAST(b AS uuid) AS binary)"),
    )  # fmt: skip
    columns = {"b": "binary", "written": "string", "read": "binary", "u": "uuid", "again": "binary"}
    ids = [b if b and len(b) == 16 else None for b, *_ in rows]
    wanted = [(b, written, read, u, u) for (b, written, _, read), u in zip(rows, ids, strict=True)]
    check(out, table(columns, *wanted), ordered=True)


def test_they_are_keys_of_groups(t, check):
    by_b = table({"b": "binary", "n": "int64"}, (b"ab", 2), (b"", 1), (None, 1), (b"\xff\x80\0", 1))
    check(t.aggregate(by="b", n=expr("count(*)")), by_b)
    by_both = t.aggregate(by=["u", "f"], n=expr("count(*)"), first=expr("min(t)"), most=expr("max(b)"))
    check(by_both, table({"u": "uuid", "f": "binary(2)", "n": "int64", "first": "time", "most": "binary"},
                         (ONE.bytes, b"\x00\x01", 2, dt.time(0), b"\xff\x80\0"),
                         (TWO.bytes, b"\xff\xff", 1, dt.time(23, 59, 59, 999999), b""),
                         (None, None, 1, None, None), (TWO.bytes, b"ab", 1, dt.time(9, 30, 0, 1), b"ab")))  # fmt: skip
    check(
        t.aggregate(n=expr("count(DISTINCT u)"), m=expr("count(DISTINCT t)")),
        table({"n": "int64", "m": "int64"}, (2, 4)),
    )


def test_they_are_keys_of_orders_joins_and_distinct_rows(t, source, check):
    names = table({"u": "uuid", "name": "string"}, (ONE.bytes, "one"), (TWO.bytes, "two"), (None, "none"))
    other = source(names, "names")
    joined = t.select("k", "u").join(other, on="u", how="left").select("k", "name")
    check(joined, table({"k": "int64", "name": "string"}, (1, "one"), (2, "two"), (3, None), (4, "one"), (None, "two")))
    check(
        t.sort("b desc", "t").select("t"), table({"t": "time"}, *((ROWS[i][4],) for i in (3, 0, 4, 1, 2))), ordered=True
    )
    check(t.sort("t").select("k"), table({"k": "int64"}, (4,), (1,), (None,), (2,), (3,)), ordered=True)
    check(t.select("u", "f").distinct(), table({"u": "uuid", "f": "binary(2)"}, (ONE.bytes, b"\x00\x01"),
                                               (TWO.bytes, b"\xff\xff"), (None, None), (TWO.bytes, b"ab")))  # fmt: skip


def test_windows_over_them(t, check):
    rows = t.window(by="u", order_by="t", before=expr("lag(b)"), n=expr("row_number()")).select("k", "before", "n")
    check(rows, table({"k": "int64", "before": "binary", "n": "int64"},
                      (4, None, 1), (1, b"\xff\x80\0", 2), (None, None, 1), (2, b"ab", 2), (3, None, 1)))  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("unhex(s)", "unhex(s) has no result, for 6f9619ff-8b86-d011-b42d-00c04fc964ff: not pairs of hexadecimal"),
        ("decode(b)", "decode(b) has no result, for b'\\xff\\x80\\x00': not UTF-8"),
        ("CAST(s AS uuid)", "CAST(s AS uuid) has no result, for YWI=: not a valid uuid"),
        ("CAST(s AS time)", "for 6f9619ff-8b86-d011-b42d-00c04fc964ff: not a valid time"),
        ("from_base64(s)", "from_base64(s) has no result"),
        ("CAST(s || 'é' AS binary)", "for 6f9619ff-8b86-d011-b42d-00c04fc964ffé: not a valid binary"),
        ("CAST(b AS uuid)", "CAST(b AS uuid) has no result, for b'ab': it has 2 bytes, not 16"),
    ],
)  # fmt: skip
def test_values_without_a_result(t, pipeline, local_engine, sql, message):
    t.select(out=expr(sql)).stage("wrong")
    with pytest.raises(RunFailed) as error:
        pipeline.run(engine=local_engine, keep=["wrong"])
    assert message in str(error.value)


def test_what_is_not_compared_or_cast(t, problem):
    assert "cannot compare binary and string" in problem(t.filter(expr("b = s")))
    assert "cannot cast binary(2) to string" in problem(t.select(out=expr("CAST(f AS string)")))
    assert "cannot cast int64 to binary" in problem(t.select(out=expr("CAST(k AS binary)")))
    assert "upper takes string, got binary" in problem(t.select(out=expr("upper(b)")))
    assert "cannot add time and int64" in problem(t.select(out=expr("t + 1")))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("b", "'b' is binary, which names of folders cannot hold"),
        ("u", "Partition by a string: CAST(u AS string)."),
        ("t", "'t' is time, which names of folders cannot hold"),
    ],
)
def test_sinks_are_not_partitioned_by_them(t, column, message):
    t.write_parquet("out", "out", partition_by=column)
    with pytest.raises(InvalidPipeline) as error:
        t.pipeline.plan()
    assert message in str(error.value)


@pytest.fixture
def in_nanoseconds(pipeline, tmp_path):
    """A file of timestamps in nanoseconds, one of which is no whole microsecond."""
    values = pa.array([1_000, 1, None, -1_500, 2_000_000_000], pa.timestamp("ns"))
    nested = pa.StructArray.from_arrays([values], ["at"])
    pq.write_table(pa.table({"n": values, "s": nested}), tmp_path / "n.parquet", row_group_size=2)
    return lambda **keys: pipeline.read_parquet("n", "n.parquet", **keys)


def test_nanoseconds_are_kept_where_the_schema_says_so(in_nanoseconds, check):
    t = in_nanoseconds(schema={"n": "timestamp_ns", "s": "struct<at: timestamp_ns>"})
    sorted_rows = t.sort("n desc").select("n", at=expr("s.at"))
    values = [2_000_000_000, 1_000, 1, -1_500, None]
    ns = pa.array(values, pa.timestamp("ns"))
    check(sorted_rows, pa.table({"n": ns, "at": ns}), ordered=True)
    whole = t.filter(expr("TRY_CAST(n AS timestamp) IS NOT NULL")).select(us=expr("CAST(n AS timestamp)"))
    check(
        whole, table({"us": "timestamp"}, (dt.datetime(1970, 1, 1, 0, 0, 2),), (dt.datetime(1970, 1, 1, 0, 0, 0, 1),))
    )


def test_casts_of_nanoseconds(source, check):
    texts = {
        "2020-01-01 00:00:00.123456789": 1577836800123456789, "1969-12-31T23:59:59.999999999": -1, "2020-01-01": 1577836800 * 10**9, "2020-01-01 10:00": 1577872800 * 10**9,
        "1677-09-21 00:12:43.145224193": 1 - 2**63, "2262-04-11 23:47:16.854775807": 2**63 - 1, "2262-04-11 23:47:16.854775808": None,
        "1677-09-21 00:12:43.145224191": None, "1500-01-01": None, "2500-01-01": None, "2021-02-29": None, "2020-01-01 00:00:00.": None, "x": None,
        "2020-01-01 00:00:01.5": 1577836801500000000, "": None,
    }  # fmt: skip
    ns = pa.array(list(texts.values()), pa.timestamp("ns"))
    days = [dt.date(2020, 1, 1), dt.date(1677, 9, 21), dt.date(2262, 4, 12), None]
    t = source(pa.table({"s": list(texts), "d": pa.array([*days, *[None] * (len(texts) - 4)], pa.date32())}))
    read = t.select(n=expr("TRY_CAST(s AS timestamp_ns)"), d=expr("TRY_CAST(d AS timestamp_ns)"))
    midnight = pa.array([1577836800 * 10**9, *[None] * (len(texts) - 1)], pa.timestamp("ns"))
    check(read, pa.table({"n": ns, "d": midnight}), ordered=True)
    written = read.select(
        text=expr("CAST(n AS string)"), day=expr("TRY_CAST(n AS date)"), us=expr("TRY_CAST(n AS timestamp)"),
        utc=expr("CAST(TRY_CAST(n AS timestamptz) AS string)"),
    )  # fmt: skip
    day, ten, half = dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 10), dt.datetime(2020, 1, 1, 0, 0, 1, 500000)
    rows = [
        ("2020-01-01 00:00:00.123456789", None, None, None), ("1969-12-31 23:59:59.999999999", None, None, None),
        ("2020-01-01 00:00:00.000000000", day.date(), day, "2020-01-01 00:00:00.000000Z"),
        ("2020-01-01 10:00:00.000000000", None, ten, "2020-01-01 10:00:00.000000Z"),
        ("1677-09-21 00:12:43.145224193", None, None, None), ("2262-04-11 23:47:16.854775807", None, None, None), *[(None,) * 4] * 7,
        ("2020-01-01 00:00:01.500000000", None, half, "2020-01-01 00:00:01.500000Z"), (None,) * 4,
    ]  # fmt: skip
    check(written, table({"text": "string", "day": "date", "us": "timestamp", "utc": "string"}, *rows), ordered=True)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CAST('2020-01-01 00:00:00.0000001' AS timestamp_ns)", "2020-01-01 00:00:00.000000100: it has nanoseconds"),
        ("CAST('1500-01-01' AS timestamp_ns)", "for 1500-01-01: not a valid timestamp_ns"),
    ],
)
def test_nanoseconds_without_a_result(source, pipeline, local_engine, sql, message):
    sql = sql if "1500" in sql else f"CAST({sql} AS timestamp)"
    source(table({"k": "int64"}, (1,))).select(out=expr(sql)).stage("wrong")
    with pytest.raises(RunFailed) as error:
        pipeline.run(engine=local_engine, keep=["wrong"])
    assert message in str(error.value)


def test_nanoseconds_that_microseconds_do_not_hold_are_an_error_that_says_what_to_declare(
    in_nanoseconds, pipeline, engine
):
    in_nanoseconds(columns=["s"]).stage("s")
    with pytest.raises(RunFailed, match="would lose data") as error:
        pipeline.run(engine=engine, keep=["s"])
    assert "timestamp_ns in the source's schema" in str(error.value)
