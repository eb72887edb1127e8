"""Frames taken apart into buffers, to be kept or sent."""

import gc
import pickle
import weakref

import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER, host_backend
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import packed_frame, unpacked_frame
from gpuetl.engines.cudf.columns.string_codes import with_dictionary

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")


def test_a_frame_comes_back_from_its_pickled_header_and_its_buffers():
    """Whatever the types are, also when the buffers were copied meanwhile."""
    backend = host_backend()
    rows = pa.table(
        {
            "i": pa.array([1, None, 3], "int64"),
            "s": pa.array(["a", "", None]),
            "l": pa.array([[1, None], None, []], pa.list_(pa.int32())),
            "t": pa.array([[["x"]], None, [[None, "y"], None]], pa.list_(pa.list_(pa.string()))),
            "d": pa.array([None, "1.50", "-2.25"]).cast(pa.decimal128(30, 2)),
        }
    )
    header, buffers = packed_frame(backend.from_arrow(rows))
    frame = unpacked_frame(pickle.loads(pickle.dumps(header)), [buffer.copy() for buffer in buffers])
    assert backend.to_arrow(frame).equals(rows)


def test_a_dictionary_that_columns_share_is_packed_once_and_stays_shared():
    """Columns are compared by their dictionary's identity."""
    backend = host_backend()
    texts = backend.from_arrow(pa.table({"s": pa.array(["b", "a", "b"])})).columns["s"]
    coded = with_dictionary(texts, backend.machine)
    header, buffers = packed_frame(Frame({"x": coded, "y": coded}, 3))
    frame = unpacked_frame(header, buffers)
    assert len(buffers) == len({id(buffer) for buffer in buffers})
    assert frame.columns["x"].dictionary is frame.columns["y"].dictionary


def test_buffers_are_held_by_their_frames_alone():
    """And not by garbage that waits to be collected: memory would be short for nothing."""
    frame = host_backend().from_arrow(pa.table({"k": ["a", None, "b"], "x": [[1], [2, 3], []]}))
    gc.collect()
    gc.disable()
    try:
        header, buffers = packed_frame(frame)
        memory = [weakref.ref(buffer) for buffer in buffers]
        again = unpacked_frame(header, [buffer.copy() for buffer in buffers])
        memory += [weakref.ref(buffer) for buffer in packed_frame(again)[1]]
        del frame, header, buffers, again
        assert all(each() is None for each in memory)
    finally:
        gc.enable()
