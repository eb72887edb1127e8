"""The files of a source: which there are, what columns they have, and whether these fit what is declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Literal
from urllib.parse import unquote

import pyarrow as pa

from gpuetl.errors import have_hint
from gpuetl.format_options import NO_OPTIONS, FormatOptions
from gpuetl.formats.file_columns import refuse_filename, with_extra_columns
from gpuetl.formats.format import Format
from gpuetl.formats.registry import format_named
from gpuetl.io.data_file import NULL_PARTITION, ColumnValues, DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import Listing
from gpuetl.places.paths import FilePath, check_sandbox
from gpuetl.places.registry import filesystem_of
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox
from gpuetl.types.data_types import DataType, language_type, type_name
from gpuetl.types.schema import Schema

# What a source holds, before any row is read: its files, their schema, their row groups and statistics.


ExtraColumns = Literal["", "error", "ignore", "add"]
MissingColumns = Literal["error", "null"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """The files of a source, looked at as late as can be and once.

    Parameters
    ----------
    format
        The name of the files' format in `registry.py`.
    path
        A file, a glob, or a folder, whose files of the format are taken at any depth.
    declared
        The columns that the pipeline states, or none: then they come from the first file's footer.
    partitions
        The types of the columns that stand in the path as `name=value` (hive).
    wanted
        The columns that the pipeline names of a footer's, or none: then all must have types of the language.
    extra_columns
        What becomes of a file's columns that the others, or the schema, do not have.  By default an error, unless the
        pipeline states a schema or the columns that it reads.
    missing_columns
        What becomes of a column that a file lacks.
    excluded
        Columns that are not read, whatever their type.
    filename
        The column of `partitions` whose value is the path of the file, or none.
    options
        Those that the format declares: an object of its `read_options`, or `NO_OPTIONS` for its defaults.
    inferred_rows
        The rows by which the declared columns were inferred; 0 where the pipeline states them.
    whole_file_bytes
        The engine finds the records of text files of up to this size by itself, so planning does not look at them.
    chosen
        The files that are read, where they are not all that the path names.  The schema is that of all of them.
    """

    name: str
    format: str
    path: FilePath
    declared: Mapping[str, DataType] = field(default_factory=dict)
    partitions: Mapping[str, DataType] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()
    extra_columns: ExtraColumns = ""
    missing_columns: MissingColumns = "error"
    options: FormatOptions = NO_OPTIONS
    inferred_rows: int = 0
    excluded: frozenset[str] = frozenset()
    filename: str = ""
    whole_file_bytes: int = 0
    chosen: tuple[DataFile, ...] | None = None

    def with_whole_files(self, most_bytes: int) -> Dataset:
        """Return this source with text files of up to `most_bytes` as one piece; what is known of the files is kept."""
        other = replace(self, whole_file_bytes=most_bytes)
        self._hand_over(other)
        return other

    def with_files(self, files: tuple[DataFile, ...]) -> Dataset:
        """Return this source with some of its files; what is known of all of them is kept, and so is the schema."""
        other = replace(self, chosen=files)
        _ = self.schema  # that of all files, also where none is left
        self._hand_over(other)
        return other

    def with_row_groups(self, groups: tuple[RowGroup, ...]) -> Dataset:
        """Return this source with some of its row groups, for one look at their values in this process."""
        other = replace(self)
        self._hand_over(other)
        vars(other)["row_groups"] = groups
        return other

    def _hand_over(self, other: Dataset) -> None:
        kept = ("all_files", "listing", "schema", "metadata")
        vars(other).update({name: value for name, value in vars(self).items() if name in kept})

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How names of files end that are read of a folder."""
        return self.file_format.suffixes

    @property
    def fills(self) -> bool:
        """Whether a column that a file lacks is null there."""
        return self.missing_columns == "null" or self.extra_columns == "add"

    @property
    def refuses_extra(self) -> bool:
        """Whether a column that only some files have is an error."""
        return self.extra_columns == "error" or not (
            self.extra_columns or (self.declared and not self.inferred_rows) or self.wanted
        )

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process without files and footers, whose statistics have served here."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "chosen"}
        return {**fields, "schema": self.schema, "chosen": None}

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        """The files that are read, in the order of their paths; raise `DatasetError` as `all_files` does."""
        return self.all_files if self.chosen is None else self.chosen

    @cached_property
    def all_files(self) -> tuple[DataFile, ...]:
        """The files that the path names, in the order of their paths.

        Raises
        ------
        DatasetError
            Where there is none, or one whose path lacks a partition column.  A folder without files has zero rows,
            where the pipeline states the columns.
        """
        listed = self.listing.files
        if not listed and not (self.declared and self.listing.is_folder):
            raise self._no_files()
        return tuple(DataFile(path, self._partition_values(path), state) for path, state in listed)

    @cached_property
    def listing(self) -> Listing:
        """What the path names, found by one walk.

        Raises
        ------
        DatasetError
            For a folder that cannot be listed, and for what is no file.
        """
        listing = filesystem_of(self.path).list_files(self.path, self.suffixes)
        try:
            check_sandbox(path for path, _ in listing.files)
        except OutsideSandbox as error:
            raise DatasetError(str(error)) from None
        return listing

    def _no_files(self) -> DatasetError:
        listing, hint = self.listing, "Check the path; relative ones start at the pipeline's folder."
        suffix = plain_suffixes(self.suffixes)
        message = f"{self.path} {'matches no file' if listing.is_glob else 'does not exist'}"
        if listing.folders:
            message = f"{self.path} matches no file, but the folder {listing.folders[0]}"
            hint = f"A glob reads the files that it matches: write {self.path}/*{self.suffixes[0]}, or name the folder."
        elif listing.is_folder:
            folder = "is a folder that" if self.path.name.endswith(self.suffixes) else ""
            message = " ".join(filter(None, (str(self.path), folder, f"holds no {suffix} file")))
        return DatasetError(coded("GE1401", message), hint)

    def _partition_values(self, path: FilePath) -> dict[str, str | None]:
        if not self.partitions:
            return {}
        written = folder_values(path)
        names = [name for name in self.partitions if name != self.filename]
        missing = [name for name in names if name not in written]
        if missing:
            raise DatasetError(
                coded("GE1408", f"{path} has no '{missing[0]}=…' folder"),
                have_hint(missing[0], written, noun="Folders of the path"),
            )
        values = {name: None if written[name] == NULL_PARTITION else unquote(written[name]) for name in names}
        return {name: str(path) if name == self.filename else values[name] for name in self.partitions}

    @cached_property
    def schema(self) -> Schema:
        """The columns, partition columns last.

        Raises
        ------
        DatasetError
            Where a footer cannot be read, or has a column whose type the language has not.
        """
        columns = dict(self.declared) or self._stored_schema()
        if self.extra_columns == "add":
            columns = with_extra_columns(self, columns)
        columns = {**{n: t for n, t in columns.items() if n not in self.partitions}, **self.partitions}
        return Schema({name: dtype for name, dtype in columns.items() if name not in self.excluded})

    @property
    def own_schema(self) -> dict[str, DataType]:
        """The columns that stand in the files, not in their paths."""
        return {name: dtype for name, dtype in self.schema.items() if name not in self.partitions}

    def _stored_schema(self) -> dict[str, DataType]:
        stored = self.stored(self.all_files[0])
        refuse_filename(self, self.all_files[0], stored)
        columns = {name: self.supported_type(name, dtype) for name, dtype in stored.items()}
        return {name: dtype for name, dtype in columns.items() if dtype is not None}

    def supported_type(self, name: str, stored: DataType) -> DataType | None:
        """Return the type in which a stored column is read; None for one without, which the pipeline does not name.

        Raises
        ------
        DatasetError
            For one without that is to be read.
        """
        wanted = (not self.wanted or name in self.wanted) and name not in self.excluded
        other = self.file_format.other_name(self, name)
        if other is not None:
            if not wanted:
                return None
            shown = other.decode(errors="backslashreplace")
            hint = "Rename it where the file is made, or name the columns to read in the source's columns."
            raise DatasetError(coded("GE1441", f"the name of column '{shown}' is not UTF-8"), hint)
        dtype = language_type(stored)
        if dtype is None and wanted:
            shown = stored.type_name if isinstance(stored, pa.OpaqueType) else stored
            hint = "Leave it out: name the columns to read in the source's columns, or in its schema."
            raise DatasetError(
                coded("GE1407", f"column '{name}' has type {shown}, which gpuetl does not support"), hint
            )
        return dtype

    @property
    def file_format(self) -> Format:
        """The format of the files."""
        return format_named(self.format)

    @cached_property
    def metadata(self) -> object:
        """The metadata of the files that was read, of the format's own kind.  A declared schema needs none."""
        return self.file_format.metadata()

    def stored(self, file: DataFile) -> Mapping[str, DataType]:
        """Return the columns of a file with their stored types; those of text files are strings."""
        return self.file_format.stored(self, file)

    @cached_property
    def row_groups(self) -> tuple[RowGroup, ...]:
        """All pieces of all files, in order.

        Raises
        ------
        DatasetError
            Where a file lacks a column, has it in a type that does not widen to the source's, or has one too many.
        """
        return self.file_format.row_groups(self)

    def column_values(self, name: str) -> ColumnValues | None:
        """Return what is told of a column of texts or lists; None where nothing is, as of partition columns."""
        return self.file_format.column_values(self, name)

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
        except (ValueError, OverflowError):  # of Arrow, or a date in a year that Python does not have
            hint = f"Declare '{name}' of another type in the source's partitions."
            raise DatasetError(
                coded("GE1408", f"{file.path}: '{name}={text}' is not of type {type_name(dtype)}"), hint
            ) from None


def plain_suffixes(suffixes: Sequence[str]) -> str:
    """Word how names of files end; those that only add a compression go without saying."""
    plain = [one for one in suffixes if not any(one.startswith(f"{other}.") for other in suffixes)]
    return " or ".join(plain)


def folder_values(path: FilePath) -> dict[str, str]:
    """Return the columns that the folders of a file name as `name=value`, with their values as written."""
    pairs = (part.split("=", 1) for part in path.parts[:-1] if "=" in part)
    return {unquote(name): value for name, value in pairs}
