"""CSV text parsed on the device: fields by own kernels, values by the casts of the language.

A text with a row or a value that does not fit is read by the pandas engine instead, which words what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.arrays import iota, numbers_where, scan
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.validity import with_valid
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io.parquet_reader import Piece, coded, first_other_bytes
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import EvaluationError, RunFailed
from gpuetl.expressions.ir import Cast, Column
from gpuetl.formats.csv_header import header_of
from gpuetl.formats.csv_options import CsvOptions, csv_options
from gpuetl.formats.csv_pieces import CsvText, TextExtent, text_of, texts_of
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.rejected import RejectedRows
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.plan.nodes import Read
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import BOOL, DATE, STRING, DataType, is_floating, is_integer, type_name
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.schema import Schema

PROGRAM = "csv"
MOST_BYTES = 1 << 26
"""Of text that is parsed at a time: it takes 7 times as much device memory, and 4 more with quotes."""


def host_reason(dataset: Dataset) -> str:
    """Return why the files of a source are parsed on the CPU; nothing for those that the device parses."""
    if isinstance(dataset, RejectedRows):
        return "it says what is wrong with rows"
    options, types = csv_options(dataset), dataset.own_schema
    marks = [name for name in ("escape", "comment") if getattr(options, name)]
    if marks:
        return f"it has the option {marks[0]}"
    others = [f"{name} is {type_name(dtype)}" for name, dtype in types.items() if not is_cast_on_device(dtype)]
    if others:
        return f"column {others[0]}"
    return next(filter(None, (written_reason(options, name, dtype) for name, dtype in types.items())), "")


def is_cast_on_device(dtype: DataType) -> bool:
    """Tell whether CAST reads values of a type from CSV text as it is."""
    is_number = is_integer(dtype) or is_floating(dtype) or is_decimal(dtype)
    return is_number or dtype in (STRING, BOOL, DATE) or bool(pa.types.is_timestamp(dtype))


def written_reason(options: CsvOptions, name: str, dtype: DataType) -> str:
    """Return the option by which the values of a column are not written as CAST reads them."""
    if dtype == DATE or pa.types.is_timestamp(dtype):
        return f"column {name} has a format" if options.format_of(name, dtype) else ""
    other_marks = options.decimal != "." or options.thousands
    return f"column {name} has other marks in numbers" if other_marks and dtype not in (STRING, BOOL) else ""


def read_csv(read: Read, files: Sequence[Piece], names: list[str], machine: Machine) -> tuple[dict[str, Vector], int]:
    """Read those of the columns that a CSV file has, of some of its pieces.

    Raises
    ------
    DatasetError, RunFailed
        As the pandas engine does.
    """
    (file, groups), dataset = files[0], read.dataset
    try:
        with opened(file.path, file.state) as source:
            frames = [frame_of(read, file, text, names, machine) for text in long_texts(dataset, file, source, groups)]
    except (OSError, pa.ArrowException) as error:
        raise RunFailed.unreadable(str(file.path), error) from error
    schema = Schema({name: dtype for name, dtype in dataset.own_schema.items() if name in frames[0].columns})
    rows = concat(frames, schema, machine) if len(frames) > 1 else frames[0]
    return {name: coded(vector, machine) for name, vector in rows.columns.items()}, rows.rows


def long_texts(dataset: Dataset, file: DataFile, source: OpenFile, groups: Sequence[RowGroup]) -> Iterator[CsvText]:
    """Yield the records of pieces, of several that follow each other together."""
    size, kept = 0, list[RowGroup]()
    for group in groups:
        extent = group.extent
        if isinstance(extent, TextExtent):
            if kept and size + extent.stop - extent.start > MOST_BYTES:
                yield joined(dataset, file, source, kept)
                kept, size = [], 0
            size += extent.stop - extent.start
        kept.append(group)
    yield joined(dataset, file, source, kept)


def joined(dataset: Dataset, file: DataFile, source: OpenFile, groups: Sequence[RowGroup]) -> CsvText:
    """Return the records of pieces as one text; those that follow each other in the file are read at once."""
    extents = [group.extent for group in groups if isinstance(group.extent, TextExtent)]
    if extents and len(extents) == len(groups) and all(one.stop == other.start for one, other in pairwise(extents)):
        return text_of(dataset, source, extents[0]._replace(stop=extents[-1].stop, last=extents[-1].last))
    parts = list(texts_of(dataset, file, source, groups))
    return CsvText(parts[0].data if len(parts) == 1 else b"".join(part.data for part in parts), parts[0].line)


def frame_of(read: Read, file: DataFile, text: CsvText, names: Sequence[str], machine: Machine) -> Frame:
    """Return columns of some records: by the device where it can read them, else by the pandas engine."""
    if len(text.data) > machine.host_values():
        frame = parsed(read.dataset, file, text.data, names, machine)
        if frame is not None:
            return frame
        note(f"{read.origin}: lines from {text.line:,} on of {file.path} were read on the CPU: some do not fit")
    from gpuetl.engines.pandas.io import csv_reader as on_cpu

    rows = on_cpu.rows_of(read.dataset, file, names, text)
    there = [name for name in names if name in rows.column_names]
    return Frame({name: from_arrow(rows.column(name), machine) for name in there}, rows.num_rows)


def parsed(dataset: Dataset, file: DataFile, text: bytes, names: Sequence[str], machine: Machine) -> Frame | None:
    """Return columns of records that the device parses; None where a row or a value does not fit."""
    options, header = csv_options(dataset), header_of(dataset, file).names
    data = prepared(text, options, len(header))
    fields = None if data is None else Fields.of(data, options, len(header), machine)
    if fields is None:
        return None
    types = {name: dtype for name, dtype in dataset.own_schema.items() if name in header}
    wanted = {name: dtype for name, dtype in types.items() if name in names}
    read = types if options.on_bad_row == "quarantine" else wanted  # a row is bad by any column of the schema
    strings = {name: fields.strings(header.index(name), options.nulls.of(name), machine) for name in read}
    if any(row is not None for row in first_other_bytes(list(strings.values()), machine)):
        return None
    try:
        values = {name: cast_to(strings[name], name, dtype, machine) for name, dtype in read.items()}
    except (NoResult, EvaluationError):
        return None
    return Frame({name: values[name] for name in wanted}, fields.rows)


def cast_to(strings: Vector, name: str, dtype: DataType, machine: Machine) -> Vector:
    """Return strings in the type of their column; the program is that which `scan_programs` lists."""
    if dtype == STRING:
        return strings
    return evaluate({"": Cast(Column(name, STRING), dtype)}, {name: strings}, strings.rows, machine)[""]


def prepared(text: bytes, options: CsvOptions, columns: int) -> bytes | None:
    r"""Return records whose lines all end with \n; None for those with other line ends."""
    if text.find(b"\r") >= 0:
        has_quotes = bool(options.quote) and text.find(options.quote.encode()) >= 0
        if has_quotes or text.count(b"\r") != text.count(b"\r\n"):
            return None
        text = text.replace(b"\r\n", b"\n")
    return text if text.endswith(b"\n") else text + b"\n"


class Fields(NamedTuple):
    """A text in device memory, and where its fields end (int32); all rows have as many."""

    text: Array
    ends: Array
    columns: int
    rows: int
    quote: int

    @classmethod
    def of(cls, data: bytes, options: CsvOptions, columns: int, machine: Machine) -> Fields | None:
        """Find the fields of a text; None where rows have other numbers of fields, or quotes that are not regular."""
        text, delimiter = machine.arrays.asarray(np.frombuffer(data, np.uint8)), ord(options.delimiter)
        quote = ord(options.quote) if options.quote and data.find(options.quote.encode()) >= 0 else -1
        size, module, marks = len(data), machine.closed(PROGRAM), machine.arrays.empty(len(data), "uint8")
        before: Array | int = 0
        if quote >= 0:
            machine.launch(module, "mark_quotes", size, [size, quote, text, marks])
            before = scan(marks, machine, "int32")
            irregular = machine.arrays.zeros(1, "uint64")
            arguments = [size, delimiter, quote, text, before, irregular]
            machine.launch(module, "count_irregular_quotes", size, arguments)
            if int(irregular[0]) or int(before[size - 1]) % 2:
                return None
        machine.launch(module, "mark_ends", size, [size, delimiter, text, before, marks])
        ends = numbers_where(marks, machine)
        if not len(ends) or len(ends) % columns:
            return None
        uneven = machine.arrays.zeros(1, "uint64")
        machine.launch(module, "count_uneven_rows", len(ends), [len(ends), columns, text, ends, uneven])
        return None if int(uneven[0]) else cls(text, ends, columns, len(ends) // columns, quote)

    def strings(self, column: int, nulls: Sequence[str], machine: Machine) -> Vector:
        """Return the values of a column as they are written, with nulls."""
        rows, arrays, module = self.rows, machine.arrays, machine.closed(PROGRAM)
        names = [name.encode() for name in nulls]
        places = arrays.asarray(np.cumsum([0, *map(len, names)], dtype=np.int32))
        null_bytes = arrays.asarray(np.frombuffer(b"".join(names) or b"\0", np.uint8))
        starts, sizes = arrays.empty(rows, "int32"), arrays.empty(rows + 1, "int32")
        valid, doubled = arrays.empty(rows, "uint8"), arrays.zeros(1, "uint64")
        machine.launch(
            module,
            "place_fields",
            rows,
            [
                rows, self.columns, column, self.quote, self.text, self.ends, len(names), places, null_bytes, starts,
                sizes, valid, doubled,
            ],
        )  # fmt: skip
        offsets = scan(sizes, machine, "int32")
        total = int(offsets[rows])
        data = arrays.empty(total, "uint8")
        if total and int(doubled[0]):
            arguments = [rows, self.quote, self.text, starts, offsets, data]
            machine.launch(module, "copy_quoted", rows, arguments)
        elif total:
            arguments = [rows, iota(rows, machine), self.text, starts, data, offsets]
            machine.launch(machine.closed("copy_strings"), "copy_strings_int32_int32_int32", rows, arguments)
        return with_valid(Vector(STRING, rows, data, None, 0, offsets), valid, machine)
