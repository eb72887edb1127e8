"""Whether the files that a sink adds to a folder have the columns of those that are there."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from gpuetl.formats.registry import format_named
from gpuetl.io.sink_target import marked_files
from gpuetl.io.staging import SinkWriter
from gpuetl.places.paths import is_hidden


def added_beside(writer: SinkWriter) -> tuple[Path, list[str], list[str]] | None:
    """Return a file that stays at the target, its columns, and those of new files; None where they are the same.

    Only the first file that is found is read, its footer or its first line.  A file that cannot be read counts as the
    same: another tool wrote it.
    """
    there = next(staying_files(writer), None) if writer.files else None
    if there is None:
        return None
    columns_of = format_named(writer.target.format).columns_of
    try:
        old, new = (columns_of(path) for path in (there, writer.new / writer.files[0].name))
    except (OSError, ValueError, csv.Error, pa.ArrowException):
        return None
    return None if old == new else (there, old, new)


def staying_files(writer: SinkWriter) -> Iterator[Path]:
    """Yield the files at the target that the commit will not replace."""
    target, folder = writer.target, writer.path
    replaced_folders = {(folder / file.name).parent for file in writer.files if target.mode == "replace_partitions"}
    replaced_files = set(marked_files(target, folder) if target.run_key else ())
    for path in folder.rglob(f"*{target.suffix}") if folder.is_dir() else ():
        replaced = path in replaced_files or path.parent in replaced_folders
        if path.is_file() and not replaced and not is_hidden(path.relative_to(folder).parts):
            yield path
