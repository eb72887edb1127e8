"""The language's types: their names, and how two of them meet."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from expressions.evaluation import value
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.dialect import Language
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.syntax import CastTo, Name
from gpuetl.types.data_types import (
    NAMED,
    SQL_NAMES,
    can_cast,
    common_type,
    integer_fits,
    language_type,
    literal_type,
    parse_type,
    type_name,
)
from gpuetl.types.sql_names import sql_type_name

KEYWORDS = Language.Tokenizer.KEYWORDS


@pytest.mark.parametrize(
    "name",
    [
        *(n for n in NAMED if n != "boolean"),
        "decimal(10,2)",
        "decimal(38,38)",
        "timestamp[UTC]",
        "timestamp[America/New_York]",
        "list<int8>",
        "list<decimal(10,2)>",
        "list<timestamp[UTC]>",
    ],
)
def test_names_are_read_and_written(name):
    assert type_name(parse_type(name)) == name


@pytest.mark.parametrize(("name", "bits"), [("int8", 8), ("int64", 64), ("uint16", 16), ("float32", 32)])
def test_the_number_in_a_name_is_its_bits(name, bits):
    assert parse_type(name).bit_width == bits


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("varchar(10)", "string"), ("CHAR (2)", "string"), ("text(10)", "string"), ("character varying(3)", "string"), ("nchar", "string"), ("oid", "int64"),
        ("timestamp(6)", "timestamp"), ("datetime(4)", "timestamp"), ("timestamp(9)", "timestamp_ns"), ("timestamp(6) without time zone", "timestamp"),
        ("varchar(2)[]", "list<string>"), ("struct<a: varchar(3)>", "struct<a: string>"),
    ],
)  # fmt: skip
def test_a_size_of_strings_counts_nothing_and_digits_of_a_second_are_a_unit(name, dtype):
    assert parse_type(name) == parse_type(dtype)
    if "<" not in name:
        assert value(f"CAST(NULL AS {name}) IS NULL")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CAST('2022-08-15 07:52:55' AS TIMESTAMP_S)", datetime(2022, 8, 15, 7, 52, 55)), ("CAST(DATE '2022-08-15' AS timestamp_ms)", datetime(2022, 8, 15)),
        ("CAST('2022-08-15 07:52:55.25' AS timestamp(3))", datetime(2022, 8, 15, 7, 52, 55, 250000)), ("TRY_CAST('x' AS timestamp_s)", None), ("CAST(NULL AS timestamp(0))", None),
    ],
)  # fmt: skip
def test_constants_in_seconds_and_milliseconds_are_timestamps(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("CAST(x AS timestamp_s)", "gpuetl has no timestamp_s: its timestamps are in microseconds", "Write CAST(x AS timestamp); date_trunc('second', x) cuts the fraction."),
        ("CAST('2022-08-15 07:52:55.2501' AS timestamp_ms)", "timestamp_ms has whole milliseconds, and this constant has a fraction", "Write CAST(x AS timestamp);"),
        ("CAST('2022' AS timestamp_s)", "'2022' is not a valid timestamp", "Write it like TIMESTAMP '2026-01-31 10:00:00'."),
        ("CAST(1 AS uhugeint)", "unknown type 'uint128'", "Write decimal(38,0), the largest whole numbers of gpuetl."), ("CAST('1:00' AS timetz)", "unknown type 'timetz'", "A time of day has no zone"),
        ("CAST(1 AS bit)", "unknown type 'bit'", "Write int64"), ("CAST(x AS timestamp_ms[])", "unknown type 'array<timestamp_ms>'", "Types: bool"),
    ],
)  # fmt: skip
def test_types_that_are_missing_say_what_to_write(sql, message, hint):
    with pytest.raises(InvalidExpression) as error:
        parse_expression(sql)
    assert error.value.message == message
    assert error.value.hint.startswith(hint)


@pytest.mark.parametrize(
    "name",
    [
        "int46",
        "object",
        "decimal()",
        "decimal(39,2)",
        "decimal(٣,1)",
        "decimal(5,2) x",
        "varchar(x)",
        "int(4)",
        "timestamp(3)",
        "timestamp(10)",
        "timestamp_s",
        "string(3) with time zone",
        "double  precision 3",
        "decimal(2,3)",
        "decimal(0,0)",
        "list",
        "list<>",
        "list<object>",
        "list<int64, int64>",
        "struct<>",
        "struct<a>",
        "struct<a: int64, a: string>",
        "struct<a: thing>",
        "map<string>",
        "map<list<string>, int64>",
        "binary(0)",
        "",
    ],
)
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="unknown type"):
        parse_type(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("decimal", "decimal(18,3)"), ("NUMERIC", "decimal(18,3)"), ("decimal(5)", "decimal(5,0)"), ("Decimal( 5 , 2 )", "decimal(5,2)"), ("numeric (5)", "decimal(5,0)"),
        ("int", "int32"), ("INTEGER", "int32"), ("Int64", "int64"), ("INT8", "int8"), ("bigint", "int64"), ("double", "float64"), ("Double  Precision", "float64"),
        ("INT[]", "list<int32>"), ("text[][]", "list<list<string>>"), ("decimal(5,2)[]", "list<decimal(5,2)>"),
        ("UTINYINT", "uint8"), ("usmallint", "uint16"), ("uinteger", "uint32"), ("ubigint", "uint64"), ("signed", "int32"), ("HUGEINT", "decimal(38,0)"), ("int128[]", "list<decimal(38,0)>"), ("char", "string"), ("nvarchar", "string"),
        ("datetime", "timestamp"), ("timestamp_us", "timestamp"), ("guid", "uuid"), ("logical", "bool"),
        ("float", "float32"), ("text", "string"), ("VARCHAR", "string"), ("BOOLEAN", "bool"), ("interval", "duration"), ("list<decimal>", "list<decimal(18,3)>"), ("LIST<INT>", "list<int32>"),
        ("timestamp with time zone", "timestamp[UTC]"), ("timestamptz", "timestamp[UTC]"), ("TIMESTAMP[Europe/Berlin]", "timestamp[Europe/Berlin]"), ("TimeStamp[-03:30]", "timestamp[-03:30]"),
    ],
)  # fmt: skip
def test_sql_s_names_mean_the_same_in_a_cast_and_anywhere_else(name, meant):
    assert type_name(parse_type(name)) == meant
    in_cast = f'"{name}"' if "[" in name.replace("[]", "") else name  # SQL has no brackets with a zone there
    assert parse_expression(f"CAST(x AS {in_cast})") == CastTo(Name("x"), parse_type(meant))


def named(read, text):
    """The type that a way to read types has for a text, or None."""
    try:
        return read(text)
    except (ValueError, InvalidExpression):
        return None


@pytest.mark.parametrize("name", sorted(word for word, kind in KEYWORDS.items() if kind in Language.Parser.TYPE_TOKENS))
def test_every_word_for_a_type_that_sql_knows_is_taken_in_both_places_or_in_neither(name):
    in_cast = named(
        lambda text: getattr(parse_expression(f"CAST(x AS {text})"), "dtype", None), name
    )  # JSON: a function
    assert named(parse_type, name) == named(parse_type, name.lower()) == in_cast


@pytest.mark.parametrize("name", SQL_NAMES)
def test_every_name_of_the_table_is_taken_by_a_cast(name):
    assert parse_expression(f"CAST(x AS {name})") == CastTo(Name("x"), parse_type(name))


@pytest.mark.parametrize(
    ("left", "right", "meeting"),
    [
        ("int8", "int16", "int16"), ("uint8", "uint32", "uint32"), ("int8", "uint8", "int16"), ("int8", "uint32", "int64"), ("int64", "uint8", "int64"),
        ("int8", "uint64", "decimal(20,0)"), ("int64", "uint64", "decimal(20,0)"), ("int8", "float32", "float64"), ("float32", "float64", "float64"), ("float32", "float32", "float32"),
        ("date", "timestamp", "timestamp"), ("date", "timestamp[UTC]", None), ("timestamp", "timestamp[UTC]", None),
        ("timestamp[Europe/Berlin]", "timestamp[UTC]", "timestamp[UTC]"), ("timestamp[Asia/Tokyo]", "timestamp[Europe/Berlin]", "timestamp[UTC]"),
        ("string", "int64", None), ("string", "date", None), ("bool", "int8", None), ("duration", "int64", None),
        ("decimal(10,2)", "decimal(10,2)", "decimal(10,2)"), ("decimal(10,2)", "int64", "decimal(21,2)"),
        ("decimal(10,2)", "decimal(6,4)", "decimal(12,4)"), ("decimal(10,2)", "int8", "decimal(10,2)"), ("decimal(3,2)", "uint64", "decimal(22,2)"),
        ("decimal(38,0)", "decimal(38,1)", None), ("decimal(38,38)", "int8", None), ("decimal(38,19)", "int64", "decimal(38,19)"),
        ("decimal(38,20)", "int64", None), ("decimal(10,2)", "float32", "float64"), ("decimal(10,2)", "string", None), ("decimal(10,2)", "bool", None),
    ],
)  # fmt: skip
def test_two_types_meet_without_loss_or_not_at_all(left, right, meeting):
    expected = parse_type(meeting) if meeting else None
    assert common_type(parse_type(left), parse_type(right)) == expected
    assert common_type(parse_type(right), parse_type(left)) == expected


@pytest.mark.parametrize("name", ["bool", "int8", "string", "timestamp[UTC]", "decimal(10,2)"])
def test_null_meets_everything(name):
    assert common_type(pa.null(), parse_type(name)) == common_type(parse_type(name), pa.null()) == parse_type(name)


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "bool"), (1, "int64"), (1.0, "float64"), ("x", "string"), (date(2020, 1, 1), "date"), (datetime(2020, 1, 1), "timestamp"),
     (datetime(2020, 1, 1, tzinfo=UTC), "timestamp[UTC]"), (timedelta(1), "duration"),
     (Decimal("1.10"), "decimal(3,2)"), (Decimal("-0.05"), "decimal(2,2)"), (Decimal("1E+3"), "decimal(4,0)"), (Decimal(0), "decimal(1,0)"),
     (Decimal("9" * 38), "decimal(38,0)"), (2**63, "decimal(19,0)"), (-(2**63) - 1, "decimal(19,0)")],
)  # fmt: skip
def test_constants_have_types(value, name):
    assert type_name(literal_type(value)) == name


@pytest.mark.parametrize(
    "value",
    [
        10**38,
        b"x",
        [1],
        object(),
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal(10) ** 38,
        Decimal("1E-39"),
    ],
)
def test_other_constants_are_refused(value):
    with pytest.raises(ValueError, match=r"fit|cannot stand|38 are the most"):
        literal_type(value)


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        (pa.dictionary(pa.int32(), pa.string()), "string"), (pa.large_string(), "string"), (pa.string_view(), "string"), (pa.timestamp("ns"), "timestamp"),
        (pa.timestamp("ms", tz="UTC"), "timestamp[UTC]"), (pa.date64(), "date"), (pa.duration("ns"), "duration"), (pa.decimal128(9, 2), "decimal(9,2)"),
        (pa.list_(pa.int8()), "list<int8>"), (pa.large_list(pa.timestamp("ns")), "list<timestamp>"),
        (pa.list_(pa.dictionary(pa.int32(), pa.string()), 3), "list<string>"), (pa.list_(pa.list_(pa.int8())), "list<list<int8>>"),
        (pa.list_(pa.binary()), "list<binary>"), (pa.large_binary(), "binary"), (pa.binary(16), "uuid"), (pa.binary(3), "binary(3)"), (pa.uuid(), "uuid"),
        (pa.struct([pa.field("a", pa.int8(), nullable=False), ("b", pa.timestamp("ns"))]), "struct<a: int8, b: timestamp>"),
        (pa.map_(pa.large_string(), pa.struct([("a b", pa.int8())])), 'map<string, struct<"a b": int8>>'),
        (pa.time64("ns"), "time"), (pa.time32("s"), "time"), (pa.float16(), "float32"), (pa.json_(), "string"), (pa.decimal256(30, 2), "decimal(30,2)"),
        (pa.run_end_encoded(pa.int32(), pa.int64()), "int64"), (pa.list_(pa.dense_union([pa.field("a", pa.int8())])), None),
    ],
)  # fmt: skip
def test_stored_types_are_read_as_types_of_the_language(stored, read):
    assert language_type(stored) == (parse_type(read) if read else None)


@pytest.mark.parametrize(
    ("value", "name", "fits"),
    [(127, "int8", True), (128, "int8", False), (-128, "int8", True), (-1, "uint8", False), (255, "uint8", True)],
)
def test_integers_fit_by_their_bits(value, name, fits):
    assert integer_fits(value, parse_type(name)) is fits


@pytest.mark.parametrize(
    ("source", "target", "possible"),
    [
        ("string", "date", True),
        ("int64", "decimal(3,1)", True),
        ("timestamp", "date", True),
        ("bool", "date", False),
        ("date", "int64", False),
        ("string", "duration", True),
        ("uuid", "binary", True),
        ("binary", "binary(3)", True),
        ("binary(3)", "uuid", False),
        ("binary(3)", "string", False),
        ("timestamp_ns", "int64", False),
        ("timestamp_ns", "timestamp[UTC]", True),
        ("timestamp_ns", "timestamp[Europe/Berlin]", False),
    ],
)
def test_some_types_cannot_be_cast_at_all(source, target, possible):
    assert can_cast(parse_type(source), parse_type(target)) is possible


def test_names_of_types_are_those_of_duckdb_and_are_read_again():
    names = (
        *(name for name in NAMED if name != "uuid"), "decimal(10,2)", "timestamp[UTC]",
        "list<list<int8>>", "map<string, list<float32>>", 'struct<a: int64, "B c": struct<d: date>>',
    )  # fmt: skip
    for name in names:
        dtype, shown = parse_type(name), sql_type_name(parse_type(name))
        rows = duckdb.from_arrow(pa.table({"x": pa.nulls(1, dtype)}))
        assert rows.project("typeof(x)").fetchall() == [(shown,)]
        target = parse_expression(f"CAST(x AS {shown})")
        assert isinstance(target, CastTo)
        assert target.dtype == dtype
    assert sql_type_name(parse_type("uuid")) == "UUID"
