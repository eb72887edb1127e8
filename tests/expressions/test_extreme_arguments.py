"""Every scalar function with extreme arguments: a value or a refusal, the same on both engines, never a traceback."""

import random
from datetime import timedelta
from math import inf, nan

import pyarrow as pa
import pytest

from fuzz.data import pool
from fuzz.signatures import constants, signatures
from gpu_engine.differential import tolerance_of
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.pandas.expressions.evaluate import NoResult, evaluate_column
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Column, substitute
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.syntax import Apply, Constant, Name
from gpuetl.expressions.unparse import to_sql
from gpuetl.types.data_types import DATE, DURATION, STRING
from gpuetl.verify.tolerance import equal_values
from tables import INT64_MAX, INT64_MIN

pytestmark = pytest.mark.slow

NAMES = [name for kind, name in FUNCTIONS if kind == "scalar"]
MICROSECOND = timedelta(microseconds=1)
INTEGERS = (INT64_MIN, INT64_MAX, -1, 0, -2, 2**31, -(2**31), 10**12)
FLOATS = (1.7976931348623157e308, -1.7976931348623157e308, nan, inf, 5e-324)
TEXTS = ("", "a", "ñ" * 5, "%", "\\")
ROWS = 12
END_OF_YEARS = {DATE: (2_932_897, -719_163), DURATION: ()}
"""The first day beyond year 9999, and the last before year 1, which Python's dates do not reach."""
TIMESTAMPS = (253_402_300_800_000_000, -62_135_596_800_000_001)


def extreme_constant(like, draws):
    """Return an extreme value of the kind of another."""
    if isinstance(like, bool) or not isinstance(like, int | float | timedelta | str):
        return like
    if isinstance(like, timedelta):
        return draws.choice([INT64_MIN, INT64_MAX, 0, 1, -1]) * MICROSECOND
    return draws.choice(
        TEXTS if isinstance(like, str) else (*INTEGERS, *FLOATS) if isinstance(like, float) else INTEGERS
    )


def extreme_column(dtype, draws):
    """Return a column of the extreme values of a type, and nulls."""
    if pa.types.is_temporal(dtype):
        storage = pa.int32() if dtype == DATE else pa.int64()
        bound = 2 ** (storage.bit_width - 1)
        values = [-bound, 1 - bound, bound - 1, -1, 0, *END_OF_YEARS.get(dtype, TIMESTAMPS)]
        return pa.array(draws.choices([*values, None], k=ROWS), storage).cast(dtype)
    values = ["", "a", "ñ", "x" * 100] if dtype == STRING else pool(dtype, wild=True)
    return pa.array(draws.choices([*values[-8:], *values[:3], None], k=ROWS), dtype)


def calls(name, most):
    """Yield typed calls with extreme arguments and the tables of their columns; those that typing refuses are left out."""
    draws = random.Random(name)
    ways = [*signatures("scalar", name)]
    for way in draws.sample(ways, min(most, len(ways))):
        columns = {f"x{i}": extreme_column(dtype, draws) for i, dtype in enumerate(way.takes) if dtype}
        arguments = []
        for place, (slot, dtype) in enumerate(zip(way.slots, way.takes, strict=True)):
            usual = constants(way.function, slot)[0]
            arguments.append(Name(f"x{place}") if dtype else Constant(extreme_constant(usual, draws)))
        scope = Scope({column: values.type for column, values in columns.items()}, {}, ("scalar",))
        try:
            yield resolve(Apply(name, tuple(arguments)), scope), pa.table(columns or {"x": pa.nulls(ROWS)})
        except InvalidExpression:
            continue


def refused(expr, rows):
    """Tell whether a row has no result; the refusal has its words."""
    try:
        evaluate_column(expr, rows)
    except NoResult as error:
        return bool(str(error))
    return False


@pytest.mark.part(6)
@pytest.mark.parametrize("start", range(0, len(NAMES), 40))
def test_extreme_arguments_have_a_value_or_are_refused(start):
    """On the pandas engine, row by row."""
    for name in NAMES[start : start + 40]:
        for expr, rows in calls(name, most=8):
            if refused(expr, rows):
                assert any(refused(expr, rows.slice(row, 1)) for row in range(ROWS)), to_sql(expr)


@pytest.mark.part(8)
@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@pytest.mark.parametrize("start", range(0, len(NAMES), 40))
def test_kernels_have_the_same_values(start):
    """Many functions in one kernel, since the compiler takes its time; rows without a result are left out."""
    exprs, columns = {}, {}
    for name in NAMES[start : start + 40]:
        for expr, rows in calls(name, most=1):
            kept = [row for row in range(ROWS) if not refused(expr, rows.slice(row, 1))]
            if kept:
                own = {column: f"{name}.{column}" for column in rows.column_names}
                columns |= {own[column]: rows[column].take((kept * ROWS)[:ROWS]) for column in rows.column_names}
                exprs[name] = substitute(expr, {n: Column(own[n], rows[n].type) for n in own})
    machine, frame = HostMachine(), pa.table(columns)
    found = evaluate(exprs, {name: from_arrow(values, machine) for name, values in columns.items()}, ROWS, machine)
    for name, expr in exprs.items():
        got, expected = to_arrow(found[name], machine), evaluate_column(expr, frame)
        expected = expected if isinstance(expected, pa.ChunkedArray) else pa.chunked_array([expected])
        same = equal_values(pa.chunked_array([got]), expected, tolerance_of(expr))
        assert same.all(), f"{to_sql(expr)}: {got}, expected {expected}"
