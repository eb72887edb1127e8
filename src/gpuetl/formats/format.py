"""What gpuetl asks of a file format: how files are found, described, checked, located for people, read and written.

A format is one class that derives from `Format`, in a module here, and one line in `registry.py`.  An engine reads and
writes it through Arrow, unless the engine has a reader or a writer of its own for the class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import pyarrow as pa

from gpuetl.errors import have_hint
from gpuetl.format_options import NO_OPTIONS, FormatOptions
from gpuetl.formats.file_columns import case_hint, check_columns, check_widens
from gpuetl.io.data_file import ColumnValues, DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError, FileState
from gpuetl.types.data_types import DataType, is_opaque
from gpuetl.types.nested_types import type_parts

if TYPE_CHECKING:
    from pathlib import Path

    from gpuetl.formats.dataset import Dataset
    from gpuetl.io.staging import FileWriter
    from gpuetl.places.filesystem import OpenFile


class Encoding(NamedTuple):
    """What writing takes: a share of the table, for its encoded form, and buffers, which are no larger than the table.

    `partitioned` is the share more where rows are sorted into folders first.
    """

    share: float
    fixed_bytes: int = 0
    partitioned: float = 0.0


class Piece(NamedTuple):
    """A part of a file that is read as a whole: its rows, -1 where they are not known, and its bytes in the file.

    The bytes are those of each column, or of all columns under the name "".  `extent` is what the format's own reader
    needs to find the piece; it goes to other processes.
    """

    rows: int
    file_bytes: Mapping[str, int]
    extent: object = None


class Inference(NamedTuple):
    """The types of a source's columns, by so many rows of one file."""

    types: Mapping[str, DataType]
    rows: int
    file: str


class Format(ABC):
    """A file format.  It has no state: what is read of a source's files is kept by `Dataset.metadata`.

    Attributes
    ----------
    name
        The key in pipeline files.
    title
        What messages call it.
    suffixes
        How names of files end that are read of a folder.  The first is that of files that a sink writes.
    read_options, write_options
        The classes whose fields are the options of a source and of a sink.
    states_types
        Whether files state the types of their columns.  If not, a source needs a schema.
    infers_columns
        Whether the columns of a source without a schema are those of a file's first rows.
    holds_lists
        Whether a column can have lists.
    writes
        Whether a sink can have the format: then `write` and `columns_of` are there.
    in_memory
        Whether the rows are in memory instead of in files.
    keeps_plans
        Whether `planned_state` tells in which state of a file it was planned, so that the plan can serve again.
    reads_fields
        Whether the engines read only some fields of structs, those of `Read.fields`.
    encoding
        The memory that Arrow takes to write it.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    read_options: ClassVar[type[FormatOptions]] = FormatOptions
    write_options: ClassVar[type[FormatOptions]] = FormatOptions
    states_types: ClassVar[bool] = True
    infers_columns: ClassVar[bool] = False
    holds_lists: ClassVar[bool] = True
    writes: ClassVar[bool] = True
    in_memory: ClassVar[bool] = False
    keeps_plans: ClassVar[bool] = False
    reads_fields: ClassVar[bool] = False
    encoding: ClassVar[Encoding] = Encoding(1.0, 0, 1.1)

    # Described: columns, row groups, values.

    @abstractmethod
    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the columns of a file with their stored types, as Arrow reads them.

        Raises
        ------
        DatasetError
            For a file that cannot be read.
        """

    @abstractmethod
    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the parts of a file, in order.

        Raises
        ------
        DatasetError
            For a file that cannot be read.
        """

    def infer(self, dataset: Dataset) -> Inference:
        """Return the types of the columns of a source whose files do not state them, by its first rows.

        Raises
        ------
        DatasetError
            For a file that cannot be read, and for a source without files.
        """
        raise NotImplementedError(f"{self.title} files state their types")

    def type_hints(self, dataset: Dataset, types: Mapping[str, DataType]) -> Mapping[str, str]:
        """Return hints on columns whose inferred type is not that of most of their values; for `gpuetl schema`."""
        return {}

    def inferred_from(self, dataset: Dataset) -> str:
        """Return by what the types of a source without a schema were inferred; nothing where files state them."""
        return ""

    def detected(self, file: DataFile) -> FormatOptions:
        """Return options of `read_options` that a file seems to have been written with."""
        return self.read_options()

    def metadata(self) -> object:
        """Return what keeps the metadata of a source's files, for `Dataset.metadata`."""
        return None

    def row_groups(self, dataset: Dataset) -> tuple[RowGroup, ...]:
        """Return the parts of all files, whose columns are checked, with what is known of their values.

        Raises
        ------
        DatasetError
            For a file that cannot be read, and for one whose columns do not fit to the source's.
        """
        groups = list[RowGroup]()
        for file in dataset.files:
            check_columns(dataset, file)
        for file in dataset.files:
            ranges = dataset.partition_ranges(file)
            pieces = enumerate(self.pieces(dataset, file))
            groups += (
                RowGroup(file, index, piece.rows, piece.file_bytes, ranges, piece.extent) for index, piece in pieces
            )
        return tuple(groups)

    def column_values(self, dataset: Dataset, name: str) -> ColumnValues | None:
        """Return what metadata tells of a column of strings or lists, None where it tells nothing."""
        return None

    def planned_state(self, dataset: Dataset, file: DataFile) -> FileState | None:
        """Return the state of a file in which its metadata was read, None where it is not known."""
        return None

    # Checked.

    def option_problems(self, options: FormatOptions, types: Mapping[str, DataType]) -> Iterable[tuple[str, str]]:
        """Return what does not go together among a source's options, and with its columns, each with a hint."""
        return ()

    def holds(self, dtype: DataType) -> bool:
        """Tell whether a file that is written can have a column of a type; none has those that only pass."""
        return not any(map(is_opaque, type_parts(dtype)))

    def other_name(self, dataset: Dataset, name: str) -> bytes | None:
        """Return the bytes of a column's name if they are not UTF-8; `name` is what stands for them."""
        return None

    def check_column(self, dataset: Dataset, file: DataFile, name: str, stored: DataType, planned: DataType) -> None:
        """Refuse a column whose stored type does not widen to the planned one.

        Raises
        ------
        DatasetError
            With the file, the column, and both types.
        """
        check_widens(file, name, stored, planned)

    def missing_column(self, dataset: Dataset, file: DataFile, name: str) -> DatasetError:
        """Word a file that lacks a column; where it has the column by another name, to read null would lose it."""
        of = "the source's schema" if dataset.declared else str(dataset.all_files[0].path)
        stored = self.stored(dataset, file)
        advice = case_hint(name, stored)
        hint = have_hint(name, stored, advice) + ("" if advice else "  Set missing_columns: null to read null there.")
        return DatasetError(coded("GE1404", f"{file.path} has no column '{name}', and {of} does"), hint)

    # Located for people.

    def row_name(self, dataset: Dataset, group: RowGroup, row: int) -> str:
        """Name a row of a row group, counted from 1, by its file and its number there."""
        before = [g for g in dataset.row_groups if g.file.path == group.file.path and g.index < group.index]
        return f"Row {sum(g.rows for g in before) + row} of {group.file.path}"

    # Read and written by Arrow, on the CPU.

    def read(self, dataset: Dataset, file: DataFile, pieces: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Read those of the columns that a file has of some of its pieces, in the types in which they are stored.

        A format whose values depend on the types that a source declares has a reader in the pandas engine instead.

        Raises
        ------
        DatasetError
            For a file that is not as it was planned.
        pyarrow.ArrowException, OSError
            For a file that cannot be read.
        """
        raise NotImplementedError(f"{self.title} files are read by an engine")

    def read_files(
        self, dataset: Dataset, files: Sequence[tuple[DataFile, Sequence[int]]], columns: Sequence[str]
    ) -> Iterator[pa.Table]:
        """Yield what `read` returns for each file and its pieces, in order; a format may read files ahead."""
        return (self.read(dataset, file, pieces, columns) for file, pieces in files)

    def write(self, table: pa.Table, path: Path, options: FormatOptions = NO_OPTIONS) -> None:
        """Write one file; `options` are those of `write_options`."""
        raise NotImplementedError(f"{self.title} files are not written")

    def sink_problems(self, options: FormatOptions, columns: Mapping[str, DataType]) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with a sink's options for the columns of its files, each with the next step."""
        yield from ()

    def sink_suffix(self, path: str, options: FormatOptions) -> str:
        """Return how names of a sink's files end, for a sink at a path with options of `write_options`."""
        return self.suffixes[0]

    def writer(self, options: FormatOptions) -> FileWriter:
        """Return what writes a sink's files."""
        from gpuetl.io.staging import FileWriter  # a plan writes nothing

        return FileWriter(partial(self.write, options=options), takes_arrow=True)

    def columns_of(self, file: OpenFile) -> list[str]:
        """Return a written file's columns, equal for files that readers take for the same table.

        Raises
        ------
        OSError, ValueError, pyarrow.ArrowException
            For a file that cannot be read.
        """
        raise NotImplementedError(f"{self.title} files are not written")
