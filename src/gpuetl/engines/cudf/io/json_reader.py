"""JSON lines parsed on the device: where values stand by own kernels, values by the casts of the language.

A part of a file with a line or a value that does not fit is read by the pandas engine instead, which words what is
wrong.  So is what these kernels leave to it: keys with escapes, decimals with exponents, and more than 64 levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.arrays import iota, numbers_where, pick, scan
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.validity import with_valid
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.io.parquet_reader import Piece, coded, first_other_bytes, texts_of
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import EvaluationError, RunFailed
from gpuetl.expressions.ir import Cast, Column
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.json_options import json_options
from gpuetl.formats.json_text import part_text
from gpuetl.formats.rejected import RejectedRows
from gpuetl.io.data_file import DataFile
from gpuetl.places.open_file import opened
from gpuetl.plan.nodes import Read
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import BOOL, DATE, NULL, STRING, TIMESTAMP_NS, DataType, is_floating, is_integer, type_name
from gpuetl.types.decimal_types import MAX_DIGITS, is_decimal
from gpuetl.types.nested_types import is_list, is_nested, is_struct, type_parts
from gpuetl.types.schema import Schema

PROGRAM = "json"
MOST_BYTES = 1 << 28
"""Of text that is parsed at a time: places in it have 32 bits, and its columns take device memory, too."""
MOST_VALUE_BYTES, BYTES_OF_A_PLACE, BYTES_OF_A_LINE = 1 << 31, 9, 32
"""Device memory for where the values of a block stand, of each key in each line, and how long a line is at least.

Of shorter lines it takes more.
"""
INTEGER, NUMBER, BOOLEAN, TEXT, ESCAPED = (1 << kind for kind in (4, 5, 6, 2, 3))
"""Kinds of values, as in device/json_text.cuh."""


class OtherLines(Exception):
    """Lines that are not read here."""


def host_reason(dataset: Dataset) -> str:
    """Return why the files of a source are parsed on the CPU; nothing for those that the device parses."""
    if isinstance(dataset, RejectedRows):
        return "it says what is wrong with lines"
    for name, dtype in dataset.own_schema.items():
        if not all(is_nested_here(part) or is_cast_on_device(part) for part in type_parts(dtype)):
            return f"column {name} is {type_name(dtype)}"
    return ""


def is_nested_here(dtype: DataType) -> bool:
    """Tell whether the device takes values of a type apart."""
    return is_list(dtype) or (is_struct(dtype) and dtype.num_fields > 0)


def is_cast_on_device(dtype: DataType) -> bool:
    """Tell whether the device reads values of a flat type: as numbers, booleans or strings, or by CAST of a string."""
    is_number = is_integer(dtype) or is_floating(dtype) or (is_decimal(dtype) and dtype.precision <= MAX_DIGITS)
    is_time = dtype == DATE or (pa.types.is_timestamp(dtype) and dtype != TIMESTAMP_NS)
    return is_number or is_time or dtype in (NULL, BOOL, STRING)


def cast_types(dtype: DataType) -> list[DataType]:
    """Return the types to which strings are cast for a column."""
    return [part for part in dict.fromkeys(type_parts(dtype)) if not is_nested(part) and part not in (STRING, NULL)]


def read_json(read: Read, files: Sequence[Piece], names: list[str], machine: Machine) -> tuple[dict[str, Vector], int]:
    """Read columns of parts of a file of JSON lines.

    Raises
    ------
    DatasetError, RunFailed
        As the pandas engine does.
    """
    (file, groups), dataset = files[0], read.dataset
    try:
        with opened(file.path, file.state) as source:
            frames = list[Frame]()
            for group in groups:
                text = part_text(source, group.index)
                small = chosen("read_small_on_cpu") and len(text) <= machine.host_values()
                frame = None if small else parsed(dataset, text, names, machine)
                if frame is None and not small:
                    part = f"part {group.index + 1} of {file.path}" if group.index else str(file.path)
                    note(f"{read.origin}: {part} was read on the CPU: some lines do not fit")
                frames.append(on_cpu(read, file, group.index, names, machine) if frame is None else frame)
    except (OSError, pa.ArrowException) as error:
        raise RunFailed.unreadable(str(file.path), error) from error
    schema = Schema({name: dtype for name, dtype in dataset.own_schema.items() if name in frames[0].columns})
    rows = concat(frames, schema, machine) if len(frames) > 1 else frames[0]
    return {name: coded(vector, machine) for name, vector in rows.columns.items()}, rows.rows


def on_cpu(read: Read, file: DataFile, part: int, names: Sequence[str], machine: Machine) -> Frame:
    """Let the pandas engine read a part."""
    from gpuetl.engines.pandas.io import json_values

    rows = json_values.read_json(read.dataset, file, [part], names)
    there = [name for name in names if name in rows.column_names]
    return Frame({name: from_arrow(rows.column(name), machine) for name in there}, rows.num_rows)


def parsed(dataset: Dataset, text: bytes, names: Sequence[str], machine: Machine) -> Frame | None:
    """Return columns of lines that the device parses; None where a line or a value does not fit."""
    types = dataset.own_schema
    all_keys = dataset.refuses_extra
    if not json_options(dataset).quarantines and not all_keys:  # else a line is bad by any column of the schema
        types = {name: dtype for name, dtype in types.items() if name in names}
    keys = [*types, *sorted(dataset.excluded)] if all_keys else list(types)
    try:
        frames = [
            lines_frame(block, keys, types, all_keys, machine).select(tuple([name for name in types if name in names]))
            for block in blocks_of(text, block_bytes(len(keys)))
        ]
    except (OtherLines, NoResult, EvaluationError):
        return None
    schema = Schema({name: dtype for name, dtype in types.items() if name in names})
    return concat(frames, schema, machine) if len(frames) > 1 else frames[0]


def block_bytes(keys: int) -> int:
    """Return how many bytes of text are parsed at a time, for so many keys."""
    return min(MOST_BYTES, max(1 << 20, MOST_VALUE_BYTES * BYTES_OF_A_LINE // (BYTES_OF_A_PLACE * max(keys, 1))))


def blocks_of(text: bytes, most: int) -> Iterator[bytes]:
    """Yield lines that are parsed at a time, the last one of each with its end."""
    start = 0
    while len(text) - start > most:
        end = text.rfind(b"\n", start, start + most) + 1
        if not end:
            raise OtherLines
        yield text[start:end]
        start = end
    rest = text[start:] if start else text
    yield rest if rest.endswith(b"\n") else rest + b"\n"


def lines_frame(
    text: bytes, keys: Sequence[str], types: Mapping[str, DataType], all_keys: bool, machine: Machine
) -> Frame:
    """Return the columns of lines, of the keys that have a type.

    Raises
    ------
    OtherLines, NoResult, EvaluationError
        Where the pandas engine has to read them.
    """
    lines = Text.of(text, all_keys, machine)
    values = lines.values()
    members = lines.members(values, keys)
    lines.check()
    columns = {name: lines.column(member, dtype) for (name, dtype), member in zip(types.items(), members, strict=False)}
    lines.check()
    strings = [strings for column in columns.values() for strings in texts_of(column)]
    if any(row is not None for row in first_other_bytes(strings, machine)):
        raise OtherLines
    return Frame(columns, values.rows)


class Values(NamedTuple):
    """Where values stand in a text, their sizes (int32), and of what kinds they are (uint8); of lines no kinds."""

    starts: Array
    sizes: Array
    kinds: Array | None
    rows: int

    @property
    def required_kinds(self) -> Array:
        """The kinds of values that are not lines."""
        assert self.kinds is not None
        return self.kinds


@dataclass(frozen=True, eq=False)
class Text:
    """Lines of JSON in device memory; `odd` (uint64) counts what is found in them that is not read here.

    With `all_keys` a key that is not looked for is odd.
    """

    data: Array
    all_keys: bool
    odd: Array
    machine: Machine

    @classmethod
    def of(cls, text: bytes, all_keys: bool, machine: Machine) -> Text:
        """Copy lines, each with its end, to the device."""
        data = machine.arrays.asarray(np.frombuffer(text, np.uint8))
        return cls(data, all_keys, machine.arrays.zeros(1, "uint64"), machine)

    def launch(self, entry: str, rows: int, *arguments: object) -> None:
        """Run a kernel of device/closed/json.cu over rows, with the text behind the integers."""
        self.machine.launch(self.machine.closed(PROGRAM), entry, rows, [rows, *arguments])

    def check(self) -> None:
        """Raise `OtherLines` where something is odd; the host waits."""
        if int(self.odd[0]):
            raise OtherLines

    def values(self) -> Values:
        """Return where the lines stand that have any text."""
        machine, empty, size = self.machine, self.machine.arrays.empty, len(self.data)
        marks = empty(size, "uint8")
        self.launch("mark_line_ends", size, self.data, marks)
        ends = numbers_where(marks, machine)
        rows = len(ends)
        starts, sizes, there = empty(rows, "int32"), empty(rows, "int32"), empty(rows, "uint8")
        blank = machine.arrays.zeros(1, "uint64")
        self.launch("place_lines", rows, self.data, ends, starts, sizes, there, blank)
        if int(blank[0]):
            lines = numbers_where(there, machine)
            rows, starts, sizes = len(lines), pick(starts, lines, machine), pick(sizes, lines, machine)
        return Values(starts, sizes, None, rows)

    def members(self, values: Values, keys: Sequence[str]) -> list[Values]:
        """Return the values of members of objects, for each key."""
        rows, count, machine = values.rows, len(keys), self.machine
        encoded = [key.encode() for key in keys]
        places = machine.arrays.asarray(np.cumsum([0, *map(len, encoded)], dtype=np.int32))
        names = machine.arrays.asarray(np.frombuffer(b"".join(encoded) or b"\0", np.uint8))
        starts, sizes = (machine.arrays.empty(count * rows, "int32") for _ in range(2))
        kinds = machine.arrays.empty(count * rows, "uint8")
        if rows:
            self.launch(
                "read_objects", rows, count, int(self.all_keys), self.data, values.starts, values.sizes,
                0 if values.kinds is None else values.kinds, places, names, starts, sizes, kinds, self.odd,
            )  # fmt: skip
        between = [slice(key * rows, (key + 1) * rows) for key in range(count)]
        return [Values(starts[own], sizes[own], kinds[own], rows) for own in between]

    def column(self, values: Values, dtype: DataType) -> Vector:
        """Return values as a column."""
        if not values.rows:
            return from_arrow(pa.array([], dtype), self.machine)
        if is_struct(dtype):
            return self.structs(values, dtype)
        return self.lists(values, dtype) if is_list(dtype) else self.flat(values, dtype)

    def structs(self, values: Values, dtype: DataType) -> Vector:
        """Return objects as structs."""
        members = self.members(values, [field.name for field in dtype])
        fields = tuple([self.column(own, field.type) for own, field in zip(members, dtype, strict=True)])
        return with_valid(Vector(dtype, values.rows, NO_DATA, fields=fields), self.valid(values), self.machine)

    def lists(self, values: Values, dtype: DataType) -> Vector:
        """Return arrays as lists."""
        rows, empty = values.rows, self.machine.arrays.empty
        counts, kinds = empty(rows + 1, "int32"), values.required_kinds
        self.launch("count_elements", rows, self.data, values.starts, values.sizes, kinds, counts, self.odd)
        offsets = scan(counts, self.machine, "int32")
        total = int(offsets[rows])
        elements = Values(empty(total, "int32"), empty(total, "int32"), empty(total, "uint8"), total)
        if total:
            self.launch("place_elements", rows, self.data, values.starts, values.sizes, offsets, *elements[:3])
        inner = self.column(elements, dtype.value_type)
        made = Vector(pa.list_(inner.dtype), rows, NO_DATA, offsets=offsets, elements=inner)
        return with_valid(made, self.valid(values), self.machine)

    def flat(self, values: Values, dtype: DataType) -> Vector:
        """Return scalars as a column of their type."""
        rows, arrays, kinds = values.rows, self.machine.arrays, values.required_kinds
        sizes, valid = arrays.empty(rows + 1, "int32"), arrays.empty(rows, "uint8")
        scale = dtype.scale if is_decimal(dtype) else -1
        counts = arrays.zeros(2, "uint64")
        self.launch(
            "place_values", rows, wanted_kinds(dtype), scale, self.data, values.starts, values.sizes, kinds, sizes,
            valid, counts,
        )  # fmt: skip
        odd, escaped = counts.tolist()
        if odd:
            raise OtherLines
        if dtype == NULL:
            return with_valid(Vector(NULL, rows, arrays.zeros(rows, "uint8")), valid, self.machine)
        offsets = scan(sizes, self.machine, "int32")
        total = int(offsets[rows])
        data = arrays.empty(total, "uint8")
        if total and escaped:
            self.launch("copy_escaped", rows, self.data, values.starts, kinds, offsets, data)
        elif total:
            arguments = [rows, iota(rows, self.machine), self.data, values.starts, data, offsets]
            self.machine.launch(self.machine.closed("copy_strings"), "copy_strings_int32_int32_int32", rows, arguments)
        strings = with_valid(Vector(STRING, rows, data, offsets=offsets), valid, self.machine)
        if dtype == STRING:
            return strings
        return evaluate({"": Cast(Column("", STRING), dtype)}, {"": strings}, rows, self.machine)[""]

    def valid(self, values: Values) -> Array:
        """Return which values are there (uint8)."""
        valid = self.machine.arrays.empty(values.rows, "uint8")
        self.launch("mark_values", values.rows, values.required_kinds, valid)
        return valid


def wanted_kinds(dtype: DataType) -> int:
    """Return the kinds of values that a flat type has, as bits."""
    if is_integer(dtype):
        return INTEGER
    if is_floating(dtype):
        return INTEGER | NUMBER
    if is_decimal(dtype):
        return INTEGER | NUMBER | TEXT
    return {BOOL: BOOLEAN, NULL: 0}.get(dtype, TEXT | ESCAPED)
