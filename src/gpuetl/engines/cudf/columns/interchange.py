"""Between columns on the machine and Arrow, and frames packed into arrays and a header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import host_copies
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.string_dictionaries import decoded, most_decoded_bytes
from gpuetl.engines.cudf.columns.validity import check_elements, offsets_type
from gpuetl.engines.cudf.columns.vector import NO_DATA, Buffer, Vector, has_bytes, storage_type
from gpuetl.engines.cudf.machine import Machine
from gpuetl.formats import frames
from gpuetl.types.data_types import BINARY, BOOL, NULL, OPAQUE, STRING, DataType
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_list, is_map, is_struct

# A frame as arrays and a header that says what they are, so that it can be kept, or sent, elsewhere.


def packed_frame(frame: Frame) -> tuple[Frame, list[Buffer]]:
    """Return a header, a frame whose buffers are places in a list, and the list, in which a shared array is once.

    The header can be pickled.
    """
    buffers: list[Buffer] = []
    places: dict[int, int] = {}

    def place(buffer: Buffer) -> Buffer:
        if id(buffer) not in places:
            places[id(buffer)] = len(buffers)
            buffers.append(buffer)
        return cast("Buffer", places[id(buffer)])  # a header has places where frames have buffers

    return with_buffers(frame, place), buffers


def unpacked_frame(header: Frame, buffers: Sequence[Buffer]) -> Frame:
    """Return the frame of a header and its buffers."""
    return with_buffers(header, lambda place: buffers[cast("int", place)])


def with_buffers(frame: Frame, change: Callable[[Buffer], Buffer]) -> Frame:
    """Return the frame with each buffer replaced by another."""
    changed_vectors: dict[int, Vector] = {}  # a dictionary that columns share stays one: columns are compared by it
    columns = {name: with_changed(vector, change, changed_vectors) for name, vector in frame.columns.items()}
    return Frame(columns, frame.rows)


def with_changed(vector: Vector, change: Callable[[Buffer], Buffer], changed_vectors: dict[int, Vector]) -> Vector:
    """Return a column with each buffer replaced, or the one that was made of it before.

    A function inside another, which called itself, would hold the buffers until the next collection of garbage.
    """
    if id(vector) not in changed_vectors:
        data = vector.data if vector.data is NO_DATA else change(vector.data)
        valid, offsets = (None if buffer is None else change(buffer) for buffer in (vector.valid, vector.offsets))
        elements, dictionary = (
            None if inner is None else with_changed(inner, change, changed_vectors)
            for inner in (vector.elements, vector.dictionary)
        )
        fields = tuple([with_changed(field, change, changed_vectors) for field in vector.fields])
        changed_vectors[id(vector)] = replace(
            vector, data=data, valid=valid, offsets=offsets, elements=elements, dictionary=dictionary, fields=fields
        )
    return changed_vectors[id(vector)]


# Between Arrow columns in host memory and columns on the machine.


UNIT_WORDS = 16
"""Validity words come in units of 64 bytes, as libcudf wants them."""
OFFSETS = {STRING: np.int32, pa.large_string(): np.int64, BINARY: np.int32, pa.large_binary(): np.int64}
"""Of Arrow's strings and binary values: the type of their offsets."""
MANY_BYTES = 8 << 20
"""From so many on a frame is copied by threads: the host takes longer to find pages for them than the link to copy."""

FEW_ROWS, FEW_BYTES, MOST_DECODED_BYTES = 1 << 16, 1 << 20, 64 << 20
"""A frame of no more is copied at once, and strings are put in place of their numbers on the host: the device would
take longer to begin than to copy.  The last one bounds the bytes of strings."""


def from_arrow(column: Any, machine: Machine) -> Vector:
    """Copy an Arrow column of a language type to the machine."""
    array = in_one_array(column) if isinstance(column, pa.ChunkedArray) else column
    array = array if len(array) else pa.array([], array.type)  # buffers of no rows may be of any size
    asarray, rows = machine.arrays.asarray, len(array)
    valid = asarray(packed(validity(array))) if array.null_count else None
    if is_struct(array.type):
        return _struct(array, valid, machine)
    if array.type in OFFSETS or is_list(array.type) or is_map(array.type):
        return _variable(array, valid, machine)
    if has_bytes(array.type):
        return _of_fixed_bytes(array, valid, machine)
    return Vector(array.type, rows, asarray(stored(array)), valid, array.null_count)


def in_one_array(column: pa.ChunkedArray) -> Any:
    """Return a column as one array, with offsets of 64 bits where those of 32 bits may be too narrow."""
    if column.num_chunks > 1 and column.nbytes > frames.MOST_BYTES:
        column = column.cast(with_wide_offsets(column.type))
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # one that is empty stays chunked
        return array.chunk(0) if array.num_chunks else pa.array([], array.type)
    return array


def with_wide_offsets(dtype: DataType) -> DataType:
    """Return Arrow's type of the same values whose strings and lists have offsets of 64 bits."""
    if is_list(dtype):
        return pa.large_list(with_wide_offsets(dtype.value_type))
    if is_struct(dtype):
        return pa.struct([(field.name, with_wide_offsets(field.type)) for field in dtype])
    return {STRING: pa.large_string(), BINARY: pa.large_binary()}.get(dtype, dtype)


def from_strings(strings: Sequence[str], machine: Machine) -> Vector:
    """Copy strings to the machine; an Arrow array of a list would import pandas."""
    encoded = [text.encode() for text in strings]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    data = np.frombuffer(b"".join(encoded), np.uint8)
    return Vector(STRING, len(strings), machine.arrays.asarray(data), offsets=machine.arrays.asarray(offsets))


def _struct(array: Any, valid: Any, machine: Machine) -> Vector:
    fields = tuple(from_arrow(array.field(place), machine) for place in range(array.type.num_fields))
    names = [field.name for field in array.type]
    dtype = pa.struct([(name, field.dtype) for name, field in zip(names, fields, strict=True)])
    return Vector(dtype, len(array), NO_DATA, valid, array.null_count, fields=fields)


def _of_fixed_bytes(array: Any, valid: Any, machine: Machine) -> Vector:
    """Copy values of a fixed number of bytes, each behind an offset: no kernel has values of any such width."""
    rows, width = len(array), array.type.bit_width // 8
    data = np.frombuffer(array.buffers()[1] or b"", np.uint8)[array.offset * width : (array.offset + rows) * width]
    offsets = np.arange(rows + 1, dtype=np.int64) * width
    places = machine.arrays.asarray(offsets.astype(offsets_type(rows * width)))
    return Vector(array.type, rows, machine.arrays.asarray(data), valid, array.null_count, places)


def _variable(array: Any, valid: Any, machine: Machine) -> Vector:
    rows, asarray, offset = len(array), machine.arrays.asarray, OFFSETS.get(array.type)
    stored_as = offset or (np.int64 if pa.types.is_large_list(array.type) else np.int32)
    is_wide_text = array.type == pa.large_string()
    places = np.frombuffer(array.buffers()[1] or bytes(8), stored_as)[array.offset : array.offset + rows + 1]
    places = places if len(places) else np.zeros(1, np.int32)
    start, stop = int(places[0]), int(places[-1])
    if not offset:
        check_elements(stop - start)
        offsets = (places - places[0]).astype(np.int32)
        if is_map(array.type):
            entries = [pa.field("key", array.type.key_type), pa.field("value", array.type.item_type)]
            inner = pa.StructArray.from_arrays([array.keys, array.items], fields=entries)
            elements = from_arrow(inner.slice(start, stop - start), machine)
            return Vector(array.type, rows, NO_DATA, valid, array.null_count, asarray(offsets), elements)
        elements = from_arrow(array.values.slice(start, stop - start), machine)
        return Vector(pa.list_(elements.dtype), rows, NO_DATA, valid, array.null_count, asarray(offsets), elements)
    offsets = (places - places[0]).astype(offsets_type(stop - start))
    data = np.frombuffer(array.buffers()[2] or b"", np.uint8)[start:stop]
    dtype = STRING if is_wide_text or array.type == STRING else BINARY
    return Vector(dtype, rows, asarray(data), valid, array.null_count, asarray(offsets))


def stored(array: Any) -> np.ndarray[Any, Any]:
    """Return a fixed-width column's values as they lie in device memory."""
    rows = len(array)
    if array.type == NULL:
        return np.zeros(rows, np.uint8)
    if array.type == BOOL:
        true: np.ndarray[Any, Any] = bits(array, 1) & validity(array)
        return true
    if is_decimal(array.type) or array.type in OPAQUE:
        pairs = np.frombuffer(array.buffers()[1] or b"", np.int64).reshape(-1, 2)[array.offset : array.offset + rows]
        return np.ascontiguousarray(pairs if storage_type(array.type) == "V16" else pairs[:, 0])
    dtype = np.dtype(storage_type(array.type))
    return np.frombuffer(array.buffers()[1] or b"", dtype)[array.offset : array.offset + rows]


def validity(array: Any) -> np.ndarray[Any, Any]:
    """Return whether each row is valid, as bytes; NumPy's own view of an Arrow array would import pandas."""
    if not array.null_count:
        return np.ones(len(array), np.uint8)
    return np.zeros(len(array), np.uint8) if array.type == NULL else bits(array, 0)


def bits(array: Any, place: int) -> np.ndarray[Any, Any]:
    """Return a buffer of bits as bytes."""
    first, skipped = divmod(array.offset, 8)  # a slice has the whole column's buffer
    end = skipped + len(array)
    own = np.frombuffer(array.buffers()[place] or b"", np.uint8)[first : first + -(-end // 8)]
    of_rows: np.ndarray[Any, Any] = np.unpackbits(own, bitorder="little")[skipped:end]
    return of_rows


def packed(valid: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return booleans as validity words."""
    bits = np.zeros(-(-len(valid) // (32 * UNIT_WORDS)) * UNIT_WORDS * 4, np.uint8)
    words = np.packbits(valid, bitorder="little")
    bits[: len(words)] = words
    return bits.view(np.uint32)


def to_table(frame: Frame, machine: Machine) -> Any:
    """Copy a frame to host memory, as an Arrow table."""
    if is_small(frame):
        columns = {name: host_array(vector, machine) for name, vector in copied_at_once(frame, machine).columns.items()}
    else:
        frame = Frame({name: decoded(vector, machine) for name, vector in frame.columns.items()}, frame.rows)
        if frame.nbytes >= MANY_BYTES:
            frame = in_host_memory(frame, machine)
        columns = {name: in_chunks(vector, machine) for name, vector in frame.columns.items()}
    return pa.table(columns) if columns else pa.table({":row": pa.nulls(frame.rows)}).select([])


def is_small(frame: Frame) -> bool:
    """Return whether a frame takes longer to ask for than to copy."""
    if frame.rows > FEW_ROWS or frame.nbytes > FEW_BYTES:
        return False
    return sum(map(most_decoded_bytes, frame.columns.values())) <= MOST_DECODED_BYTES


def copied_at_once(frame: Frame, machine: Machine) -> Frame:
    """Return a frame with arrays of NumPy's, in one copy, for which the host waits once."""
    header, buffers = packed_frame(frame)
    return unpacked_frame(header, [cast("Buffer", copy) for copy in host_copies(buffers, machine)])


def host_array(vector: Vector, machine: Machine) -> Any:
    """Return a column in host memory as an Arrow array; strings of a dictionary in place of their numbers."""
    if vector.dictionary is None:
        return in_chunks(vector, machine)
    numbers, strings = to_arrow(vector.codes, machine), to_arrow(vector.dictionary, machine)
    return pa.DictionaryArray.from_arrays(numbers, strings).dictionary_decode()


def in_host_memory(frame: Frame, machine: Machine) -> Frame:
    """Return a frame with arrays of NumPy's, which lie in one piece of memory, the widest values first."""
    header, buffers = packed_frame(frame)
    memory = np.empty(sum(int(buffer.nbytes) for buffer in buffers), np.uint8)
    order = sorted(range(len(buffers)), key=lambda place: -buffers[place].dtype.itemsize)
    machine.to_host([buffers[place] for place in order], memory)
    arrays, start = list(buffers), 0
    for place in order:
        end = start + int(buffers[place].nbytes)
        arrays[place] = cast("Buffer", memory[start:end].view(buffers[place].dtype).reshape(buffers[place].shape))
        start = end
    return unpacked_frame(header, arrays)


def in_chunks(vector: Vector, machine: Machine) -> Any:
    """Copy a column to host memory, strings of many bytes in as many arrays as hold them."""
    if is_struct(vector.dtype) or not has_bytes(vector.dtype) or len(vector.data) <= frames.MOST_BYTES:
        return to_arrow(vector, machine)
    return pa.chunked_array(frames.narrow_strings(wide_strings(vector, machine)), STRING)


def wide_strings(vector: Vector, machine: Machine) -> Any:
    """Copy strings to host memory, as an Arrow array with offsets of 64 bits."""
    valid = pa.py_buffer(machine.host(vector.required_valid)) if vector.nulls else None
    offsets = pa.py_buffer(machine.host(vector.required_offsets).astype(np.int64))
    buffers = [valid, offsets, pa.py_buffer(machine.host(vector.data))]
    wide = pa.large_string() if vector.dtype == STRING else pa.large_binary()
    return pa.Array.from_buffers(wide, vector.rows, buffers, vector.nulls)


def to_arrow(vector: Vector, machine: Machine) -> Any:
    """Copy a column to host memory, as an Arrow array of its type."""
    if vector.dictionary is not None and isinstance(vector.data, np.ndarray):  # a kernel could not read it
        return host_array(vector, machine)
    vector = decoded(vector, machine)
    valid = pa.py_buffer(machine.host(vector.required_valid)) if vector.nulls else None
    if vector.dtype == NULL:
        return pa.nulls(vector.rows)
    if is_struct(vector.dtype):
        children = [to_arrow(field, machine) for field in vector.fields]
        return pa.Array.from_buffers(vector.dtype, vector.rows, [valid], vector.nulls, children=children)
    if vector.elements is not None:
        buffers = [valid, pa.py_buffer(machine.host(vector.required_offsets))]
        children = [entries_of(vector, machine) if is_map(vector.dtype) else to_arrow(vector.elements, machine)]
        return pa.Array.from_buffers(vector.dtype, vector.rows, buffers, vector.nulls, children=children)
    if vector.dtype not in (STRING, BINARY) and has_bytes(vector.dtype):
        return fixed_bytes(vector, valid, machine)
    if has_bytes(vector.dtype):
        if vector.required_offsets.dtype.itemsize > 4:
            return wide_strings(vector, machine).cast(vector.dtype)
        buffers = [valid, *(pa.py_buffer(machine.host(each)) for each in (vector.required_offsets, vector.data))]
        return pa.Array.from_buffers(vector.dtype, vector.rows, buffers, vector.nulls)
    values = arrow_values(machine.host(vector.data), vector.dtype)
    return pa.Array.from_buffers(vector.dtype, vector.rows, [valid, pa.py_buffer(values)], vector.nulls)


def entries_of(vector: Vector, machine: Machine) -> Any:
    """Copy the entries of maps to host memory, as structs whose keys are not null."""
    assert vector.elements is not None
    key, value = (to_arrow(field, machine) for field in vector.elements.fields)
    fields = [pa.field("key", key.type, nullable=False), pa.field("value", value.type)]
    return pa.StructArray.from_arrays([key, value], fields=fields)


def fixed_bytes(vector: Vector, valid: Any, machine: Machine) -> Any:
    """Copy values of a fixed number of bytes to host memory; a null has some bytes there, and none here."""
    width, offsets = vector.dtype.bit_width // 8, machine.host(vector.required_offsets).astype(np.int64)
    data = machine.host(vector.data)
    if vector.nulls:
        there = np.flatnonzero(np.diff(offsets))
        values = np.zeros((vector.rows, width), np.uint8)
        values[there] = data[offsets[there][:, None] + np.arange(width)]
        data = values
    return pa.Array.from_buffers(vector.dtype, vector.rows, [valid, pa.py_buffer(data)], vector.nulls)


def single_row(vector: Vector, row: int, machine: Machine) -> Vector:
    """Return one row of a column as a column."""
    valid, nulls = None, 0
    if vector.valid is not None and not int(vector.valid[row >> 5]) >> (row & 31) & 1:
        valid, nulls = machine.arrays.asarray(packed(np.zeros(1, bool))), 1
    if is_struct(vector.dtype):
        fields = tuple(single_row(field, row, machine) for field in vector.fields)
        return Vector(vector.dtype, 1, NO_DATA, valid, nulls, fields=fields)
    if vector.offsets is None:
        return Vector(vector.dtype, 1, vector.data[row : row + 1], valid, nulls, dictionary=vector.dictionary)
    start, stop = int(vector.offsets[row]), int(vector.offsets[row + 1])
    if vector.elements is None:
        offsets = machine.arrays.asarray(np.array([0, stop - start], np.int32))
        return Vector(vector.dtype, 1, vector.data[start:stop], valid, nulls, offsets)
    return Vector(vector.dtype, 1, NO_DATA, valid, nulls, vector.offsets[row : row + 2], vector.elements)


def arrow_values(values: np.ndarray[Any, Any], dtype: DataType) -> np.ndarray[Any, Any]:
    """Return fixed-width values as Arrow lays them out."""
    if dtype == BOOL:
        return np.packbits(values.astype(bool), bitorder="little")
    if is_decimal(dtype) and values.ndim == 1:
        return np.stack([values, values >> 63], axis=1)
    return np.ascontiguousarray(values)
