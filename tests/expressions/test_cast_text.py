"""What CAST reads of a text: defined by the language, so that every engine reads the same, and TRY_CAST and CSV files."""

import re
from datetime import date, datetime
from decimal import Decimal
from math import copysign, inf, isnan, nan

import pytest

from expressions.evaluation import table, values
from gpuetl import RunFailed
from gpuetl.errors import EvaluationError
from gpuetl.spec.language_page.values import CASTS

NONE = (None, None, None, None)
TEXTS = {  # as int64, as float64, as decimal(18,3), as bool
    "5": (5, 5.0, Decimal(5), None), "+5": (5, 5.0, Decimal(5), None), "-5": (-5, -5.0, Decimal(-5), None), "007": (7, 7.0, Decimal(7), None),
    "0": (0, 0.0, Decimal(0), False), "1": (1, 1.0, Decimal(1), True), "-0": (0, -0.0, Decimal(0), None), "+0": (0, 0.0, Decimal(0), None), "01": (1, 1.0, Decimal(1), None),
    "1e3": (None, 1000.0, Decimal(1000), None), "1E+3": (None, 1000.0, Decimal(1000), None), "15e-1": (None, 1.5, Decimal("1.5"), None), "1.e2": (None, 100.0, Decimal(100), None),
    "1.5": (None, 1.5, Decimal("1.5"), None), "1.": (None, 1.0, Decimal(1), None), ".5": (None, 0.5, Decimal("0.5"), None), "+.5": (None, 0.5, Decimal("0.5"), None),
    "inf": (None, inf, None, None), "-inf": (None, -inf, None, None), "+Infinity": (None, inf, None, None), "INFINITY": (None, inf, None, None),
    "NaN": (None, nan, None, None), "nan": (None, nan, None, None), "-nan": (None, nan, None, None), "+NAN": (None, nan, None, None),
    "true": (None, None, None, True), "True": (None, None, None, True), "tRUE": (None, None, None, True), "FALSE": (None, None, None, False),
    "9223372036854775807": (2**63 - 1, 2.0**63, None, None), "-9223372036854775808": (-(2**63), -(2.0**63), None, None), "9223372036854775808": (None, 2.0**63, None, None),
    "00000000000000000000000000005": (5, 5.0, Decimal(5), None), "1e308": (None, 1e308, None, None), "5e-324": (None, 5e-324, None, None), "1e-400": (None, 0.0, None, None),
    "1e309": NONE, "-1e400": NONE, "9" * 400: NONE, "nan(1)": NONE, "nan()": NONE, "nan ": (None, nan, None, None), " ": NONE, "\u00a05": NONE, "1 2": NONE, "infinit": NONE, "++inf": NONE, "snan": NONE, "∞": NONE,
    "0x1F": NONE, "0X1f": NONE, "-0x1F": NONE, "+0x1F": NONE, "0x": NONE, "0b1": NONE, "0o7": NONE, "0x1p3": NONE, "0x1.8p1": NONE, "1f": NONE, "1d": NONE, "1L": NONE,
    " 12": (12, 12.0, Decimal(12), None), "12 ": (12, 12.0, Decimal(12), None), " \v12\f ": (12, 12.0, Decimal(12), None), "\t5": (5, 5.0, Decimal(5), None), "5\n": (5, 5.0, Decimal(5), None), "5\0": NONE, "\0": NONE, "1_000": NONE, "1,000": NONE, "1 000": NONE, "": NONE, "-": NONE, "+": NONE, ".": NONE,
    "+-5": NONE, "-+5": NONE, "++5": NONE, "--5": NONE, "e5": NONE, ".e5": NONE, "1e": NONE, "1e+": NONE, "1e1.5": NONE, "1..5": NONE, "1.5.": NONE, "(5)": NONE, "5%": NONE, "5-": NONE,
    "１２": NONE, "٣": NONE, "½": NONE, "－5": NONE, "on": NONE, "off": NONE, "yes ": NONE, "tr": NONE, "ye": NONE,
    **dict.fromkeys(("T", "t", "yes", "Yes", "yES", "y", "Y"), (None, None, None, True)), **dict.fromkeys(("F", "f", "no", "NO", "n", "N"), (None, None, None, False)),
    " true": NONE, "null": NONE, "None": NONE,
}  # fmt: skip
TYPES = ("int64", "float64", "decimal(18,3)", "bool")
CASES = [(text, dtype, held) for text, all_held in TEXTS.items() for dtype, held in zip(TYPES, all_held, strict=True)]


def same(got, expected):
    if isinstance(expected, float) and isinstance(got, float):
        return (isnan(got) and isnan(expected)) or (got == expected and copysign(1, got) == copysign(1, expected))
    return type(got) is type(expected) and got == expected


@pytest.mark.parametrize("dtype", TYPES)
def test_a_lenient_cast_reads_what_the_language_says_whatever_stands_beside_it(dtype):
    """A column of all texts, and each of them alone and as a constant."""
    given, expected = list(TEXTS), [held[TYPES.index(dtype)] for held in TEXTS.values()]
    sql = f"TRY_CAST(x AS {dtype})"
    assert all(map(same, values(sql, table(x=("string", [*given, None]))), [*expected, None]))
    for text, held in zip(given, expected, strict=True):
        assert same(values(sql, table(x=("string", [text])))[0], held), text
        assert same(values(f"TRY_CAST('{text}' AS {dtype})")[0], held), text


@pytest.mark.part(4)
@pytest.mark.parametrize(("text", "dtype", "held"), CASES)
def test_a_cast_reads_the_same_or_is_refused(text, dtype, held):
    sql, frame = f"CAST(x AS {dtype})", table(x=("string", [None, text]))
    if held is not None:
        assert same(values(sql, frame)[1], held)
        assert same(values(f"CAST('{text}' AS {dtype})")[0], held)
        return
    with pytest.raises(EvaluationError, match=r"^CAST\(x AS .*\) has no result in row 1, for "):
        values(sql, frame)
    with pytest.raises(EvaluationError, match=r"(?s)^CAST\('.*(' AS .*\)|…) has no result, for "):
        values(f"CAST('{text}' AS {dtype})")


@pytest.mark.parametrize(
    ("text", "dtype", "held"),
    [
        ("-0", "uint8", 0), ("-000", "uint64", 0), ("+255", "uint8", 255), ("256", "uint8", None), ("-1", "uint8", None), ("18446744073709551615", "uint64", 2**64 - 1),
        ("+0x1", "uint8", None), ("-128", "int8", -128), ("+128", "int8", None), ("0x1F", "uint16", None),
        ("1e39", "float32", None), ("-1e39", "float32", None), ("3.4028235e38", "float32", 3.4028234663852886e38), ("3.4028236e38", "float32", None), ("1e-46", "float32", 0.0),
        ("16777217", "float32", 16777216.0), ("Infinity", "float32", inf),
    ],
)  # fmt: skip
def test_a_number_is_what_its_type_holds(text, dtype, held):
    frame = table(x=("string", [text, None]))
    assert all(map(same, values(f"TRY_CAST(x AS {dtype})", frame), [held, None]))
    if held is None:
        with pytest.raises(EvaluationError):
            values(f"CAST(x AS {dtype})", frame)


@pytest.mark.parametrize("dtype", ["int64", "float64", "decimal(18,3)", "bool", "uint8", "float32"])
@pytest.mark.parametrize("given", [[], [None, None]])
def test_no_text_and_nulls_are_read_as_such(dtype, given):
    assert values(f"CAST(x AS {dtype})", table(x=("string", given))) == given


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_the_page_of_the_language_says_so(dtype):
    """Its regular expressions take the texts that have a value, and those that are beyond the type."""
    row = next(line for line in CASTS.splitlines() if line.startswith(f"| {dtype.rstrip('64')}"))
    pattern = row.split(" | ")[1].strip("`").replace("\\|", "|")
    named = re.compile("[-+]?(inf|infinity|nan)", re.IGNORECASE)
    for text, held in TEXTS.items():
        number = text.strip(" \t\n\v\f\r")
        taken = re.fullmatch(pattern, number) or (dtype == "float64" and named.fullmatch(number))
        beyond = {"int64": ["9223372036854775808", "9" * 400], "float64": ["1e309", "-1e400", "9" * 400]}[dtype]
        assert bool(taken) == (held[TYPES.index(dtype)] is not None or text in beyond), text


def csv_values(pipeline, text, dtype):
    """The column of a CSV file that holds nothing, then the text in quotes."""
    (pipeline.root / "s.csv").write_text(f'x,y\n,1\n"{text}",2\n', encoding="utf-8")
    rows = pipeline.read_csv("s", "s.csv", {"x": dtype, "y": "int64"})
    return pipeline.run(keep=[rows.named()])["s"].to_arrow().column("x").to_pylist()


@pytest.mark.part(12)
@pytest.mark.slow
@pytest.mark.parametrize(("text", "dtype", "held"), [case for case in CASES if not re.search(r"^\s|\s$|\0", case[0])])
def test_a_csv_file_s_values_are_read_the_same(pipeline, text, dtype, held):
    if held is None:
        with pytest.raises(RunFailed, match=r"s\.csv:3: column 'x': "):
            csv_values(pipeline, text, dtype)
    else:
        got = csv_values(pipeline, text, dtype)
        assert got[0] is None
        assert same(got[1], held)


@pytest.mark.parametrize(
    ("text", "dtype", "held"),
    [
        (" 12", "int64", 12), ("12\t ", "int64", 12), (" -1.5 ", "float64", -1.5), ("nan ", "float64", nan), (" 1.5", "decimal(18,3)", Decimal("1.5")), (" true", "bool", True),
        (" 2013-03-09 ", "date", date(2013, 3, 9)), (" 2013-03-09 17:05", "timestamp", datetime(2013, 3, 9, 17, 5)), (" a ", "string", " a "),
        ("\u00a012", "int64", None), ("1 2", "int64", None), (" ", "int64", None), ("", "int64", None), (" ", "float64", None),
    ],
)  # fmt: skip
def test_spaces_and_tabs_around_a_csv_file_s_values_do_not_count(pipeline, text, dtype, held):
    if held is None:
        with pytest.raises(RunFailed, match=r"s\.csv:3: column 'x': "):
            csv_values(pipeline, text, dtype)
    else:
        assert all(map(same, csv_values(pipeline, text, dtype), [None, held]))
