"""The files of a source: which there are, what columns they have, and whether these fit what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

import pyarrow as pa

from gpuetl.errors import have_hint
from gpuetl.io.csv_header import case_hint, delimiter_hint, missing_hint
from gpuetl.io.data_file import NULL_PARTITION, ColumnValues, DataFile, DatasetError, RowGroup
from gpuetl.messages import coded
from gpuetl.places.filesystem import Listing
from gpuetl.places.paths import FilePath, check_sandbox
from gpuetl.places.registry import filesystem_of
from gpuetl.places.watching import Look
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox
from gpuetl.types.data_types import STRING, DataType, common_type, is_floating, language_type, type_name
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.schema import Schema

if TYPE_CHECKING:
    from gpuetl.io.csv_header import Header


# What a source holds, before any row is read: its files, their schema, their row groups and statistics.


Format = Literal["parquet", "csv"]
ExtraColumns = Literal["", "error", "ignore", "add"]
MissingColumns = Literal["error", "null"]
OnBadRow = Literal["fail", "null", "quarantine"]


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
    wanted
        The columns that the pipeline names of a footer's, or none: then all must have types of the language.
    extra_columns
        What becomes of a file's columns that the others, or the schema, do not have.  By default an error, unless the
        pipeline states a schema or the columns that it reads.
    missing_columns
        What becomes of a column that a file lacks.
    on_bad_row
        What becomes of a CSV file's rows with a value that is not of its type, or with too few or too many fields.
    verify_checksums
        Whether the pages of Parquet files that have a checksum are compared with it.
    verify_pages
        Whether Arrow reads all pages of Parquet files, which checks them, also where another reader would be faster.
    """

    name: str
    format: Format | Literal["memory"]
    path: FilePath
    declared: Mapping[str, DataType] = field(default_factory=dict)
    partitions: Mapping[str, DataType] = field(default_factory=dict)
    nulls: tuple[str, ...] = ("",)
    delimiter: str = ","
    wanted: frozenset[str] = frozenset()
    extra_columns: ExtraColumns = ""
    missing_columns: MissingColumns = "error"
    on_bad_row: OnBadRow = "fail"
    verify_checksums: bool = False
    verify_pages: bool = False

    @property
    def fills(self) -> bool:
        """Whether a column that a file lacks is null there."""
        return self.missing_columns == "null" or self.extra_columns == "add"

    @property
    def refuses_extra(self) -> bool:
        """Whether a column that only some files have is an error."""
        return self.extra_columns == "error" or not (self.extra_columns or self.declared or self.wanted)

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process without files and footers, whose statistics have served here."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "schema": self.schema}

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        """The files, in the order of their paths.

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
        listing = filesystem_of(self.path).list_files(self.path, f".{self.format}")
        try:
            check_sandbox(path for path, _ in listing.files)
        except OutsideSandbox as error:
            raise DatasetError(str(error)) from None
        return listing

    def _no_files(self) -> DatasetError:
        listing, hint = self.listing, "Check the path; relative ones start at the pipeline's folder."
        message = f"{self.path} {'matches no file' if listing.is_glob else 'does not exist'}"
        if listing.folders:
            message = f"{self.path} matches no file, but the folder {listing.folders[0]}"
            hint = f"A glob reads the files that it matches: write {self.path}/*{listing.suffix}, or name the folder."
        elif listing.is_folder:
            folder = "is a folder that" if self.path.suffix == listing.suffix else ""
            message = " ".join(filter(None, (str(self.path), folder, f"holds no {listing.suffix} file")))
        return DatasetError(coded("GE1401", message), hint)

    def _partition_values(self, path: FilePath) -> dict[str, str | None]:
        if not self.partitions:
            return {}
        written = folder_values(path)
        missing = [name for name in self.partitions if name not in written]
        if missing:
            raise DatasetError(
                coded("GE1408", f"{path} has no '{missing[0]}=…' folder"),
                have_hint(missing[0], written, noun="Folders of the path"),
            )
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
        if self.extra_columns == "add":
            columns = with_extra_columns(self, columns)
        return Schema({**{n: t for n, t in columns.items() if n not in self.partitions}, **self.partitions})

    @property
    def own_schema(self) -> dict[str, DataType]:
        """The columns that stand in the files, not in their paths."""
        return {name: dtype for name, dtype in self.schema.items() if name not in self.partitions}

    def _schema_of_footer(self) -> dict[str, DataType]:
        stored = self.footers.footer(self.files[0]).stored
        columns = {name: self.supported_type(name, dtype) for name, dtype in stored.items()}
        return {name: dtype for name, dtype in columns.items() if dtype is not None}

    def supported_type(self, name: str, stored: DataType) -> DataType | None:
        """Return the type in which a stored column is read; None for one without, which the pipeline does not name.

        Raises
        ------
        DatasetError
            For one without that is to be read.
        """
        wanted = not self.wanted or name in self.wanted
        other = self.footers.other_names.get(name) if self.format == "parquet" else None
        if other is not None:
            if not wanted:
                return None
            shown = other.decode(errors="backslashreplace")
            hint = "Rename it where the file is made, or name the columns to read in the source's columns."
            raise DatasetError(coded("GE1441", f"the name of column '{shown}' is not UTF-8"), hint)
        dtype = language_type(stored)
        if dtype is None and wanted:
            hint = "Leave it out: name the columns to read in the source's columns, or in its schema."
            raise DatasetError(
                coded("GE1407", f"column '{name}' has type {stored}, which gpuetl does not support"), hint
            )
        return dtype

    def header(self, file: DataFile) -> Header:
        """Return the header of a CSV file, read once.

        Raises
        ------
        DatasetError
            For a file that is empty, cannot be read, or is not UTF-8 text.
        """
        if file.path not in self._headers:
            from gpuetl.io.csv_header import read_header

            self._headers[file.path] = read_header(file, self.delimiter)
        return self._headers[file.path]

    @cached_property
    def _headers(self) -> dict[FilePath, Header]:
        return {}

    @cached_property
    def footers(self) -> Any:
        """The reader of footers; a module of its own, so that a declared schema loads no Parquet library."""
        from gpuetl.io.footers import Footers

        return Footers()

    @cached_property
    def row_groups(self) -> tuple[RowGroup, ...]:
        """All pieces of all files, in order.

        Raises
        ------
        DatasetError
            Where a file lacks a column, has it in a type that does not widen to the source's, or has one too many.
        """
        if self.format == "csv":
            for file in self.files:
                check_columns(self, file)
            sizes = ((file, file.state.size if file.state else 0) for file in self.files)
            return tuple(RowGroup(file, 0, -1, {"": size}, self.partition_ranges(file)) for file, size in sizes)
        planned, check = self.own_schema, partial(check_columns, self)
        groups, files, look = list[RowGroup](), self.files, Look("metadata of", str(self.path))
        for done, file in enumerate(files):
            look.at(done, len(files))
            groups += self.footers.row_groups(file, planned, self.partition_ranges(file), check)
        look.end(len(files))
        return tuple(groups)

    def column_values(self, name: str) -> ColumnValues | None:
        """Return what is told of a column of texts or lists; None of CSV files, partition columns and no rows."""
        if self.format != "parquet" or name in self.partitions or not self.files:
            return None
        return self.footers.column_values(self.files, name)  # type: ignore[no-any-return]

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


def folder_values(path: FilePath) -> dict[str, str]:
    """Return the columns that the folders of a file name as `name=value`, with their values as written."""
    pairs = (part.split("=", 1) for part in path.parts[:-1] if "=" in part)
    return {unquote(name): value for name, value in pairs}


def check_widens(file: DataFile, name: str, stored: DataType | None, planned: DataType) -> None:
    """Refuse a stored column that is not there, or whose type does not widen to the source's without loss.

    Raises
    ------
    DatasetError
        With the file, the column, and both types.
    """
    if stored is None:
        hint = "Set missing_columns: null to read null there."
        raise DatasetError(coded("GE1404", f"{file.path} has no column '{name}', which the source reads"), hint)
    read = language_type(stored)
    loses = read is not None and is_decimal(read) and is_floating(planned)
    if read is None or loses or common_type(read, planned) != planned:
        raise DatasetError(
            coded(
                "GE1406",
                f"{file.path}: column '{name}' is {type_name(stored)}, and the source says {type_name(planned)}",
            )
        )


# The columns of a source's files against those that the source reads: what a file lacks, and what it has besides.


ADD_OR_IGNORE = "Set extra_columns: add to read it, with null for files that lack it, or extra_columns: ignore."


def stored_columns(dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
    """Return the columns of a file with their stored types; those of a CSV file are strings."""
    if dataset.format == "csv":
        return dict.fromkeys(dataset.header(file).names, STRING)
    found: Mapping[str, DataType] = dataset.footers.footer(file).stored
    return found


def with_extra_columns(dataset: Dataset, columns: Mapping[str, DataType]) -> dict[str, DataType]:
    """Return the columns, and those of all files that are not among them, in order of first appearance.

    A type that the source declares stays; others widen where files differ.

    Raises
    ------
    DatasetError
        Where two files have types that do not widen to one, with both files, or a type that gpuetl does not support.
    """
    found, first = dict(columns), dict.fromkeys(columns, dataset.files[0] if dataset.files else None)
    for file in dataset.files:
        for name, stored in stored_columns(dataset, file).items():
            if name in dataset.declared or name in dataset.partitions or found.get(name) == stored:
                continue
            if not name:
                raise DatasetError(
                    coded("GE1414", f"{file.path}: a column of the header has no name"), "Name it, or take it out."
                )
            dtype = dataset.supported_type(name, stored)
            if dtype is None:
                continue
            if name not in found:
                found[name], first[name] = dtype, file
                continue
            both = widened(found[name], dtype)
            if both is None:
                one, other = first[name], f"{type_name(dtype)} in {file.path}"
                message = coded(
                    "GE1406", f"column '{name}' is {type_name(found[name])} in {one.path if one else '?'}, and {other}"
                )
                raise DatasetError(message, "No type holds both: declare the source's schema, or change one file.")
            found[name] = both
    return found


def widened(left: DataType, right: DataType) -> DataType | None:
    """Return the type that columns of both types widen to without loss, or None."""
    both = common_type(left, right)
    loses = both is not None and is_floating(both) and (is_decimal(left) or is_decimal(right))
    return None if loses else both


def check_columns(dataset: Dataset, file: DataFile) -> None:
    """Refuse a file that lacks a column, has one in another type, or has one more, unless the source allows that.

    Raises
    ------
    DatasetError
        With the file, the column, and the next step.
    """
    stored = stored_columns(dataset, file)
    for name, planned in dataset.own_schema.items():
        if name in stored:
            check_one(dataset, file, name, stored[name], planned)
        elif not dataset.fills:
            raise missing_column(dataset, file, name)
    if dataset.refuses_extra:
        known = dataset.declared or stored_columns(dataset, dataset.files[0])
        for name in stored:
            if name not in known and name not in dataset.partitions:
                of = "the source's schema" if dataset.declared else str(dataset.files[0].path)
                raise DatasetError(
                    coded("GE1405", f"{file.path} has column '{name}', and {of} does not"), ADD_OR_IGNORE
                )


def check_one(dataset: Dataset, file: DataFile, name: str, stored: DataType, planned: DataType) -> None:
    """Refuse a Parquet column whose type does not widen, and a CSV column whose name stands twice in the header."""
    if dataset.format == "parquet":
        check_widens(file, name, stored, planned)
    elif dataset.header(file).names.count(name) > 1:
        raise DatasetError(coded("GE1412", f"{file.path}: two columns are named '{name}'"), "Rename one in the header.")


def missing_column(dataset: Dataset, file: DataFile, name: str) -> DatasetError:
    """Word a file that lacks a column; where it has the column by another name, to read null would lose it."""
    fill = "Set missing_columns: null to read null there."
    if dataset.format == "csv":
        names = dataset.header(file).names
        fill = "" if delimiter_hint(names) or case_hint(name, names) else fill
        near = missing_hint(name, names)
        return DatasetError(coded("GE1404", f"{file.path}: there is no column '{name}'.  {near}"), fill)
    of = "the source's schema" if dataset.declared else str(dataset.files[0].path)
    stored = stored_columns(dataset, file)
    advice = case_hint(name, stored)
    hint = have_hint(name, stored, advice) + ("" if advice else f"  {fill}")
    return DatasetError(coded("GE1404", f"{file.path} has no column '{name}', and {of} does"), hint)


def disagreements(dataset: Dataset, most: int) -> Iterator[DatasetError]:
    """Yield what is wrong with the files of a source, one error a file, up to `most`.

    Raises
    ------
    DatasetError
        Where there are no files.
    """
    yield from islice(_each(dataset), most)


def _each(dataset: Dataset) -> Iterator[DatasetError]:
    for file in dataset.files:
        try:
            check_columns(dataset, file)
            dataset.partition_ranges(file)
        except DatasetError as error:
            yield error
