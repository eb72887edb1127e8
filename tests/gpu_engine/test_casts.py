"""Casts among numbers in CUDA, compiled for the CPU: a value at every edge, exact, refused or null as on pandas."""

import pyarrow as pa
import pytest

from expressions.test_cast_matrix import CANDIDATES, TYPES, is_of, of_type
from gpu_engine.differential import chunks
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.codegen.cuda_types import ColumnKinds, buffers_of
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.row_kernels import fixed_kernel
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.validity import empty_column
from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.expressions.ir import Cast, Column
from gpuetl.testing import Tolerance
from gpuetl.types.data_types import can_cast, parse_type
from gpuetl.verify.tolerance import equal_values

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()


def edges(source):
    """A column of the values that a type has of those at the edges of all types, and null."""
    dtype = parse_type(source)
    return pa.array([*(of_type(value, dtype) for value in CANDIDATES if is_of(value, dtype)), None], dtype)


def casts_of(column, lenient):
    """The casts of a column to every other type of numbers, by the name of the type."""
    targets = [name for name in TYPES if can_cast(column.type, parse_type(name)) and parse_type(name) != column.type]
    return {name: Cast(Column("x", column.type), parse_type(name), lenient) for name in targets}


def refused_sites(kernel, value):
    """Which of the kernel's casts tell of a value that they refuse."""
    frame = {"x": from_arrow(value, MACHINE)}
    made = [empty_column(expr.dtype, 1, MACHINE, nullable=False) for expr in kernel.sites]
    state = MACHINE.arrays.zeros(2 * len(made), "uint64")
    assert kernel.null_with == [frozenset("x")] * len(made)
    outputs = [buffer for vector in made for buffer in (vector.data, 0)]
    arguments = [1, state, state[len(made) :], *buffers_of(frame), *outputs]
    MACHINE.launch(MACHINE.compiled(kernel.source), "compute", 1, arguments)
    return [expr.dtype for expr, told in zip(kernel.sites, state.tolist(), strict=False) if told]


@pytest.mark.part(4)
@pytest.mark.parametrize("source", TYPES)
def test_lenient_casts_have_the_values_and_nulls_of_the_pandas_engine(source):
    column = edges(source)
    casts = casts_of(column, lenient=True)
    got = evaluate(casts, {"x": from_arrow(column, MACHINE)}, len(column), MACHINE)
    for name, cast in casts.items():
        expected = pa.chunked_array(chunks(evaluate_column(cast, pa.table({"x": column}))), cast.dtype)
        same = equal_values(pa.chunked_array([to_arrow(got[name], MACHINE)]), expected, Tolerance(0, 0))
        assert same.all(), f"{column[int((~same).argmax())]} as {name}"


@pytest.mark.part(4)
@pytest.mark.parametrize("source", TYPES)
def test_strict_casts_refuse_what_is_null_in_lenient_ones(source):
    column = edges(source).drop_null()
    frame, lenient = pa.table({"x": column}), casts_of(column, lenient=True)
    held = {name: evaluate_column(cast, frame).is_valid().to_pylist() for name, cast in lenient.items()}
    fallible = [cast for name, cast in casts_of(column, lenient=False).items() if not all(held[name])]
    kernel = fixed_kernel(ColumnKinds.of({"x": from_arrow(column, MACHINE)}), tuple(fallible))
    assert list(kernel.sites) == fallible
    for row in range(len(column)):
        wanted = [parse_type(name) for name, valid in held.items() if not valid[row]]
        assert refused_sites(kernel, column.slice(row, 1)) == wanted, column[row]
