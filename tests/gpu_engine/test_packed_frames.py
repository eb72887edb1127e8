"""Frames in one buffer, as they are sent."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER, host_backend
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.pieces import split_rows
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.columns.string_dictionaries import MOST_BYTES, content_of, dictionary_of, shared
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.runtime.packed_frames import buffers_of, held_bytes, in_one
from gpuetl.types.data_types import STRING

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")


def frame_of(rows):
    """Return a frame of the rows."""
    return host_backend().from_arrow(rows)


def texts_of(texts):
    """Return a column of texts with a dictionary."""
    backend = host_backend()
    return with_dictionary(backend.from_arrow(pa.table({"s": texts})).columns["s"], backend.machine)


def test_buffers_lie_at_multiples_of_256_bytes():
    """Also arrays of two dimensions, and empty ones."""
    rows = pa.table(
        {
            "i": pa.array([1, None, 3], "int64"),
            "d": pa.array([None, "1.50", "-2.25"]).cast(pa.decimal128(30, 2)),
            "s": pa.array(["", "", None]),
            "l": pa.array([[1, None], None, []], pa.list_(pa.int32())),
        }
    )
    packed, whole = in_one(frame_of(rows))
    assert all(start % 256 == 0 for start, _, _ in packed.places)
    assert whole.nbytes % 256 == 0
    got = pickle.loads(pickle.dumps(packed)).frame(whole.copy())
    assert host_backend().to_arrow(got).equals(rows)


def test_frames_behind_each_other_in_a_buffer_come_back():
    """Each is told how far it was moved."""
    tables = [pa.table({"x": [1, 2, 3]}), pa.table({"x": pa.array([], "int64")}), pa.table({"x": [None, 4]})]
    parts = [in_one(frame_of(rows)) for rows in tables]
    whole, start = np.concatenate([each for _, each in parts]), 0
    for rows, (packed, own) in zip(tables, parts, strict=True):
        assert host_backend().to_arrow(packed.moved(start).frame(whole)).equals(rows)
        start += own.nbytes


def test_a_part_of_a_large_buffer_is_copied_and_counted_as_what_it_keeps():
    """Nobody wants what lies around it, which memory has as long as the part."""
    memory = np.zeros(1 << 12, "uint8")
    half = Frame({"x": Vector(pa.int64(), 256, memory[512:2560].view("int64"))}, 256)
    most = Frame({"x": Vector(pa.int64(), 480, memory[256:4096].view("int64"))}, 480)
    assert in_one(half)[1].nbytes == 2048
    assert held_bytes(buffers_of(half)) == 4096
    both = half.updated({"y": most.columns["x"]})
    assert held_bytes(buffers_of(both)) == 4096


def test_a_piece_is_sent_as_it_lies():
    """And comes as one; one of no rows has a few bytes, since nothing would be no frame."""
    machine = host_backend().machine
    frame = frame_of(pa.table({"x": [1, None, 3, 4], "y": [1.5, 2.5, 3.5, 4.5]}))
    first, none, last = split_rows(frame, np.arange(4, dtype=np.int32), [(0, 1), (1, 1), (1, 4)], machine)
    packed, whole = in_one(last)
    assert whole is last.columns.memory
    got = (
        pickle.loads(pickle.dumps(packed))
        .moved(256)
        .frame(np.concatenate([np.zeros(256, np.uint8), machine.host(whole)]))
    )
    assert got.columns.layout is first.columns.layout
    assert got.nbytes == last.nbytes == 2 * 3 * 8 + 4
    both = concat([first, none, got], {"x": pa.int64(), "y": pa.float64()}, machine)
    assert host_backend().to_arrow(both).to_pydict() == {"x": [1, None, 3, 4], "y": [1.5, 2.5, 3.5, 4.5]}
    packed, whole = in_one(none)
    assert whole.nbytes == 256
    assert packed.frame(whole).rows == 0


def test_a_buffer_of_several_columns_is_counted_once():
    """And those of elements and dictionaries count, too."""
    numbers = np.arange(10)
    shared = Frame({"x": Vector(pa.int64(), 10, numbers), "y": Vector(pa.int64(), 10, numbers)}, 10)
    assert held_bytes(buffers_of(shared)) == 80
    lists = frame_of(pa.table({"l": pa.array([[1, 2], []], pa.list_(pa.int64()))}))
    assert held_bytes(buffers_of(lists)) == 3 * 4 + 2 * 8


def test_dictionaries_of_the_same_texts_are_one():
    """So that columns are put below each other as numbers."""
    first, same, other = (texts_of(texts) for texts in (["a", "b", "a"] * 20, ["b", "a"] * 20, ["a", "c"] * 20))
    assert first.dictionary is not same.dictionary
    assert shared(first.dictionary) is shared(same.dictionary)
    assert shared(first.dictionary) is not shared(other.dictionary)


def test_a_dictionary_travels_by_its_content():
    """Where nobody has it, it is made; after that it is found."""
    column = texts_of(["x", "y", None] * 20)
    packed, whole = in_one(Frame({"s": column, "t": column}, 60))
    sent = pickle.dumps(packed)
    del column
    got, again = (pickle.loads(sent).frame(whole) for _ in range(2))
    assert got.columns["s"].dictionary is again.columns["t"].dictionary
    both = concat([got, again], {"s": STRING, "t": STRING}, host_backend().machine)
    assert both.columns["s"].dictionary is got.columns["s"].dictionary
    assert host_backend().to_arrow(both)["t"].to_pylist() == ["x", "y", None] * 40


def test_a_large_dictionary_lies_in_the_buffer():
    """To compare it would cost more than to look its texts up."""
    size = MOST_BYTES // 8
    texts = pa.table({"s": [f"{number:016}" for number in range(size)]})
    dictionary = frame_of(texts).columns["s"]
    assert content_of(dictionary) is None
    column = Vector(STRING, 2, np.array([1, 0], np.int32), dictionary=dictionary)
    packed, whole = in_one(Frame({"s": column}, 2))
    assert not packed.dictionaries
    got = packed.frame(whole)
    assert host_backend().to_arrow(got)["s"].to_pylist() == [f"{1:016}", f"{0:016}"]


def test_a_dictionary_that_is_there_is_not_copied_again():
    """Each piece that comes asks for it."""
    dictionary = shared(texts_of(["p", "q"] * 20).dictionary)

    class Arrays:
        ndarray = np.ndarray

    assert dictionary_of(content_of(dictionary), Arrays) is dictionary
