"""Read: row groups of files, each by the reader of its format, and the columns of their paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from gpuetl import messages
from gpuetl.engines.capabilities import Device
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame, check_rows
from gpuetl.engines.cudf.columns.gather import first_rows
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io import csv_reader, json_reader
from gpuetl.engines.cudf.io.orc_reader import device_columns
from gpuetl.engines.cudf.io.parquet_reader import Piece, coded, read_parquet, stored_alike
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import RunFailed, first_line
from gpuetl.expressions.ir import Cast, Column, Literal
from gpuetl.formats.arrow_ipc import ArrowFormat
from gpuetl.formats.avro import AvroFormat
from gpuetl.formats.csv import CsvFormat
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.excel import ExcelFormat
from gpuetl.formats.file_columns import check_widens
from gpuetl.formats.format import Format
from gpuetl.formats.frames import FrameFormat
from gpuetl.formats.json_lines import JsonFormat
from gpuetl.formats.orc import OrcFormat
from gpuetl.formats.parquet import ParquetFormat
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.places.file_state import DatasetError
from gpuetl.plan.nodes import Read
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import DataType


def read_row_groups(read: Read, groups: Sequence[RowGroup], machine: Machine) -> Frame:
    """Read the wanted columns of the row groups, in order, up to the rows that are wanted.

    Files one after another that store the columns alike are read together: the device has more to do at a time, and
    nothing is put below each other afterwards.

    Raises
    ------
    DatasetError, RunFailed
        For a file that lacks a column, has it in another type, or cannot be read.
    EvaluationError
        For more rows than a frame has.
    """
    check_rows(sum(max(group.rows, 0) for group in groups))  # CSV files do not tell
    files = [(file, list(own)) for file, own in groupby(groups, key=lambda group: group.file)]
    reader = reader_of(read.dataset)
    together = groupby(files, key=lambda piece: reader.alike(read, piece[0]))
    rows = concat([read_files(read, list(alike), machine) for _, alike in together], read.schema, machine)
    return rows if read.limit is None else first_rows(rows, read.limit, machine)


def read_files(read: Read, files: Sequence[Piece], machine: Machine) -> Frame:
    """Read row groups of files that store the columns alike, and add those of their path, and nulls."""
    dataset, file = read.dataset, files[0][0]
    stored = [name for name in read.columns if name not in dataset.partitions]
    reader = reader_of(dataset)
    columns, rows = reader.read(read, files, stored, machine)
    values = {
        name: Literal(dataset.partition_value(file, name) if name in dataset.partitions else None, dtype, declared=True)
        for name, dtype in read.schema.items()
        if name not in columns
    }
    columns |= evaluate(values, {}, rows, machine)
    return Frame(
        {name: as_planned(columns[name], t, name, file, rows, machine) for name, t in read.schema.items()}, rows
    )


def read_table(table: pa.Table, names: list[str], machine: Machine) -> tuple[dict[str, Vector], int]:
    """Copy those of the columns that a table has, whose texts are UTF-8."""
    there = (name for name in names if name in table.column_names)
    columns = {name: coded(from_arrow(table.column(name), machine), machine) for name in there}
    return columns, table.num_rows


def read_frame(read: Read, files: Sequence[Piece], names: list[str], machine: Machine) -> tuple[dict[str, Vector], int]:
    """Copy slices of rows in memory."""
    (file, groups), dataset = files[0], read.dataset
    table = dataset.file_format.read(dataset, file, [group.index for group in groups], names)
    return read_table(table, names, machine)


def read_on_cpu(
    read: Read, files: Sequence[Piece], names: list[str], machine: Machine
) -> tuple[dict[str, Vector], int]:
    """Let the pandas engine read one file through Arrow: what its fields mean is decided once for all engines."""
    from gpuetl.engines.pandas.io import read as on_cpu

    file, groups = files[0]
    file_format = type(read.dataset.file_format)
    reason = CPU_REASONS.get(file_format, "") or (file_format is JsonFormat and json_reader.host_reason(read.dataset))
    if reason:
        note(f"{read.origin}: {read.dataset.file_format.title} files were read on the CPU: {reason}")
    try:
        table = on_cpu.read_table(read.dataset, file, groups, names)
    except (OSError, pa.ArrowException) as error:
        raise RunFailed.unreadable(str(file.path), error) from error
    return read_table(table, names, machine)


def read_orc(read: Read, files: Sequence[Piece], names: list[str], machine: Machine) -> tuple[dict[str, Vector], int]:
    """Let libcudf read the columns of one file that it reads as Arrow does, and Arrow the others."""
    columns = device_columns(read, files[0], names, machine)
    others = [name for name in names if name not in columns]
    if columns and not others:
        return columns, sum(group.rows for group in files[0][1])
    found, rows = read_on_cpu(read, files, others, machine)
    return columns | found, rows


class Reader(NamedTuple):
    """How the files of a format are read.

    `read` returns those of the named columns that the files have, and their rows.  Its files are one after another and
    have the same value of `alike`, by default one file.  `device` is where the files are decoded.
    """

    read: Callable[[Read, Sequence[Piece], list[str], Machine], tuple[dict[str, Vector], int]]
    alike: Callable[[Read, DataFile], object] = lambda read, file: file
    device: Device = "GPU"


CPU_REASONS: dict[type[Format], str] = {
    AvroFormat: "libcudf does not read all of its types",
    ArrowFormat: "libcudf has no reader of them",
    ExcelFormat: "libcudf has no reader of them",
}
"""Why the GPU does not read a format."""
ON_CPU = Reader(read_on_cpu, device="CPU")
"""That of every other format."""
READERS: dict[type[Format], Reader] = {
    ParquetFormat: Reader(read_parquet, stored_alike),
    OrcFormat: Reader(read_orc),
    FrameFormat: Reader(read_frame),
    CsvFormat: Reader(csv_reader.read_csv),
    JsonFormat: Reader(json_reader.read_json),
}
HOST_REASONS: dict[type[Format], Callable[[Dataset], str]] = {
    CsvFormat: csv_reader.host_reason,
    JsonFormat: json_reader.host_reason,
}
"""Why a source of a format is read on the CPU, which the GPU reads otherwise; empty where it does."""


def device_of(dataset: Dataset) -> Device:
    """Return where the files of a source are decoded."""
    return reader_of(dataset).device


def reader_of(dataset: Dataset) -> Reader:
    """Return what reads the files of a source."""
    reason = HOST_REASONS.get(type(dataset.file_format))
    if reason is not None and reason(dataset):
        return ON_CPU
    return READERS.get(type(dataset.file_format), ON_CPU)


def as_planned(vector: Vector, dtype: DataType, name: str, file: DataFile, rows: int, machine: Machine) -> Any:
    """Return the column in the planned type, to which the stored one must widen without loss."""
    if vector.dtype == dtype:
        return vector
    check_widens(file, name, vector.dtype, dtype)
    try:
        return evaluate({"": Cast(Column(name, vector.dtype), dtype)}, {name: vector}, rows, machine)[""]
    except NoResult as error:
        raise DatasetError(messages.coded("GE1406", f"{file.path}: column '{name}': {first_line(error)}")) from None
