"""Parquet files written from device memory: encoded there, some row groups at a time, and copied by threads."""

from __future__ import annotations

from pathlib import Path

from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine, WrittenFile
from gpuetl.engines.cudf.sinks.footer import MAGIC, ChunkPlace, footer
from gpuetl.engines.cudf.sinks.row_groups import DEFAULT, Groups, Layout, Rows
from gpuetl.types.data_types import NULL, is_list
from gpuetl.types.schema import Schema


def writes(schema: Schema) -> bool:
    """Tell whether there is an encoding for each column; there must be one."""
    return bool(schema) and not any(is_list(dtype) or dtype == NULL for dtype in schema.values())


def write_parquet(
    frame: Frame, schema: Schema, path: Path, machine: Machine, *, alone: bool = True, layout: Layout = DEFAULT
) -> None:
    """Write a frame of columns that `writes` is true for as a file, whole when this returns.

    While threads copy and write one batch of row groups, the next is encoded: the device memory that `Rows.encoded`
    needs is that of two batches, and two more may wait for their threads.
    `alone` says that no other file is written meanwhile; with several, it should be false.

    Raises
    ------
    OSError
        Where the file cannot be written; a part of it may stay.
    pyarrow.ArrowInvalid
        Where so few texts as a page must have are larger than one can be.
    """
    rows = Rows.of(frame, schema, layout, machine, frame.rows)
    with machine.written_file(path, alone) as file:
        file.write(0, MAGIC)
        end, places = len(MAGIC), list[list[ChunkPlace]]()
        for start in range(0, frame.rows, layout.batch_rows):
            (groups,) = rows.encoded(start, layout.batch_rows, layout.batch_rows, end)
            end = written(file, groups)
            places += groups.places
            del groups  # its memory is another batch's when its threads are done
        file.write(end, footer(rows.schema, frame.rows, places))


def written(file: WrittenFile, groups: Groups) -> int:
    """Hand the bytes of row groups to a file's threads; return where they end."""
    assert groups.data is not None
    file.write(groups.start, groups.data)
    return groups.end
