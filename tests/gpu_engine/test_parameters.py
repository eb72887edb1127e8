"""Parameters and many constants are arguments of kernels: another value compiles nothing."""

from datetime import date, datetime, timedelta

import pytest

from conftest import COMPILER, ON_CPU
from gpu_engine.host_machine import HostMachine
from gpuetl import expr, run_id
from gpuetl.testing import assert_tables_equal
from tables import INF, INT64_MAX, INT64_MIN, table

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
VALUES = {
    "bool": (True, False), "int8": (-128, 127), "int64": (INT64_MIN, INT64_MAX), "uint64": (0, 2**64 - 1),
    "float32": (1.5, -0.0), "float64": (0.1, INF), "date": (date(1969, 12, 31), date(2024, 2, 29)),
    "timestamp": (datetime(1900, 1, 1, 0, 0, 0, 1), datetime(2262, 4, 1)), "string": ("", 'ä"\\?'),
    "duration": (timedelta(days=-1), timedelta(microseconds=1)),
}  # fmt: skip


@pytest.fixture
def compiled(monkeypatch):
    """The texts that are asked for."""
    sources, compiled = set(), HostMachine.compiled
    monkeypatch.setattr(HostMachine, "compiled", lambda self, source: sources.add(source) or compiled(self, source))
    return sources


@pytest.fixture
def run(pipeline, compiled):
    """Runs the stage for a value; returns its rows, which are the oracle's, and the texts of kernels."""

    def result(value):
        compiled.clear()
        got, expected = (
            pipeline.run({"p": value}, engine=engine, keep="s")["s"].to_arrow() for engine in (ON_CPU, "pandas")
        )
        assert_tables_equal(got, expected, ordered=True)
        return got, set(compiled)

    return result


@pytest.mark.parametrize("dtype", VALUES)
def test_another_value_compiles_nothing(source, pipeline, run, dtype):
    """Filters and columns, numbers, times and texts."""
    p = pipeline.param("p", dtype)
    rows = source(table({"x": dtype}, *((value,) for value in (*VALUES[dtype], None))))
    rows.filter(expr("x = $p OR x IS NULL")).with_columns(p=p, c=expr("coalesce(x, $p)")).stage("s")
    (first, kernels), (second, again) = map(run, VALUES[dtype])
    assert [first["p"].to_pylist(), second["p"].to_pylist()] == [[value] * 2 for value in VALUES[dtype]]
    assert kernels == again or dtype == "bool"  # false is in every filter's text


def test_the_run_s_id_compiles_nothing_in_the_next_run(source, pipeline, run):
    """It is an argument as a parameter is: alone, in a text, and in a filter."""
    pipeline.param("p", "int64")
    rows = source(table({"s": "string"}, ("a",), (None,)))
    made = rows.with_columns(r=run_id(), t=expr("run_id() || s")).filter(expr("r <> coalesce(t, run_id() || 'x')"))
    made.with_columns(r=expr("length(r)"), t=expr("length(t)")).stage("s")
    (got, kernels), (_, again) = map(run, (1, 2))
    assert got.num_rows == 2
    assert kernels == again


def test_what_is_calculated_of_parameters_alone_is_no_other_text(source, pipeline, run):
    """As a day and the week after it."""
    pipeline.param("p", "date")
    rows = source(table({"t": "timestamp"}, *((datetime(2024, 1, day),) for day in range(1, 30))))
    rows.filter(expr("t >= $p AND t < $p + interval '7 days'")).stage("s")
    (first, kernels), (second, again) = (run(date(2024, 1, day)) for day in (1, 8))
    assert [first.num_rows, second.num_rows] == [7, 7]
    assert kernels == again


def test_texts_are_made_of_parameters(source, pipeline, run):
    """Of columns without a dictionary, too; an error names the value."""
    pipeline.param("p", "string")
    rows = source(table({"s": "string"}, *((f"{number}" * 20,) for number in range(3000))))
    rows.with_columns(s=expr("$p || s || $p"), n=expr("length($p) + length(s)")).stage("s")
    (_, kernels), (_, again) = map(run, ("a", "ä?"))
    assert kernels == again


def test_a_kernel_takes_so_many_arguments_and_has_the_other_values_in_its_text(source, pipeline, run):
    """A device takes a few kilobytes of them."""
    pipeline.param("p", "int64")
    rows = source(table({"x": "int64"}, (1,), (2,)))
    rows.with_columns(y=expr("greatest(x, " + ", ".join(["$p"] * 300) + ")")).stage("s")
    first, _ = run(7)
    assert first["y"].to_pylist() == [7, 7]


SEPARATED = "s || '{0}' || replace(s, '{0}', '-') || lpad(s, 9, '{0}')"
WINDOWS = (
    "rolling_mean(x, {0})", "rolling_max(x, interval '{0} days')", "lag(x, {0})", "lead(x, {0}, -1, true)", "diff(x, {0})",
    "pct_change(x, {0})", "ntile({0})", "session_id(interval '{0} days')",
)  # fmt: skip


def edited(pipeline, rows, made, run):
    """Return the texts of the kernels of a stage that `made` gives for two constants; its name is a parameter's."""
    found = []
    for number in (2, 3):
        made(rows, number).stage(f"s{number}")
        got, kernels = run(f"s{number}")
        assert got.num_rows
        found.append(kernels)
    return found


@pytest.fixture
def run_stage(pipeline, compiled):
    """Runs a stage; returns its rows, which are the oracle's, and the texts of kernels."""

    def result(name):
        compiled.clear()
        got, expected = (pipeline.run(engine=engine, keep=name)[name].to_arrow() for engine in (ON_CPU, "pandas"))
        assert_tables_equal(got, expected, ordered=True)
        return got, set(compiled)

    return result


def test_another_string_in_a_string_that_is_written_compiles_nothing(source, pipeline, run_stage):
    """A separator that is edited, of columns without a dictionary."""
    rows = source(table({"s": "string"}, *((f"2-{number}" * 20,) for number in range(3000))))
    one, other = edited(pipeline, rows, lambda t, n: t.with_columns(s=expr(SEPARATED.format(n))), run_stage)
    assert one
    assert one == other


def test_another_constant_of_a_window_function_compiles_nothing(source, pipeline, run_stage):
    """Lengths of frames, offsets, tiles and gaps are arguments, several in a kernel."""
    days = (datetime(2024, 1, 1) + timedelta(days=number * number) for number in range(9))
    rows = source(table({"t": "timestamp", "x": "int64"}, *((day, 7 * n % 5) for n, day in enumerate(days))))
    calls = {f"w{place}": text for place, text in enumerate(WINDOWS)}

    def made(t, number):
        return t.window(order_by="t", **{name: expr(text.format(number)) for name, text in calls.items()})

    one, other = edited(pipeline, rows, made, run_stage)
    assert one
    assert one == other
