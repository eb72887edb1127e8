"""What a source holds, before any row is read: its files, their schema, their row groups and statistics."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

import pyarrow as pa

from gpuetl.expressions.types import DataType, language_type, type_name
from gpuetl.plan.schema import Schema

Format = Literal["parquet", "csv"]
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class DatasetError(Exception):
    """A source whose files are missing or are not what it says; worded for the user, without the place."""


@dataclass(frozen=True)
class DataFile:
    """One file and the values of the partition columns in its path, as written there."""

    path: Path
    partition: Mapping[str, str | None]


@dataclass(frozen=True)
class RowGroup:
    """A piece of a file that is read as a whole; a CSV file is one piece with an unknown number of rows.

    `ranges` has the smallest and largest value and the number of nulls, for the columns that state them.
    """

    file: DataFile
    index: int
    rows: int
    file_bytes: Mapping[str, int]
    ranges: Mapping[str, tuple[Any, Any, int]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """The files of a source, looked at as late as can be and once.

    Parameters
    ----------
    path
        A file, a glob, or a folder, whose files of the format are taken at any depth.
    declared
        The columns that the pipeline states, or none: then they come from the first file's footer.
    partitions
        The types of the columns that stand in the path as `name=value` (hive).
    nulls, delimiter
        How a CSV file writes null, and what separates its fields.
    """

    name: str
    format: Format
    path: Path
    declared: Mapping[str, DataType] = field(default_factory=dict)
    partitions: Mapping[str, DataType] = field(default_factory=dict)
    nulls: tuple[str, ...] = ("",)
    delimiter: str = ","

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        """The files, in the order of their paths.

        Raises
        ------
        DatasetError
            Where there is none, or one whose path lacks a partition column.
        """
        paths = sorted(self._paths())
        if not paths:
            what = "does not exist" if not glob.has_magic(str(self.path)) else "matches no file"
            raise DatasetError(
                f"{self.path} {what}" if not self.path.is_dir() else f"{self.path} holds no .{self.format} file"
            )
        return tuple(DataFile(path, self._partition_values(path)) for path in paths)

    def _paths(self) -> list[Path]:
        found: Iterable[Path]
        if self.path.is_dir():
            found = self.path.rglob(f"*.{self.format}")
        elif not self.path.is_file() and glob.has_magic(str(self.path)):
            found = (Path(p) for p in glob.glob(str(self.path), recursive=True))
        else:
            found = [self.path]
        return [
            p
            for p in found
            if p.is_file() and not any(part.startswith((".", "_")) for part in p.relative_to(self._base).parts)
        ]

    @property
    def _base(self) -> Path:
        """The part of the path that is no glob: hidden files are skipped below it, not above."""
        parts = self.path.parts
        plain = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
        base = Path(*parts[:plain])
        return base if base.is_dir() else base.parent

    def _partition_values(self, path: Path) -> dict[str, str | None]:
        pairs = (part.split("=", 1) for part in path.parts[:-1] if "=" in part)
        written = {unquote(name): value for name, value in pairs}
        missing = [name for name in self.partitions if name not in written]
        if missing:
            raise DatasetError(f"{path} has no '{missing[0]}=…' folder")
        return {name: None if written[name] == NULL_PARTITION else unquote(written[name]) for name in self.partitions}

    @cached_property
    def schema(self) -> Schema:
        """The columns, partition columns last.

        Raises
        ------
        DatasetError
            Where a footer cannot be read, or has a column whose type the language has not.
        """
        columns = dict(self.declared) or self._schema_of_footer()
        return Schema({**{n: t for n, t in columns.items() if n not in self.partitions}, **self.partitions})

    def _schema_of_footer(self) -> dict[str, DataType]:
        columns: dict[str, DataType] = {}
        for column in self.footers.schema_of(self.files[0]):
            dtype = language_type(column.type)
            if dtype is None:
                hint = "Name the columns to read in the source's columns"
                raise DatasetError(
                    f"column '{column.name}' has type {column.type}, which the language has not.  {hint}"
                )
            columns[column.name] = dtype
        return columns

    @cached_property
    def footers(self) -> Any:
        """The reader of footers; a module of its own, so that a declared schema loads no Parquet library."""
        from gpuetl.io.footers import Footers

        return Footers()

    @cached_property
    def row_groups(self) -> tuple[RowGroup, ...]:
        """All pieces of all files, in order."""
        if self.format == "csv":
            return tuple(RowGroup(f, 0, -1, {"": f.path.stat().st_size}, self.partition_ranges(f)) for f in self.files)
        return tuple(group for f in self.files for group in self.footers.row_groups(f, self.partition_ranges(f)))

    def partition_ranges(self, file: DataFile) -> dict[str, tuple[Any, Any, int]]:
        """Return the partition columns of a file as ranges of one value."""
        values = {name: self.partition_value(file, name) for name in self.partitions}
        return {name: (value, value, int(value is None)) for name, value in values.items()}

    def partition_value(self, file: DataFile, name: str) -> Any:
        """Return a partition column's value in its declared type.

        Raises
        ------
        DatasetError
            Where the text in the path is no value of the type.
        """
        text, dtype = file.partition[name], self.partitions[name]
        try:
            return None if text is None else pa.scalar(text).cast(dtype).as_py()
        except pa.ArrowInvalid:
            raise DatasetError(f"{file.path}: '{name}={text}' is not a {type_name(dtype)}") from None
