"""Every window function in CUDA, compiled for the CPU, over nasty tables: the pandas engine's rows and refusals."""

import random
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from fuzz.data import TYPES
from fuzz.signatures import signatures
from gpu_engine import nvrtc
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpu_engine.window_cases import (
    ORDERS,
    START,
    TIMELESS,
    answer,
    assert_same,
    calls_of,
    column,
    nasty_table,
    outcome,
    windowed,
    written,
)
from gpuetl.engines.cudf.relational import frame_order, window_scans
from gpuetl.engines.cudf.relational import window_frames as window_rows
from gpuetl.engines.cudf.relational.window_functions import WINDOW_FUNCTIONS
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Literal
from gpuetl.plan.node import SortKey
from gpuetl.telemetry.recorder import Recorder, recording

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
NAMES = [name for (kind, name), each in FUNCTIONS.items() if kind == "window" and not each.definition]
MANY = (
    "row_number()", "cume_dist()", "ffill(s)", "bfill(s)", "lead(x, 1, -1, true)", "cum_sum(x)", "cum_sum(q)", "cum_max(s)",
    "cum_prod(f)", "ewm_mean(f, half_life => interval '1 hour')", "decayed_sum(f, 2)", "session_id(interval '1 hour')",
    "rolling_sum(q, 3)", "rolling_std(f, interval '1 hour')", "dense_rank()", "first(x, ignore_nulls => true)",
    "rolling_sum(f, rows => [-2, 2])", "rolling_min(s, rows => [NULL, -1])", "rank('max')", "nth_value(s, 2, true)",
    "rolling_mean(q, range => [INTERVAL '-1 hour', INTERVAL '2 hours'])", "rolling_count(x, rows => [1, NULL])",
    "rolling_median(f, 3)", "rolling_quantile(f, 0.25, interval '1 hour')", "rolling_count_distinct(s, rows => [NULL, 2])",
    "rolling_nth_value(s, 2, 40)", "rolling_nth_value(x, 30, rows => [NULL, 5], ignore_nulls => true)", "nth_value(f, 9) FILTER (WHERE x > 0)",
    "last(s) FILTER (WHERE x > 2)", "cum_min(f)", "diff(x)", "rolling_max(s, 5)", "rolling_mean(x, interval '1 hour')",
)  # fmt: skip


MOST, LEAST = Decimal("9" * 34 + ".9999"), Decimal("-" + "9" * 34 + ".9999")


def numbered(*values, dtype="int64"):
    """Return values in the order of `id`."""
    x = pa.array(values, "int32").cast("date32") if dtype == "date" else pa.array(values, TYPES[dtype])
    return pa.table({"id": pa.array(range(len(values)), pa.int64()), "x": x})


def computed(text, table):
    """Return the values of one call over one group in the order of `id`; or why there are none."""
    calls, table = written([text], table)
    given = outcome(answer, windowed(table, calls, (), [SortKey("id")]), table, HostMachine())
    return given if isinstance(given, str) else given.column("w0").to_pylist()


def many(rows, seed):
    """Return many calls at once, and their table."""
    draws = random.Random(seed)
    table = nasty_table(rows, draws)
    for name, dtype in (("x", "int64"), ("f", "float64"), ("s", "string"), ("q", "decimal(38,4)")):
        table = table.append_column(name, column(TYPES[dtype], rows, draws))
    return written(MANY, table)


def test_every_window_function_is_there():
    assert set(WINDOW_FUNCTIONS) == {*NAMES, "ewm_moment"}


@pytest.mark.part(12)
@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize("name", NAMES)
def test_window_function_has_the_rows_and_refusals_of_the_pandas_engine(name, wild):
    draws, ways = random.Random(f"{name}{wild}"), list(signatures("window", name))
    for way in draws.sample(ways, min(1 if wild else 2, len(ways))):
        made = calls_of(way, nasty_table(draws.choice((150, 40)), draws), draws, wild)
        if made is not None:
            call, table = made
            by, order = draws.choice(((), ("g",), ("g", "h"))), draws.choice(orders_for(call))
            assert_same(windowed(table, {"w": call}, by, order), table)


def orders_for(call):
    """Return the orders that a call may have: by a time or a number where it compares the key."""
    values = [arg.value for arg in call.args if isinstance(arg, Literal)]
    given = dict(zip((slot.name for slot in call.function.arguments), call.args, strict=False))
    ends = (given["range"].value or ()) if "range" in given else ()
    if any(isinstance(value, timedelta) for value in [*values, *ends]):
        return ORDERS
    return [(SortKey("id"),)] if ends else TIMELESS


@pytest.mark.parametrize("rows", [0, 1, 2, 33])
def test_many_functions_at_once_over_few_rows(rows):
    calls, table = many(rows, "few")
    assert assert_same(windowed(table, calls, ("g",), ORDERS[0]), table)


BY_ORDER = (
    "rolling_median(f, 5)", "rolling_quantile(f, 0.9, rows => [-40, 7])", "rolling_quantile(x, 1, rows => [1, NULL])",
    "rolling_count_distinct(s, 9)", "rolling_count_distinct(f, rows => [-70, -3])", "rolling_count_distinct(q, rows => [NULL, 0])",
)  # fmt: skip


@pytest.mark.parametrize("short", [0, 32], ids=["by wavelet", "frame by frame"])
def test_few_and_many_rows_are_put_in_order_alike(short, monkeypatch):
    monkeypatch.setattr(frame_order, "SHORT", short)
    _, table = many(700, "ordered")
    calls, table = written(BY_ORDER, table)
    for by in ((), ("g", "h")):
        assert assert_same(windowed(table, calls, by, ORDERS[0]), table)


def test_presorted_rows_stay_where_they_are():
    calls, table = many(60, "presorted")
    table = table.sort_by([("g", "ascending"), ("t", "ascending"), ("id", "ascending")])
    assert assert_same(replace(windowed(table, calls, ("g",), ORDERS[0]), presorted=True), table)


EMULATED = pytest.mark.full(reason="all window functions on the emulated GPU over one group and over many")


@pytest.mark.parametrize(
    "by",
    [
        pytest.param((), id="one group", marks=EMULATED),
        pytest.param(("g",), id="few groups"),
        pytest.param(("g", "h"), id="many groups", marks=EMULATED),
    ],
)
def test_the_gpus_side_of_the_kernels_gives_the_same(by):
    calls, table = many(1100, "emulated")  # two tiles
    assert assert_same(windowed(table, calls, by, ORDERS[0]), table, EmulatedMachine())


@pytest.mark.parametrize("by", [(), ("g",), ("id",)], ids=["one group", "few groups", "a group a row"])
def test_tiles_have_totals_of_several_levels(by, monkeypatch):
    header = window_rows.headers
    monkeypatch.setattr(window_scans, "headers", lambda: header().replace("TILE_WORDS = 32", "TILE_WORDS = 1"))
    monkeypatch.setattr(window_scans, "TILE_ROWS", 32)
    calls, table = many(32 * 32 * 2 + 5, "levels")
    some = {name: call for name, call in calls.items() if name in ("w0", "w3", "w5", "w9", "w17")}
    assert assert_same(windowed(table, some, by, ORDERS[0]), table, EmulatedMachine())


@pytest.mark.parametrize("machine", [HostMachine(), EmulatedMachine()], ids=["host", "emulated"])
def test_decays_are_of_the_last_row_with_a_value_however_many_nulls_are_between(machine):
    """Values are in the first and the last row of groups of 551, 1, 1101 and 1 rows; a half-life is 550 rows."""
    sizes, ends = (551, 1, 1101, 1), {0: 8.0, 550: 1.0, 551: 3.0, 552: 8.0, 1652: 1.0, 1653: 5.0}
    table = pa.table(
        {
            "g": pa.array([group for group, size in enumerate(sizes) for _ in range(size)]),
            "t": pa.array([START + timedelta(seconds=row) for row in range(1654)], pa.timestamp("us")),
            "x": pa.array([ends.get(row) for row in range(1654)], pa.float64()),
        }
    )
    calls, table = written(["ewm_mean(x, half_life => 550)", "decayed_sum(x, 550)"], table)
    got = answer(windowed(table, calls, ("g",), [SortKey("t")]), table, machine)
    means, sums = ([value for value in got.column(name).to_pylist() if value is not None] for name in calls)
    assert means == pytest.approx([8, 4.5, 3, 8, 2.75, 5])
    assert sums == pytest.approx([8, 5, 3, 8, 3, 5])


@pytest.mark.parametrize("by", [(), ("g",)], ids=["one group", "few groups"])
def test_decays_look_back_over_nulls_of_values_and_of_times(by):
    """Within words of 32 rows and over them, to the first row that has both and, where there is none, further."""
    draws, rows = random.Random("decays"), 3000
    values = [draws.uniform(-9, 9) if draws.random() < 0.05 else None for _ in range(rows)]
    table = nasty_table(rows, draws).append_column("x", pa.array(values, pa.float64()))
    calls, table = written(["ewm_mean(x, half_life => interval '1 hour')", "decayed_sum(x, interval '1 hour')"], table)
    for order in ORDERS[:2]:
        assert assert_same(windowed(table, calls, by, order), table)


@pytest.mark.skipif(nvrtc.library() is None, reason="needs NVRTC")
@pytest.mark.parametrize("architecture", nvrtc.CHECKED)
def test_the_kernels_compile_for_gpus(monkeypatch, architecture):
    sources, compiled = set(), HostMachine.compiled

    def recorded(machine, source):
        sources.add(source)
        return compiled(machine, source)

    monkeypatch.setattr(HostMachine, "compiled", recorded)
    calls, table = many(1025, "few")  # two tiles
    answer(windowed(table, calls, ("g",), ORDERS[0]), table, HostMachine())
    of_windows = [source for source in sources if "struct Marks" in source]
    assert len(of_windows) >= 6
    for source in of_windows:
        assert nvrtc.problems(source, architecture) == ""


@pytest.mark.parametrize(
    ("text", "dtype", "values", "expected"),
    [
        ("cum_sum(x)", "int64", (2**63 - 1, 0, -5, 5), [2**63 - 1, 2**63 - 1, 2**63 - 6, 2**63 - 1]),
        ("cum_sum(x)", "int64", (2**63 - 2, 1, 1, -5), "cum_sum leaves int64 at row 2; cast the column to float64 or decimal"),
        ("cum_sum(x)", "int64", (-(2**63), 0, -1), "cum_sum leaves int64 at row 2; cast the column to float64 or decimal"),
        ("cum_prod(x)", "int64", (2**62, -2, 1), [2**62, -(2**63), -(2**63)]),
        ("cum_prod(x)", "int64", (2**62, 2, 0), "cum_prod leaves int64 at row 1; cast the column to float64 or decimal"),
        ("cum_prod(x)", "int64", (2**40, 2**40, -1), "cum_prod leaves int64 at row 1; cast the column to float64 or decimal"),
        ("cum_prod(x)", "int64", (0, 2**62, 2**62), [0, 0, 0]),
        ("rolling_sum(x, 3)", "int64", (2**62, 2**61, -(2**62), 2**62), [2**62, 2**62 + 2**61, 2**61, 2**61]),
        ("rolling_sum(x, 2)", "int64", (1, 2**62, 2**62), "rolling_sum leaves int64 at row 2; cast the column to float64 or decimal"),
        ("diff(x)", "int64", (-1, 2**63 - 1), "diff leaves int64 at row 1; cast the column to float64 or decimal"),
        ("diff(x)", "int64", (0, -(2**63)), [None, -(2**63)]),
        ("diff(x)", "date", (0, 106_751_991), [None, 106_751_991]),
        ("diff(x)", "date", (106_751_991, -1), [None, -106_751_992]),
        ("cum_sum(x)", "decimal(38,4)", (MOST, LEAST, MOST), [MOST, 0, MOST]),
        ("cum_sum(x)", "decimal(38,4)", (MOST, MOST, LEAST), "cum_sum leaves decimal(38,4) at row 1; cast the column to float64"),
        ("rolling_sum(x, 4)", "decimal(38,4)", (MOST, LEAST, LEAST, MOST), [MOST, 0, LEAST, 0]),
        ("diff(x)", "decimal(38,4)", (MOST, MOST), [None, 0]),
        ("diff(x)", "decimal(38,4)", (MOST, LEAST), "diff: overflow of decimal(38,4); cast the column to float64"),
        ("diff(x)", "int64", (1, -(2**63)), "diff leaves int64 at row 1; cast the column to float64 or decimal"),
    ],
)  # fmt: skip
def test_overflow_is_where_a_result_really_leaves_its_type(text, dtype, values, expected):
    assert computed(text, numbered(*values, dtype=dtype)) == (
        f"column 'w0': {expected}" if isinstance(expected, str) else expected
    )


def test_infinities_and_nan_leave_a_frame_as_they_came():
    inf, nan = float("inf"), float("nan")
    table = numbered(1.0, inf, 2.0, 3.0, nan, 4.0, 5.0, dtype="float64")
    assert str(computed("rolling_sum(x, 2)", table)) == str([1.0, inf, inf, 5.0, nan, nan, 9.0])


def test_rows_that_tie_are_noted_where_their_order_counts():
    table = pa.table({"id": [1, 1, 2], "x": [1, 2, 3]})
    for text, notes in (("row_number()", 1), ("rank()", 0)):
        calls, given = written([text], table)
        with recording(Recorder()) as recorder:
            answer(windowed(given, calls, (), [SortKey("id")]), given, HostMachine())
        assert len(recorder.notes) == notes


def test_dates_whose_microseconds_int64_does_not_hold_are_compared_in_days():
    """As those of the years 294,247 and of 5 million before our time: what is a day apart is so there, too."""
    most, far = 2**31 - 1, 106_751_991
    days = [-most - 1, -most, -far - 1, -far, far, far + 1, far + 3, most - 1, most]
    table = pa.table({"t": pa.array(days, "int32").cast("date32"), "x": range(len(days))})
    expected = {
        "session_id(interval '1 day')": [0, 0, 1, 1, 2, 2, 3, 4, 4],
        "rolling_sum(x, interval '36 hours')": [0, 1, 2, 5, 4, 9, 6, 7, 15],
        "decayed_sum(x, interval '1 day')": [0, 1, 2, 4, 4, 7, 7.75, 7, 11.5],
    }
    calls, table = written([*expected], table)
    found = answer(windowed(table, calls, (), [SortKey("t")]), table, HostMachine())
    assert [found[f"w{place}"].to_pylist() for place in range(len(expected))] == [*expected.values()]
