"""Rows split into pieces and put below each other, by the kernels that do it for all columns."""

import gc
import weakref
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from conftest import skip_where_it_cannot_run
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.pieces import split_rows
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.registry import load_backend
from gpuetl.io.spill_space import SpillSpace

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ON_CPU = [pytest.param(made, marks=needs_compiler) for made in (HostMachine, EmulatedMachine)]
ROWS = 200


@pytest.fixture(params=[*ON_CPU, pytest.param("cudf", marks=pytest.mark.gpu)])
def machine(request):
    """The CPU's side of kernels, the GPU's, and a GPU."""
    if request.param != "cudf":
        return request.param()
    skip_where_it_cannot_run(request.param)
    return load_backend(request.param).machine


def numbers(rows, machine, dtype="int64"):
    """Return row numbers in the machine's memory."""
    return machine.arrays.asarray(np.asarray(rows, dtype))


def table():
    """Columns of every width, of which some have nulls."""
    nulls = lambda values, period: [None if row % period == 0 else value for row, value in enumerate(values)]  # noqa: E731
    numbers = list(range(ROWS))
    return pa.table(
        {
            "bool": pa.array(nulls([n % 3 == 1 for n in numbers], 7)),
            "int8": pa.array([n % 100 for n in numbers], pa.int8()),
            "int16": pa.array(nulls(numbers, 5), pa.int16()),
            "int32": pa.array(numbers, pa.int32()),
            "float32": pa.array(nulls(numbers, 3), pa.float32()),
            "int64": pa.array([n << 40 for n in numbers], pa.int64()),
            "time": pa.array(nulls(numbers, 2), pa.timestamp("us")),
            "float64": pa.array(numbers, pa.float64()),
            "decimal": pa.array(nulls([Decimal(n) * 10**20 for n in numbers], 4), pa.decimal128(38, 2)),
            "few": pa.array(nulls([f"text {n % 4}" for n in numbers], 6)),
            "texts": pa.array(nulls(["x" * (n % 40) for n in numbers], 9)),
            "lists": pa.array(nulls([[n, None] * (n % 3) for n in numbers], 8), pa.list_(pa.int64())),
            "none": pa.nulls(ROWS),
        }
    )


def frame_of(rows, machine):
    """Return a frame, of which one column has a dictionary."""
    backend = CudfBackend(machine)
    frame = backend.from_arrow(rows)
    few = with_dictionary(frame.columns["few"], machine)
    assert few.dictionary
    return backend, frame.updated({"few": few})


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_each_piece_has_its_rows_in_order(machine, dtype):
    """Of every type, whether there are nulls in a piece or not, also where a piece has no rows, or ends in a word."""
    backend, frame = frame_of(table(), machine)
    order = np.random.default_rng(3).permutation(ROWS)
    ends = [(0, 0), (0, 70), (71, 72), (80, 144), (144, ROWS), (ROWS, ROWS)]
    pieces = split_rows(frame, numbers(order, machine, dtype), ends, machine)
    for piece, (start, end) in zip(pieces, ends, strict=True):
        expected = table().take(order[start:end])
        assert backend.to_arrow(piece).equals(expected)
        for name, vector in piece.columns.items():
            assert vector.nulls == expected[name].null_count
            assert (vector.valid is None) == (vector.nulls == 0)


def test_columns_of_fixed_width_lie_side_by_side_in_one_buffer(machine):
    """A piece is sent as it is."""
    _, frame = frame_of(table(), machine)
    fixed = frame.select(tuple(name for name in frame.columns if name not in ("texts", "lists")))
    for piece in split_rows(fixed, numbers(range(ROWS), machine), [(0, 40), (40, ROWS)], machine):
        buffers = [b for v in piece.columns.values() for b in (v.data, v.valid) if b is not None]
        assert len({id(buffer.base) for buffer in buffers}) == 1
        starts = [machine.address(buffer) - machine.address(buffer.base) for buffer in buffers]
        assert all(start % 256 == 0 for start in starts)


def test_pieces_put_below_each_other_are_the_rows_again(machine):
    """Also where a column has nulls in one of them alone, and where some have no rows."""
    backend, frame = frame_of(table(), machine)
    ends = [(0, 1), (1, 1), (1, 33), (33, 150), (150, ROWS)]
    pieces = split_rows(frame, numbers(range(ROWS), machine), ends, machine)
    whole = concat(pieces, {name: vector.dtype for name, vector in frame.columns.items()}, machine)
    assert backend.to_arrow(whole).equals(table())
    assert {name: vector.nulls for name, vector in whole.columns.items()} == {
        name: table()[name].null_count for name in table().column_names
    }
    assert whole.columns["few"].dictionary is frame.columns["few"].dictionary


def test_pieces_are_put_below_each_other_without_an_array_of_a_column(machine):
    """But for texts whose dictionaries differ."""
    backend, frame = frame_of(table(), machine)
    fixed = frame.select(tuple(name for name in frame.columns if name not in ("texts", "lists")))
    other = fixed.updated(
        {"few": with_dictionary(backend.from_arrow(pa.table({"t": ["other"] * ROWS})).columns["t"], machine)}
    )
    ends, order = [(0, 0), (0, 150), (150, ROWS)], numbers(range(ROWS), machine)
    schema = {name: vector.dtype for name, vector in fixed.columns.items()}
    for frames, made in (((fixed, fixed), []), ((fixed, other), ["few"])):
        pieces = [piece for each in frames for piece in split_rows(each, order, ends, machine)]
        assert sum(piece.nbytes for piece in pieces) > 0
        whole = concat(pieces, schema, machine)
        assert all(list(piece.columns.loaded_vectors) == (made if piece.rows else []) for piece in pieces)
        expected = pa.concat_tables([backend.to_arrow(each) for each in frames]).combine_chunks()
        assert backend.to_arrow(whole).equals(expected)


def test_bytes_of_a_piece_are_those_of_its_columns(machine):
    """Without what lies between them."""
    _, frame = frame_of(table(), machine)
    fixed = frame.select(tuple(name for name in frame.columns if name not in ("texts", "lists")))
    for piece in split_rows(fixed, numbers(range(ROWS), machine), [(0, 7), (7, ROWS)], machine):
        assert piece.nbytes == sum(vector.nbytes for vector in piece.columns.values())


def test_a_piece_that_is_spilled_comes_back_as_one(machine):
    """In one copy each way; nothing of it stays on the device."""
    backend, frame = frame_of(table(), machine)
    fixed = frame.select(tuple(name for name in frame.columns if name not in ("texts", "lists")))
    ends = [(0, 0), (0, 90), (90, ROWS)]
    pieces = split_rows(fixed, numbers(range(ROWS), machine), ends, machine)
    memory = weakref.ref(pieces[1].columns.memory)
    spilled = [backend.spill(pieces.pop(0), SpillSpace()) for _ in range(3)]
    gc.collect()
    assert memory() is None
    back = [each.restored() for each in spilled]
    rows = table().select(list(fixed.columns))
    assert [backend.to_arrow(piece) for piece in back] == [rows.slice(at, end - at) for at, end in ends]
    assert back[1].columns.layout is back[2].columns.layout
    assert all(isinstance(each.on_host().columns.memory, np.ndarray) for each in spilled)


def test_a_column_with_nulls_in_some_pieces_alone(machine):
    """Pieces without nulls have no words."""
    backend = CudfBackend(machine)
    parts = [pa.table({"x": pa.array(values, pa.int32())}) for values in ([1, 2], [None, 3], [4])]
    whole = concat([backend.from_arrow(part) for part in parts], {"x": pa.int32()}, machine)
    assert backend.to_arrow(whole)["x"].to_pylist() == [1, 2, None, 3, 4]


def test_one_piece_of_no_columns_keeps_its_rows():
    """There may be rows without columns."""
    pieces = split_rows(Frame({}, 5), np.arange(5), [(0, 2), (2, 5)], HostMachine())
    assert [piece.rows for piece in pieces] == [2, 3]


def test_thousands_of_rows_in_hundreds_of_pieces(machine):
    """Nulls are counted by several warps a piece, and pieces are found among many."""
    rows = 1000 if isinstance(machine, EmulatedMachine) else 100_000
    draws = np.random.default_rng(5)
    table = pa.table(
        {"k": draws.integers(0, 9, rows), "x": pa.array(draws.random(rows), mask=draws.random(rows) < 0.3)}
    )
    backend = CudfBackend(machine)
    cuts = np.sort(draws.integers(0, rows // 2, 300)).tolist()
    ends = list(zip([0, *cuts], [*cuts, rows], strict=True))
    order = draws.permutation(rows)
    pieces = split_rows(backend.from_arrow(table), numbers(order, machine), ends, machine)
    for piece, (start, end) in zip(pieces, ends, strict=True):
        assert piece.columns["x"].nulls == table["x"].take(order[start:end]).null_count
    whole = concat(pieces, {"k": pa.int64(), "x": pa.float64()}, machine)
    assert backend.to_arrow(whole).equals(table.take(order).combine_chunks())
