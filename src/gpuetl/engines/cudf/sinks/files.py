"""Parquet files of a sink: large ones are encoded on the device, small ones by Arrow on the host.

To encode a file costs the interpreter milliseconds of launches, one file after another.  Arrow takes less for a small
one and writes several at a time, without the interpreter, so the rows of many small files are copied to the host at
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from gpuetl.engines.cudf.columns.dictionaries import decoded, decoded_bytes, most_decoded_bytes
from gpuetl.engines.cudf.columns.gather import take_rows
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.interchange import to_table
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.sinks import parquet
from gpuetl.engines.cudf.sinks.partitions import rows_by_value
from gpuetl.engines.cudf.sinks.parts import Part, write_part
from gpuetl.io import write_files
from gpuetl.types.schema import Schema

LEAST_BYTES = 1 << 20
"""Of a file's rows in device memory, that it is encoded there, if it is the only one."""
MOST_AT_ONCE = 8
"""Files that Arrow writes at a time: of as many, each must be as many times as large."""
MOST_HOST_BYTES = (1 << 31) - 1
"""Of the rows of small files that are copied to the host at once: one column of Arrow's has no more bytes of texts."""
Rows: TypeAlias = Frame | pa.Table


def are_small(frame: Frame, files: int, machine: Machine) -> bool:
    """Tell whether files, which have the rows of a frame, are better written by Arrow."""
    most = LEAST_BYTES * files * min(files, MOST_AT_ONCE)
    return frame.nbytes < most and fits_host(frame, machine)


def fits_host(frame: Frame, machine: Machine) -> bool:
    """Tell whether rows may be copied to the host at once, where each has its own text of a dictionary."""
    columns = frame.columns.values()
    return sum(map(most_decoded_bytes, columns)) <= MOST_HOST_BYTES or (
        frame.nbytes <= MOST_HOST_BYTES and sum(decoded_bytes(vector, machine) for vector in columns) <= MOST_HOST_BYTES
    )


def write_file(rows: Rows | Part, schema: Schema, path: Path, machine: Machine, alone: bool) -> None:
    """Write a file; `alone` and errors are those of `parquet.write_parquet`."""
    if isinstance(rows, Frame) and are_small(rows, 1, machine):
        rows = on_host(rows, machine)
    if isinstance(rows, Part):
        write_part(rows, path)
    elif isinstance(rows, Frame):
        parquet.write_parquet(rows, schema, path, machine, alone=alone)
    else:
        write_files.write_parquet(rows.select(list(schema)), path)


def split_by_value(frame: Frame, keys: tuple[str, ...], machine: Machine) -> Sequence[tuple[str, Rows]]:
    """Return hive folder names and their rows, in the order of first appearance; rows keep their order.

    Both are what `io.hive.split_by_value` gives for Arrow tables; keys have a fixed width, or are texts.  The rows
    take as much memory as the columns that are not keys, of the host where files are small; nulls of frames are not
    counted anew.
    """
    if not frame.rows:
        return []
    rest = frame.select(tuple(name for name in frame.columns if name not in keys))
    groups = rows_by_value(frame.select(keys), machine)
    if are_small(rest, len(groups.folders), machine):
        table = to_table(take_rows(rest, groups.rows, machine, permuted=True), machine)
        return [(name, table[start:end]) for name, start, end in groups.folders]
    return [
        (name, take_rows(rest, groups.rows[start:end], machine, permuted=True)) for name, start, end in groups.folders
    ]


def on_host(frame: Frame, machine: Machine) -> pa.Table:
    """Copy a frame, whose nulls may not have been counted; Arrow does that."""
    columns = {name: decoded(vector, machine) for name, vector in frame.columns.items()}
    counted = {name: replace(vector, nulls=-1 if vector.nulls else 0) for name, vector in columns.items()}
    return to_table(Frame(counted, frame.rows), machine)
