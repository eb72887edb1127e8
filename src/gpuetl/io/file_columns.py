"""The columns of a source's files against those that the source reads: what a file lacks, and what it has besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from gpuetl.errors import have_hint
from gpuetl.expressions.decimals import is_decimal
from gpuetl.expressions.types import STRING, DataType, common_type, is_floating, type_name
from gpuetl.io.csv_header import case_hint, delimiter_hint, missing_hint
from gpuetl.io.dataset import DataFile, Dataset, DatasetError, check_widens
from gpuetl.messages import coded

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
