"""The closed set's kernels against NumPy: rows gathered and numbered, whatever the columns' widths and nulls."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from conftest import skip_where_it_cannot_run
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.codegen.device_headers import closed_programs
from gpuetl.engines.cudf.columns import arrays as compact
from gpuetl.engines.cudf.columns.gather import MOST_COLUMNS, take
from gpuetl.engines.cudf.columns.validity import valid_rows, words_of
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.registry import load_backend

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ON_CPU = [pytest.param(made, marks=needs_compiler) for made in (HostMachine, EmulatedMachine)]
ROWS = 700
DTYPES = [pa.int8(), pa.uint16(), pa.float32(), pa.int64(), pa.float64(), pa.decimal128(38, 2)]
"""Of every width; decimals of 38 digits are pairs of int64."""
COUNTS = [1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2500]
"""Rows that fill no warp, no tile, or a little more."""


@pytest.fixture(params=[*ON_CPU, pytest.param("cudf", marks=pytest.mark.gpu)])
def machine(request):
    """The CPU's side of kernels, the GPU's, and a GPU."""
    if request.param != "cudf":
        return request.param()
    skip_where_it_cannot_run(request.param)
    return load_backend(request.param).machine


def column(dtype, machine, nullable, rows=ROWS, seed=0):
    """Return a column of random bits, and its values and validity as NumPy arrays."""
    draws = np.random.default_rng(seed)
    storage = "int64" if pa.types.is_decimal(dtype) else dtype.to_pandas_dtype()
    shape = (rows, 2) if pa.types.is_decimal(dtype) else rows
    values = draws.integers(0, 1 << 30, shape).astype(storage)
    valid = draws.random(rows) < 0.7 if nullable else np.ones(rows, bool)
    words = words_of(machine.arrays.asarray(valid.astype("uint8")), machine) if nullable else None
    vector = Vector(dtype, rows, machine.arrays.asarray(values), words, int((~valid).sum()))
    return vector, values, valid


def row_numbers(count, missing, dtype, seed=1):
    """Return numbers of rows in any order, of which some are -1."""
    draws = np.random.default_rng(seed)
    numbers = draws.integers(0, ROWS, count)
    return np.where(draws.random(count) < 0.2, -1, numbers).astype(dtype) if missing else numbers.astype(dtype)


def expected_of(values, valid, numbers):
    """Return the gathered values, zeros for nulls, and validity."""
    there = (numbers >= 0) & valid[numbers]
    return np.where(there[:, None] if values.ndim == 2 else there, values[numbers], 0), there


def assert_gathered(made, values, valid, numbers, machine):
    """Compare a column with what NumPy gathers, bit for bit."""
    expected, there = expected_of(values, valid, numbers)
    assert np.array_equal(machine.host(made.data), expected)
    assert np.array_equal(machine.host(valid_rows(made, machine)) != 0, there)
    assert made.nulls == np.count_nonzero(~there)
    assert (made.valid is None) == bool(there.all())


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("number", ["int32", "int64"])
@pytest.mark.parametrize("missing", [False, True])
def test_columns_of_every_width_are_gathered(machine, count, number, missing):
    """Nullable ones and others, by one launch; a null's value is zero."""
    kinds = [(dtype, nullable) for dtype in DTYPES for nullable in (False, True)]
    made = [column(*kind[:1], machine, kind[1], seed=place) for place, kind in enumerate(kinds)]
    numbers = row_numbers(count, missing, number)
    columns = {str(place): vector for place, (vector, _, _) in enumerate(made)}
    got = take(columns, machine.arrays.asarray(numbers), machine, missing=missing)
    for (_, values, valid), vector in zip(made, got.values(), strict=True):
        assert_gathered(vector, values, valid, numbers, machine)


@pytest.mark.parametrize("count", [MOST_COLUMNS, MOST_COLUMNS + 1, 2 * MOST_COLUMNS + 7])
def test_more_columns_than_a_launch_takes_are_gathered(machine, count):
    """Each launch knows its own counts of nulls."""
    made = [column(pa.int32(), machine, place % 3 == 0, rows=40, seed=place) for place in range(count)]
    numbers = np.arange(39, -1, -1, dtype="int32")
    got = take({str(p): vector for p, (vector, _, _) in enumerate(made)}, machine.arrays.asarray(numbers), machine)
    for (_, values, valid), vector in zip(made, got.values(), strict=True):
        assert_gathered(vector, values, valid, numbers, machine)


@needs_compiler
def test_tiles_of_several_chunks_are_gathered_once_each():
    """Columns take turns within a chunk of rows; the last chunk is shorter."""
    machine, rows = HostMachine(), (1 << 22) + 2500
    made = [column(dtype, machine, nullable, rows) for dtype, nullable in ((pa.int8(), True), (pa.int64(), False))]
    numbers = np.arange(rows - 1, -1, -1, dtype="int32")
    got = take({str(p): vector for p, (vector, _, _) in enumerate(made)}, numbers, machine)
    for (_, values, valid), vector in zip(made, got.values(), strict=True):
        assert_gathered(vector, values, valid, numbers, machine)


@pytest.mark.parametrize("offset", ["int32", "int64"])
@pytest.mark.parametrize("nullable", [False, True])
def test_texts_are_gathered_by_their_offsets(machine, offset, nullable):
    """Sizes first, then bytes; of a text that is null there are none."""
    texts = [f"{'é' * (row % 50)}{row}" for row in range(ROWS)]
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)]).astype(offset)
    _, _, valid = column(pa.int8(), machine, nullable)
    words = words_of(machine.arrays.asarray(valid.astype("uint8")), machine) if nullable else None
    arrays = machine.arrays
    data = arrays.asarray(np.frombuffer(b"".join(encoded), np.uint8))
    vector = Vector(pa.string(), ROWS, data, words, int((~valid).sum()), arrays.asarray(offsets))
    numbers = row_numbers(1500, True, "int64")
    made = take({"": vector}, arrays.asarray(numbers), machine)[""]
    ends, found = machine.host(made.offsets), machine.host(made.data).tobytes()
    expected = [encoded[row] if row >= 0 and valid[row] else b"" for row in numbers]
    assert [found[start:end] for start, end in pairwise(ends)] == expected
    assert made.nulls == sum(row < 0 or not valid[row] for row in numbers)


@pytest.mark.parametrize("dtype", [*DTYPES, pa.bool_(), pa.string()])
def test_rows_of_a_column_without_any_are_null(machine, dtype):
    """Nothing of it is read, not even its first value."""
    arrays, wide, text = machine.arrays, pa.types.is_decimal(dtype), dtype == pa.string()
    storage = "int64" if wide else "uint8" if dtype in (pa.bool_(), pa.string()) else dtype.to_pandas_dtype()
    data = arrays.empty((0, 2) if wide else 0, storage)
    vector = Vector(dtype, 0, data, arrays.zeros(0, "uint32"), 0, arrays.zeros(1, "int64") if text else None)
    made = take({"": vector}, arrays.asarray(np.full(100, -1, "int32")), machine)[""]
    assert made.nulls == made.rows == 100
    assert not machine.host(made.data).any()
    assert not machine.host(valid_rows(made, machine)).any()
    assert not text or not machine.host(made.offsets).any()


LIMITS = [-(1 << 31), -2, -1, 0, 1, 32, 33, (1 << 31) - 1]
TESTS = {
    compact.NOT_ZERO: lambda x: x != 0,
    compact.ZERO: lambda x: x == 0,
    compact.NEGATIVE: lambda x: x < 0,
    compact.NOT_NEGATIVE: lambda x: x >= 0,
    compact.above(32): lambda x: x > 32,
}


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("count", [0, *COUNTS])
def test_rows_that_pass_a_test_are_numbered(machine, dtype, test, count):
    """In order."""
    values = np.resize(LIMITS, count).astype(dtype)
    found = compact.numbers_where(machine.arrays.asarray(values), machine, test)
    assert str(found.dtype) == "int32"
    assert machine.host(found).tolist() == np.flatnonzero(TESTS[test](values)).tolist()


@pytest.mark.parametrize("count", [0, *COUNTS])
def test_bounds_end_with_how_many_rows_there_are(machine, count):
    """Where groups begin, and where the last one ends."""
    marks = (np.arange(count) % 7 == 0).astype("uint8")
    found = compact.bounds_where(machine.arrays.asarray(marks), machine)
    assert str(found.dtype) == "int64"
    assert machine.host(found).tolist() == [*range(0, count, 7), count]


@needs_compiler
def test_all_programs_are_one_library_on_a_cpu():
    """So no two of them have a kernel of the same name."""
    libraries = {HostMachine().closed(program) for program in closed_programs()}
    assert len(libraries) == 1
