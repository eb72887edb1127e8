"""The columns of a source's files against those that the source reads: what a file lacks, and what it has besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from gpuetl.errors import first_line
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.types.data_types import (
    TIMESTAMP,
    TIMESTAMP_NS,
    DataType,
    common_type,
    is_floating,
    language_type,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import children_of, field_names, is_list, is_map, is_struct

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

ADD_OR_IGNORE = "Set extra_columns: add to read it, with null for files that lack it, or extra_columns: ignore."


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
    if is_read_as(stored, planned):
        return
    read = language_type(stored)
    loses = read is not None and is_decimal(read) and is_floating(planned)
    if read is None or loses or common_type(read, planned) != planned:
        raise DatasetError(
            coded(
                "GE1406",
                f"{file.path}: column '{name}' is {type_name(stored)}, and the source says {type_name(planned)}",
            )
        )


def loses_values(file: DataFile, name: str, error: Exception) -> DatasetError:
    """Word a column with a value that its type of the language does not hold."""
    reported = first_line(error)
    hint = f"Declare '{name}' with the type timestamp_ns in the source's schema." if "timestamp[ns]" in reported else ""
    return DatasetError(coded("GE1406", f"{file.path}: column '{name}': {reported}"), hint)


def is_read_as(stored: DataType, planned: DataType) -> bool:
    """Return whether a stored type is read as the planned one: its own of the language, or with nanoseconds kept."""
    kinds = next((holds for holds in (is_struct, is_list, is_map) if holds(planned)), None)
    if kinds is None or not kinds(stored):
        return bool(language_type(stored) == (TIMESTAMP if planned == TIMESTAMP_NS else planned))
    ours, theirs = children_of(planned), children_of(stored)
    if len(ours) != len(theirs) or (is_struct(planned) and field_names(planned) != field_names(stored)):
        return False
    return all(is_read_as(*pair) for pair in zip(theirs, ours, strict=True))


def with_extra_columns(dataset: Dataset, columns: Mapping[str, DataType]) -> dict[str, DataType]:
    """Return the columns, and those of all files that are not among them, in order of first appearance.

    A type that the source declares stays; others widen where files differ.

    Raises
    ------
    DatasetError
        Where two files have types that do not widen to one, with both files, or a type that gpuetl does not support.
    """
    found, first = dict(columns), dict.fromkeys(columns, dataset.all_files[0] if dataset.all_files else None)
    for file in dataset.all_files:
        for name, stored in dataset.stored(file).items():
            if name in dataset.declared or name in dataset.partitions or found.get(name) == stored:
                continue
            if name in dataset.excluded:
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
    stored = dataset.stored(file)
    refuse_filename(dataset, file, stored)
    for name, planned in dataset.own_schema.items():
        if name in stored:
            dataset.file_format.check_column(dataset, file, name, stored[name], planned)
        elif not dataset.fills:
            raise dataset.file_format.missing_column(dataset, file, name)
    if dataset.refuses_extra:
        known = dataset.declared or dataset.stored(dataset.all_files[0])
        for name in stored:
            if name not in known and name not in dataset.partitions and name not in dataset.excluded:
                of = "the source's schema" if dataset.declared else str(dataset.all_files[0].path)
                raise DatasetError(
                    coded("GE1405", f"{file.path} has column '{name}', and {of} does not"), ADD_OR_IGNORE
                )


def refuse_filename(dataset: Dataset, file: DataFile, stored: Mapping[str, DataType]) -> None:
    """Refuse a file that has a column of the name under which the source gives its path.

    Raises
    ------
    DatasetError
        With the file.
    """
    if dataset.filename and dataset.filename in stored:
        message = f"{file.path} has a column '{dataset.filename}', which is also the name of the column of paths"
        raise DatasetError(coded("GE1412", message), "Choose another name for filename.")


def case_hint(name: str, names: Iterable[str]) -> str:
    """Return the name that differs in its case alone, if there is one."""
    near = next((other for other in names if other.casefold() == name.casefold()), None)
    return f"Did you mean '{near}'?  Upper and lower case differ." if near else ""


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
