"""Casts between texts and numbers in CUDA, compiled for the CPU: the pandas engine's values, and Python's floats."""

import math
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from expressions.test_cast_text import TEXTS as LANGUAGE
from fuzz.data import TYPES
from gpu_engine.differential import assert_same, casts, computed
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.pandas.expressions.evaluate import NoResult
from gpuetl.expressions.ir import Cast, Column
from gpuetl.types.data_types import BOOL, FLOAT64, STRING, is_number, parse_type

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
FLOAT32 = pa.float32()
NUMBERS = [dtype for dtype in TYPES.values() if dtype == BOOL or is_number(dtype)]
LONG = ("decimal(38,38)", "decimal(38,20)", "decimal(38,0)", "decimal(1,1)")
TEXTS = (
    "0", "-0", "+5", "007", "-007", "", "-", "+", ".", "-.", " 5", "5 ", "--5", "+-5", "1_000", "1,5", "٣", "12a", "0" * 40 + "1",
    "127", "128", "-128", "-129", "255", "256", "65535", "65536", "4294967295", "4294967296", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "1.", ".5", "-.5", "+1.5", "1.50", "1.5.5", "1e5", "1E5", "1e+5", "1e-5", "-1e-2", "1000e-3", "0.1e1", "1e", "1e+", "e5", ".e5",
    "1.e5", "1e5.5", "1e5e5", "1e00005", "1e38", "1e-38", "1e400", "-1e400", "1e-400", "0e9", "1d5", "1f", "1" + "0" * 60,
    "9999999.99", "-9999999.99", "99999999.99", "12.345", "0.9999", "0.99999", "9" * 38, "-" + "9" * 38, "9" * 34 + ".9999",
    "0." + "9" * 38, "0." + "9" * 39, "inf", "-INF", "+Infinity", "infinit", "nan", "-NaN", "true", "TRUE", "tRuE", "False", "t", "1", "01",
)  # fmt: skip


def cast(values, source, target, *, lenient=False):
    """Cast values in a kernel."""
    column = values if isinstance(values, pa.Array) else pa.array(values, source)
    return computed(Cast(Column("x", source), target, lenient), pa.table({"x": column}))


def bits_of(floats):
    """Return the bits of floats that are not NaN."""
    values = floats.to_numpy()
    return np.where(np.isnan(values), 0, values.view(np.uint64 if values.itemsize == 8 else np.uint32))


def any_floats(count, seed=0):
    """Return floats of random bits, the least ones, and those around powers of two."""
    drawn = np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)
    around = np.array([(power << 52) + step for power in range(1, 2047) for step in (-1, 0, 1)], np.uint64)
    return np.concatenate([drawn, np.arange(100, dtype=np.uint64), around]).view(np.float64)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_number_is_written_as_the_pandas_engine_writes_it(dtype):
    """Extremes, nulls, NaN and infinities among them."""
    for expr, table in casts(dtype, [STRING], lenient=False):
        assert_same(expr, table)


@pytest.mark.part(12)
@pytest.mark.parametrize("dtype", [*NUMBERS, *map(parse_type, LONG)], ids=str)
def test_text_is_read_as_the_pandas_engine_reads_it(dtype):
    """TRY_CAST gives null where CAST refuses, and CAST refuses the first such row."""
    table = pa.table({"x": [None, *TEXTS, *LANGUAGE]})
    assert_same(Cast(Column("x", STRING), dtype, lenient=True), table)
    assert_same(Cast(Column("x", STRING), dtype), table)


@pytest.mark.parametrize(
    ("dtype", "texts"),
    [
        ("decimal(38,38)", ["0." + "9" * 38, "-0." + "0" * 37 + "1", "0." + "0" * 38]),
        ("decimal(38,20)", ["9" * 18 + "." + "9" * 20, "-1." + "0" * 20, "0." + "0" * 19 + "7"]),
        ("decimal(38,0)", ["9" * 38, "-" + "9" * 38, "1" + "0" * 19, "0", "9" * 19]),
        ("decimal(1,1)", ["0.9", "-0.1", "0.0"]),
    ],
)
def test_decimal_is_written_with_all_digits_of_its_scale(dtype, texts):
    """And reads back from that."""
    decimals = pa.array(list(map(Decimal, texts)), parse_type(dtype))
    assert cast(decimals, decimals.type, STRING).to_pylist() == texts
    assert cast(texts, STRING, decimals.type).equals(decimals)


def test_refused_text_names_its_row_and_value():
    """The first row that is no number, with the expression."""
    with pytest.raises(NoResult, match=r"CAST\(x AS int32\) has no result in row 1, for 1\.5: not a valid int32"):
        cast(["1", "1.5", "x"], STRING, pa.int32())


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"), (-0.0, "-0"), (1.0, "1"), (-2.5, "-2.5"), (0.1, "0.1"), (1e-6, "0.000001"), (1.25e-6, "0.00000125"),
        (9.9e-7, "9.9e-7"), (1e-7, "1e-7"), (1234567890.5, "1234567890.5"), (9999999999.9, "9999999999.9"),
        (1e9, "1000000000"), (1e10, "1e+10"), (12345678901.5, "1.23456789015e+10"), (1e22, "1e+22"), (5e-324, "5e-324"),
        (2**53 + 2.0, "9.007199254740994e+15"), (1.7976931348623157e308, "1.7976931348623157e+308"),
        (2.2250738585072014e-308, "2.2250738585072014e-308"), (float("inf"), "inf"), (float("-inf"), "-inf"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_float_is_written_in_its_shortest_digits(number, text):
    """With an exponent below a millionth and from ten thousand millions."""
    assert cast([number], FLOAT64, STRING).to_pylist() == [text]


def test_float32_is_written_in_the_digits_that_tell_float32_apart():
    """Fewer than those of the same number as float64."""
    numbers = [0.1, 1 / 3, 16777216.0, 3.4028235e38, 1e-45, 1.17549435e-38, -0.0]
    texts = ["0.1", "0.33333334", "16777216", "3.4028235e+38", "1e-45", "1.1754944e-38", "-0"]
    assert cast(numbers, FLOAT32, STRING).to_pylist() == texts


def test_every_float_is_written_as_arrow_writes_it():
    """Random bits, the least subnormal numbers, and both sides of each power of two."""
    doubles = pa.array(any_floats(50_000))
    assert cast(doubles, FLOAT64, STRING).equals(doubles.cast(STRING))
    singles = pa.array(np.random.default_rng(1).integers(0, 2**32, 50_000, dtype=np.uint32).view(np.float32))
    assert cast(singles, FLOAT32, STRING).equals(singles.cast(STRING))


def test_written_float_reads_back():
    """As the same bits; NaN as NaN."""
    doubles = pa.array(any_floats(20_000, seed=2))
    assert np.array_equal(bits_of(cast(cast(doubles, FLOAT64, STRING), STRING, FLOAT64)), bits_of(doubles))


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
def test_text_of_few_digits_is_the_nearest_float(dtype):
    """Digits that 64 bits hold, times powers of ten; beyond the greatest float, where Arrow's is infinite, it is none."""
    draws = random.Random(3)
    texts = [f"{draws.getrandbits(draws.randint(1, 63))}e{draws.randint(-345, 312)}" for _ in range(20_000)]
    texts += [f"{draws.getrandbits(40)}e{draws.randint(-60, 30)}" for _ in range(10_000)]
    read = cast(texts, STRING, dtype, lenient=True)
    assert np.array_equal(bits_of(read.fill_null(math.inf)), bits_of(pa.array(texts).cast(dtype)))


@pytest.mark.parametrize(("dtype", "bits"), [(FLOAT64, 52), (FLOAT32, 23)], ids=["float64", "float32"])
def test_text_beside_the_middle_of_two_floats_is_decided_by_its_last_digit(dtype, bits):
    """The middle itself, to all of its digits, goes to the even float; a digit more or less decides."""
    draws, texts = random.Random(4), []
    storage = f"u{dtype.bit_width // 8}"
    greatest = (1 << (dtype.bit_width - 1)) - (1 << bits) - 2
    for _ in range(300):
        below = draws.choice(
            [draws.randint(0, greatest), draws.getrandbits(bits), greatest // 2 + draws.getrandbits(bits)]
        )
        pair = np.array([below, below + 1], storage).view(f"f{dtype.bit_width // 8}").tolist()
        middle = exact_middle(*pair)
        texts += [middle, f"{middle}e0", f"{middle}{'0' * 900}1", f"{middle}000", middle[:-1] + "49", f"-{middle}1"]
    assert np.array_equal(bits_of(cast(texts, STRING, dtype)), bits_of(pa.array(texts).cast(dtype)))
    if dtype == FLOAT64:
        assert np.array_equal(bits_of(cast(texts, STRING, dtype)), bits_of(pa.array(list(map(float, texts)))))


def exact_middle(low, high):
    """Return the text of the number between two floats, with a point; it ends in 5."""
    (low_units, low_ones), (high_units, high_ones) = low.as_integer_ratio(), high.as_integer_ratio()
    twos = (2 * max(low_ones, high_ones)).bit_length() - 1
    units = (low_units * (2**twos // low_ones) + high_units * (2**twos // high_ones)) // 2
    return format(Decimal((0, tuple(map(int, str(units * 5**twos))), -twos)), "f")


def test_long_text_is_the_nearest_float():
    """Thousands of digits before the point, behind it, and zeros that an exponent undoes."""
    texts = [
        "0." + "0" * 400 + "1e401", "1" + "0" * 400 + "e-400", "1" * 309, "1" * 310 + "e-1", "0." + "3" * 5000, "9" * 5000 + "e-5000",
        "17976931348623157" + "0" * 292, "17976931348623158079" + "0" * 289, "2.4703282292062327208" + "0" * 800 + "1e-324",
    ]  # fmt: skip
    assert cast(texts, STRING, FLOAT64).to_pylist() == [float(text) for text in texts]


def test_number_that_no_finite_float_is_nearest_to_is_refused():
    """From the middle between the greatest float and the next power of two on."""
    greatest, next_power = int(1.7976931348623157e308), 2**1024
    middle = (greatest + next_power) // 2
    texts = [str(middle - 1), f"{middle - 1}.{'9' * 800}", str(middle), f"-{middle}", "1e400", "1e99999999999999999999"]
    expected = [float(greatest), float(greatest), None, None, None, None]
    assert cast(texts, STRING, FLOAT64, lenient=True).to_pylist() == expected
    texts = ["340282356779733661637539395458142568447", "340282356779733661637539395458142568448", "1e39"]
    assert cast(texts, STRING, FLOAT32, lenient=True).to_pylist() == [3.4028234663852886e38, None, None]
    with pytest.raises(NoResult, match="for 1e39: not a valid float32"):
        cast(["1e39"], STRING, FLOAT32)


def test_decimal_of_more_digits_than_it_holds_is_refused_exactly():
    """Zeros at either end are no digits; any number of them can be written."""
    texts = ["0" * 100 + "1.5" + "0" * 100, "150" + "0" * 90 + "e-92", "0e999999999999999999999", "1.555", "10000000"]
    read = cast(texts, STRING, pa.decimal128(9, 2), lenient=True).to_pylist()
    assert read == [Decimal("1.50"), Decimal("1.50"), Decimal("0.00"), None, None]
