"""Expressions by instructions of the kernel `interpret`, against their own kernels: the same values, nulls and refusals."""

import re

import numpy as np
import pyarrow as pa
import pytest

from fuzz.draws import SeededDraws
from fuzz.expressions import Expressions, Leaf, typed
from fuzz.precision import Precision
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpu_engine.test_nested_expressions import table_of_all_types
from gpuetl.choices import skipping
from gpuetl.engines.cudf.codegen.bytecode import OPERATIONS, WORDS, is_covered
from gpuetl.engines.cudf.codegen.device_headers import DEVICE, closed_source
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.pandas.expressions.evaluate import NoResult
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.syntax import Name
from gpuetl.types.data_types import STRING

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")

EXPRESSIONS = [
    "i > 2", "i >= 2 AND x < 1.5 OR s = 'b'", "NOT (i = j)", "i IN (1, 2, 5)", "s IN ('a', 'cc')", "t IN ('a', 'cc')",
    "x + y", "x - y", "x * 0.5", "x / y", "1.0 - x", "i + j", "i - j", "i * j", "j / 3", "n + 1",
    "d < DATE '2024-02-01'", "ts >= TIMESTAMP '2024-01-01 12:00:00'", "year(d)", "month(ts)", "dayofweek(ts)", "hour(ts)",
    "quarter(d)", "day(d)", "minute(ts)", "m > 1.25", "m = m2", "NOT b", "b AND i > 1", "b IS NULL", "s IS NULL",
    "x IS NOT NULL", "s = t", "s < t", "s <> 'b'", "s LIKE 'a%'", "s LIKE '%c'", "s LIKE '%b%'", "s LIKE 'a_c%d'",
    "s LIKE ''", "s LIKE 'a'", "starts_with(s, 'a')", "contains(s, 'b')", "ends_with(t, 'c')",
    "CASE WHEN i > 2 THEN x WHEN b THEN y END", "CASE WHEN i > 2 THEN i + 1 ELSE j END", "coalesce(i, j, 0)",
    "coalesce(b, x > 1)", "CASE WHEN i IS NULL THEN true ELSE b END", "CASE WHEN x > 0 THEN 1 ELSE 2 END",
    "u + 1", "upper(s) = 'A'", "w = 3", "x <> x", "i BETWEEN 1 AND 3", "coalesce(NOT (seconds >= 0), false)",
]  # fmt: skip
NOT_COVERED = ["sqrt(x)", "m * m2", "f > 1.5", "round(x)", "i % 2", "big > 1"]


class ByInstructions(HostMachine):
    """A machine that interprets wherever it can, and counts how often."""

    by_instructions = True

    def __init__(self):
        self.interpreted = 0

    def launch(self, module, entry, rows, arguments):
        """Count."""
        self.interpreted += entry == "interpret"
        super().launch(module, entry, rows, arguments)


class EmulatedByInstructions(EmulatedMachine):
    """The same on an emulated GPU."""

    by_instructions = True


def table(rows=100):
    """Columns of the types that instructions cover, a few that they do not, with nulls."""
    draws = np.random.default_rng(7)

    def column(values, dtype):
        chosen = [values[at] for at in draws.integers(0, len(values), rows)]
        return pa.array(
            [None if missing else v for missing, v in zip(draws.random(rows) < 0.2, chosen, strict=True)], dtype
        )

    days, texts = pa.array([19000, 19730, 19754, -5, 20000]), ["", "a", "b", "cc", "abcd", "aöcd", "ac"]
    moments = [0, 1704110400000000, 1706110405000000, -1]
    return pa.table({
        "i": column([0, 1, 2, 3, 5], pa.int32()), "j": column([1, 2, -7], pa.int64()), "n": column([1, 100], pa.int8()),
        "x": column([0.0, -0.0, 1.5, float("nan"), float("inf"), -2.25], pa.float64()),
        "y": column([0.0, 3.0, -1.0], pa.float64()), "f": column([1.5, 2.5], pa.float32()),
        "s": column(texts, pa.string()), "t": column(texts, pa.string()), "b": column([True, False], pa.bool_()),
        "d": column(days.to_pylist(), pa.int32()).cast(pa.date32()), "ts": column(moments, pa.timestamp("us")),
        "seconds": column([-1, 0, 5], pa.int16()), "u": column([0, 255], pa.uint8()), "w": column([3, 2**32 - 1], pa.uint32()),
        "m": column(["1.25", "2.50"], pa.string()).cast(pa.decimal128(9, 2)), "big": column([1, 2**63], pa.uint64()),
        "m2": column(["1.25", "-3.10"], pa.string()).cast(pa.decimal128(9, 2)),
    })  # fmt: skip


def frame(data, machine, coded=()):
    """Return a table's columns; those named are coded."""
    columns = {name: from_arrow(data[name], machine) for name in data.column_names}
    return columns | {name: with_dictionary(columns[name], machine) for name in coded}


def resolved(sql, data):
    """Return a typed expression."""
    return resolve(parse_expression(sql), Scope(dict(zip(data.column_names, data.schema.types, strict=True)), {}))


def outcome(expr, data, machine, coded=()):
    """Return the values, or the words of a refusal."""
    try:
        made = evaluate({"": expr}, frame(data, machine, coded), data.num_rows, machine)[""]
    except NoResult as error:
        return str(error)
    return repr(to_arrow(made, machine).to_pylist()), made.nulls


@pytest.mark.part(12)
@pytest.mark.parametrize("coded", [(), ("s", "t")])
@pytest.mark.parametrize("sql", EXPRESSIONS)
def test_instructions_give_what_a_kernel_gives(sql, coded):
    """Values, nulls and their counts, for texts in memory and for coded ones."""
    data = table()
    machine, expr = ByInstructions(), resolved(sql, data)
    assert outcome(expr, data, machine, coded) == outcome(expr, data, HostMachine(), coded)
    assert machine.interpreted == 1


@pytest.mark.parametrize("rows", [1, 31, 64, 200])
@pytest.mark.parametrize(
    "sql", ["i >= 2 AND x < 1.5 OR s = 'b'", "CASE WHEN i > 2 THEN i + 1 ELSE j END", "s LIKE 'a_c%d'"]
)
def test_threads_of_a_gpu_give_the_same(sql, rows):
    """Validity words are written by warps, also where the last one is not full."""
    data = table(rows)
    expr = resolved(sql, data)
    assert outcome(expr, data, EmulatedByInstructions()) == outcome(expr, data, HostMachine())


@pytest.mark.parametrize("sql", ["j + 9223372036854775807", "CASE WHEN i > 2 THEN j * 9223372036854775807 ELSE j END"])
def test_a_row_without_a_result_is_told_as_by_a_kernel(sql):
    """The same row and words."""
    data = table()
    told = outcome(resolved(sql, data), data, ByInstructions())
    assert isinstance(told, str)
    assert told == outcome(resolved(sql, data), data, HostMachine())


def test_what_a_branch_keeps_away_does_not_fail():
    """No row of j, at most 2, reaches the sum that overflows."""
    data = table()
    expr = resolved("CASE WHEN j > 2 THEN j + 9223372036854775807 ELSE j END", data)
    assert outcome(expr, data, ByInstructions()) == outcome(resolved("j", data), data, HostMachine())


@pytest.mark.parametrize("sql", NOT_COVERED)
def test_other_expressions_are_compiled(sql):
    """The kernel has nothing for them."""
    data = table()
    machine = ByInstructions()
    assert outcome(resolved(sql, data), data, machine) == outcome(resolved(sql, data), data, HostMachine())
    assert machine.interpreted == 0


def test_more_than_the_kernel_has_room_for_is_compiled():
    """Of instructions, and of the bytes of constants."""
    data = table()
    columns = frame(data, HostMachine())
    assert is_covered([resolved("s = 'a'", data)], columns)
    assert not is_covered([resolved(f"s = '{'a' * 8 * WORDS}'", data)], columns)
    assert not is_covered([resolved(" OR ".join(f"i = {n} AND x > {n}" for n in range(40)), data)], columns)


def test_operations_have_the_order_of_the_kernel():
    """Both lists are written by hand."""
    text = (DEVICE / "closed" / "bytecode.cu").read_text(encoding="utf-8")
    listed = re.search(r"enum Operation : int \{(.*?)\}", text, re.DOTALL)
    assert tuple(re.findall(r"\w+", listed[1])) == OPERATIONS
    assert f"WORDS = {WORDS}" in text
    assert closed_source("bytecode")


@pytest.mark.part(12)
@pytest.mark.parametrize("seed", range(40))
def test_random_expressions_give_what_a_kernel_gives(seed):
    """Drawn until one is covered."""
    data = table_of_all_types(seed)
    leaves = [Leaf(Name(field.name), field.type, Precision.EXACT) for field in data.schema]
    columns = frame(data, HostMachine())
    for attempt in range(3000):
        drawn = Expressions(SeededDraws(5000 * seed + attempt), leaves)
        expr = typed(drawn.any(depth=3), drawn.scope())
        if expr is not None and expr.dtype != STRING and hasattr(expr, "args") and is_covered([expr], columns):
            break
    else:
        pytest.fail("no expression is covered")
    assert outcome(expr, data, ByInstructions()) == outcome(expr, data, HostMachine())


@pytest.mark.gpu
@pytest.mark.parametrize("coded", [(), ("s", "t")])
def test_a_gpu_gives_by_instructions_what_its_kernels_give(coded, monkeypatch):
    """With texts in memory and with coded ones."""
    pytest.importorskip("cupy")
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    gpu, data = machine(), table(5000)
    monkeypatch.setattr(type(gpu), "interprets", lambda *_: True)
    for sql in EXPRESSIONS:
        expr = resolved(sql, data)
        got = outcome(expr, data, gpu, coded)
        with skipping(["interpret"]):
            assert got == outcome(expr, data, gpu, coded), sql
