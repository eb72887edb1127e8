"""Sinks are written beside their targets and moved into place when all of them are complete."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from gpuetl.errors import RunFailed, SinkExists, first_line
from gpuetl.io.dataset import NULL_PARTITION
from gpuetl.io.target import Target

WriteFile = Callable[[Any, Path], None]


@dataclass
class SinkWriter:
    """Writes one sink's parts to a folder beside the target, and commits them.

    Nothing at the target changes before `commit`; `abort` removes what was written.  A part of a folder is named
    after the run, so that appended files never meet.
    """

    target: Target
    run_id: str
    write_file: WriteFile
    rows: int = 0
    files: list[tuple[str, int]] = field(default_factory=list)

    @property
    def staging(self) -> Path:
        """The folder beside the target, hidden from readers of the target."""
        return self.target.path.parent / f".{self.target.path.name}.{self.run_id}"

    def prepare(self) -> None:
        """Refuse a target that is there already in mode `error`, and make the folder.

        Raises
        ------
        SinkExists
            In mode `error`, where the target exists.
        RunFailed
            Where the target's folder cannot be written.
        """
        path = self.target.path
        if self.target.mode == "error" and path.exists():
            raise SinkExists.at(self.target.name, str(path))
        if path.exists() and path.is_dir() == self.target.is_file:
            kinds = ("a folder", "a file") if self.target.is_file else ("a file", "a folder")
            raise RunFailed(f"sink '{self.target.name}': {path} is {kinds[0]}, and the sink writes {kinds[1]}")
        try:
            self.staging.mkdir(parents=True)
        except OSError as error:
            raise RunFailed(f"sink '{self.target.name}': cannot write beside {path}: {error.strerror}") from None

    def write(self, table: pa.Table) -> None:
        """Write one partition's rows; partition columns go into the folders' names."""
        self.rows += table.num_rows
        for folder, rows in self.pieces(table):
            part = f"part-{self.run_id}-{len(self.files):05}.{self.target.format}"
            name = self.target.path.name if self.target.is_file else part
            path = self.staging / folder / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self.write_file(rows, path)
            except (OSError, pa.ArrowException) as error:
                raise RunFailed(f"sink '{self.target.name}': cannot write {path.name}: {first_line(error)}") from error
            self.files.append((str(Path(folder) / name), path.stat().st_size))

    def pieces(self, table: pa.Table) -> list[tuple[str, pa.Table]]:
        """Return the folder and the rows of each value of the partition columns."""
        if not self.target.partition_by:
            return [("", table)]
        return split_by_value(table, self.target.partition_by)

    def commit(self) -> None:
        """Move the files into place, as the mode says, and remove the folder."""
        path = self.target.path
        if self.target.is_file:
            (self.staging / path.name).replace(path)
        elif self.target.mode in ("error", "overwrite"):
            self.swap(self.staging, path)
            return
        else:
            if self.target.mode == "replace_partitions":
                self.clear_partitions()
            for name, _ in self.files:
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                (self.staging / name).replace(path / name)
        self.abort()

    def swap(self, new: Path, old: Path) -> None:
        """Put a folder in another's place; the old one is removed after the new one is there."""
        aside = old.parent / f".{old.name}.{self.run_id}.old"
        if old.exists():
            old.replace(aside)
        new.replace(old)
        shutil.rmtree(aside, ignore_errors=True)

    def clear_partitions(self) -> None:
        """Remove the folders of the partitions that were written."""
        for folder in {str(Path(name).parent) for name, _ in self.files}:
            shutil.rmtree(self.target.path / folder, ignore_errors=True)

    def abort(self) -> None:
        """Remove what was written and not committed."""
        shutil.rmtree(self.staging, ignore_errors=True)


def split_by_value(table: pa.Table, keys: tuple[str, ...]) -> list[tuple[str, pa.Table]]:
    """Return hive folder names and their rows, in the order of first appearance; rows keep their order."""
    numbered = table.select(keys).append_column(":row", pa.array(range(table.num_rows), pa.int64()))
    groups = numbered.group_by(list(keys), use_threads=False).aggregate([(":row", "list")])
    rows = groups.column(":row_list").combine_chunks()
    ordered = table.drop_columns(list(keys)).take(rows.flatten())
    starts = rows.offsets.to_pylist()
    folders = [
        "/".join(f"{_quoted(key)}={_folder(groups.column(key)[i])}" for key in keys) for i in range(groups.num_rows)
    ]
    return [
        (folder, ordered.slice(start, stop - start))
        for folder, start, stop in zip(folders, starts[:-1], starts[1:], strict=True)
    ]


def _folder(value: Any) -> str:
    if value.as_py() is None:
        return NULL_PARTITION
    text = _quoted(str(value.as_py()))
    return text.replace("_", "%5F") if text == NULL_PARTITION else text


def _quoted(text: str) -> str:
    return quote(text, safe=" ")
