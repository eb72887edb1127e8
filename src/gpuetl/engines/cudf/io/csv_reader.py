"""CSV text parsed on the device: fields by own kernels, values by the casts of the language.

Text with a row or a value that does not fit is read by the pandas engine instead, which words what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io.csv_fields import DeviceText, Fields, WantedFields
from gpuetl.engines.cudf.io.csv_parts import TextParts, TextRange, part_bytes
from gpuetl.engines.cudf.io.parquet_reader import Piece, coded, first_other_bytes
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import EvaluationError, RunFailed
from gpuetl.expressions.ir import Cast, Column
from gpuetl.formats.csv_header import header_of
from gpuetl.formats.csv_options import CsvOptions, csv_options
from gpuetl.formats.csv_pieces import CsvText, TextExtent, plain_records, texts_of
from gpuetl.formats.csv_quotes import line_count
from gpuetl.formats.csv_text import BLOCK_BYTES
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.rejected import RejectedRows
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.plan.nodes import Read
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import BOOL, DATE, STRING, DataType, is_floating, is_integer, type_name
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.schema import Schema


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
    reader = CsvReader(read, file, names, machine)
    try:
        with opened(file.path, file.state) as source:
            if csv_options(dataset).is_stream(file.path.name):
                frames = [reader.text_frame(text) for text in long_texts(dataset, file, source, groups, machine)]
            else:
                ranges = ranges_of(dataset, file, source, groups)
                frames = [frame for text in ranges for frame in reader.range_frames(source, text)]
    except (OSError, pa.ArrowException) as error:
        raise RunFailed.unreadable(str(file.path), error) from error
    schema = Schema({name: dtype for name, dtype in dataset.own_schema.items() if name in frames[0].columns})
    rows = concat(frames, schema, machine) if len(frames) > 1 else frames[0]
    return {name: coded(vector, machine) for name, vector in rows.columns.items()}, rows.rows


def ranges_of(dataset: Dataset, file: DataFile, source: OpenFile, groups: Sequence[RowGroup]) -> list[TextRange]:
    """Return the pieces of a file of plain text; those that follow each other in the file are one range."""
    ranges = list[TextRange]()
    for group in groups:
        extent, header = group.extent, header_of(dataset, file)
        if not isinstance(extent, TextExtent):
            ranges.append(TextRange(header.start, source.state.size, header.line))
        elif ranges and ranges[-1].stop == extent.start:
            ranges[-1] = ranges[-1]._replace(stop=extent.stop)
        else:
            ranges.append(TextRange(extent.start, extent.stop, extent.line))
    return ranges


def long_texts(
    dataset: Dataset, file: DataFile, source: OpenFile, groups: Sequence[RowGroup], machine: Machine
) -> Iterator[CsvText]:
    """Yield the records of a file that is decoded by the host; those of several pieces together."""
    parts, size, most = list[CsvText](), 0, part_bytes(machine)
    for text in texts_of(dataset, file, source, groups):
        if parts and size + len(text.data) > most:
            yield joined(parts)
            parts, size = [], 0
        parts.append(text)
        size += len(text.data)
    yield joined(parts)


def joined(parts: Sequence[CsvText]) -> CsvText:
    """Return records that follow each other as one text."""
    return parts[0] if len(parts) == 1 else CsvText(b"".join(part.data for part in parts), parts[0].line)


@dataclass(frozen=True, eq=False)
class CsvReader:
    """Reads columns of a file: on the device what it can read, else by the pandas engine."""

    read: Read
    file: DataFile
    names: Sequence[str]
    machine: Machine

    def range_frames(self, source: OpenFile, text: TextRange) -> Iterator[Frame]:
        """Yield the rows of a range of a file of plain text."""
        if text.stop - text.start <= self.machine.host_values():
            yield from map(self.host_frame, plain_records(source, csv_options(self.read.dataset).dialect, *text))
            return
        line, counted = text.line, text.start
        parts = TextParts(source, text, self.machine)
        try:
            while (part := parts.next()) is not None:
                parsed = self.device_frame(part)
                if parsed is not None and parts.go_on(parsed.size):
                    yield parsed.frame
                    continue
                line, counted = line + lines_between(source, counted, parts.start), parts.start
                least = parts.start + len(part.data)
                self.note_host(line)
                for records in plain_records(source, csv_options(self.read.dataset).dialect, counted, text.stop, line):
                    yield self.host_frame(records)
                    line, counted = line + line_count(records.data), counted + len(records.data)
                    if counted >= least:
                        break
                parts.restart(counted)
        finally:
            parts.close()

    def text_frame(self, text: CsvText) -> Frame:
        """Return the rows of records in host memory."""
        if len(text.data) > self.machine.host_values():
            parsed = self.device_frame(to_device(text.data, self.machine))
            if parsed is not None:
                return parsed.frame
            self.note_host(text.line)
        return self.host_frame(text)

    def note_host(self, line: int) -> None:
        """Note where the device could not read."""
        path = self.file.path
        note(f"{self.read.origin}: lines from {line:,} on of {path} were read on the CPU: some do not fit")

    def host_frame(self, text: CsvText) -> Frame:
        """Return the rows of some records, read by the pandas engine."""
        from gpuetl.engines.pandas.io import csv_reader as on_cpu

        rows = on_cpu.rows_of(self.read.dataset, self.file, self.names, text)
        there = [name for name in self.names if name in rows.column_names]
        return Frame({name: from_arrow(rows.column(name), self.machine) for name in there}, rows.num_rows)

    @cached_property
    def header(self) -> Sequence[str]:
        """The names of the file's columns."""
        return header_of(self.read.dataset, self.file).names

    @cached_property
    def types(self) -> dict[str, DataType]:
        """The types of the columns that are parsed: all of the schema where they decide whether a row is bad."""
        dataset = self.read.dataset
        types = {name: dtype for name, dtype in dataset.own_schema.items() if name in self.header}
        is_whole = csv_options(dataset).on_bad_row == "quarantine"
        return {name: dtype for name, dtype in types.items() if is_whole or name in self.names}

    @cached_property
    def wanted(self) -> WantedFields:
        """The fields that are parsed."""
        nulls = csv_options(self.read.dataset).nulls
        columns = [self.header.index(name) for name in self.types]
        trims = [dtype != STRING for dtype in self.types.values()]
        return WantedFields.of(columns, trims, [nulls.of(name) for name in self.types], self.machine)

    def device_frame(self, text: DeviceText) -> ParsedText | None:
        """Return the rows of the whole records of a text; None where a row or a value does not fit."""
        machine = self.machine
        fields = Fields.of(text, csv_options(self.read.dataset), len(self.header), machine)
        if fields is None:
            return None
        found = fields.strings(self.wanted, machine) if self.types else []
        strings = dict(zip(self.types, found, strict=True))
        texts = [strings[name] for name, dtype in self.types.items() if dtype == STRING]
        if any(row is not None for row in first_other_bytes(texts, machine)):
            return None
        try:
            values = {name: cast_to(strings[name], name, dtype, machine) for name, dtype in self.types.items()}
        except (NoResult, EvaluationError):
            return None
        return ParsedText(
            Frame({name: values[name] for name in self.names if name in values}, fields.rows), fields.size
        )


class ParsedText(NamedTuple):
    """The rows of a text's whole records, and the bytes of these."""

    frame: Frame
    size: int


def to_device(text: bytes, machine: Machine) -> DeviceText:
    """Copy records to the device, and end the last one."""
    data = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", np.uint8)
    array = machine.arrays.empty(len(data), "uint8")
    machine.from_host(data, [array])
    return DeviceText(array, is_last=True)


def lines_between(source: OpenFile, start: int, stop: int) -> int:
    """Count the lines that end between two places of a file, at which lines begin."""
    lines = 0
    while start < stop and (block := source.read_at(start, min(BLOCK_BYTES, stop - start))):
        if len(block) > 1 and block.endswith(b"\r"):
            block = block[:-1]  # a \n may follow, which is no line of its own
        lines, start = lines + line_count(block), start + len(block)
    return lines


def cast_to(strings: Vector, name: str, dtype: DataType, machine: Machine) -> Vector:
    """Return strings in the type of their column; the program is that which `scan_programs` lists."""
    if dtype == STRING:  # on memory of its own: that of other columns is not kept with it
        offsets, valid = strings.required_offsets.copy(), strings.valid
        return replace(
            strings, data=strings.data.copy(), offsets=offsets, valid=None if valid is None else valid.copy()
        )
    return evaluate({"": Cast(Column(name, STRING), dtype)}, {name: strings}, strings.rows, machine)[""]
