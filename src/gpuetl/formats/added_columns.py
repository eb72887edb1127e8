"""Whether the files that a sink adds to a folder have the columns of those that are there."""

from __future__ import annotations

import csv
from contextlib import closing

import pyarrow as pa

from gpuetl.formats.registry import format_named
from gpuetl.io.staging import SinkWriter
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath
from gpuetl.places.registry import filesystem_of


def added_beside(writer: SinkWriter) -> tuple[FilePath, list[str], list[str]] | None:
    """Return a file that stays at the target, its columns, and those of new files; None where they are the same.

    Only the first file that is found is read, its footer or its first line.  A file that cannot be read counts as the
    same: another tool wrote it.
    """
    there = next(writer.staged.staying_files(), None) if writer.files else None
    if there is None:
        return None
    try:
        old, new = (columns_of(writer, path) for path in (there, writer.staged.staged_path(writer.files[0].name)))
    except (DatasetError, OSError, ValueError, csv.Error, pa.ArrowException):
        return None
    return None if old == new else (there, old, new)


def columns_of(writer: SinkWriter, path: FilePath) -> list[str]:
    """Return the columns of a file in the sink's format: see `Format.columns_of`."""
    with closing(filesystem_of(path).open(path)) as file:
        return format_named(writer.target.format).columns_of(file)
