"""Parquet files read by libcudf, or by Arrow where libcudf reads them otherwise; strings and times are checked."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from gpuetl import messages
from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.codegen.evaluate import row_and_reason
from gpuetl.engines.cudf.columns.concat import concat
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.kernel_arguments import integer_name, string_arguments
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.columns.vector import Vector, has_bytes
from gpuetl.engines.cudf.io.host_columns import chunks_of, host_columns, verify_checksums
from gpuetl.engines.cudf.machine import Machine
from gpuetl.errors import Problem, RunFailed
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.file_columns import check_widens, is_read_as, loses_values
from gpuetl.formats.nested_arrays import in_type
from gpuetl.formats.parquet import footers_of
from gpuetl.formats.parquet_options import parquet_options
from gpuetl.formats.parquet_pages import BadPages
from gpuetl.formats.parquet_parts import chunks_here
from gpuetl.formats.parquet_rows import read_columns
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.lost_device import is_fault, lose_device
from gpuetl.places.open_file import opened, read_by_path
from gpuetl.places.paths import FilePath
from gpuetl.places.reading_ahead import results_ahead
from gpuetl.places.registry import local_path
from gpuetl.plan.nodes import Read
from gpuetl.telemetry.recorder import note
from gpuetl.types.data_types import NULL, STRING, TIME, TIMESTAMP_NS, DataType, is_opaque, language_type, type_name
from gpuetl.types.nested_types import children_of, is_list, is_map, is_nested, is_struct, leaf_paths, narrowed_type

# Times of files that count other units than microseconds: converted exactly, or refused with their row.


CONVERTED = {"s": ("longer", 1_000_000), "ms": ("longer", 1_000), "ns": ("shorter", 1_000)}
"""Whether a unit is longer or shorter than microseconds, and how many are one."""


def counts_units(dtype: DataType) -> bool:
    """Tell whether a type is a timestamp or a duration, in whatever unit."""
    return bool(pa.types.is_timestamp(dtype) or pa.types.is_duration(dtype))


def type_as_read(stored: DataType) -> DataType:
    """Return the type in which a machine reads a stored one: the language's, but that times keep their unit."""
    if is_list(stored):
        return pa.list_(type_as_read(stored.value_type))
    if is_map(stored):
        return pa.map_(*map(type_as_read, children_of(stored)))
    if is_struct(stored):
        return pa.struct([(field.name, type_as_read(field.type)) for field in stored])
    return stored if counts_units(stored) else language_type(stored) or stored


def type_reason(stored: DataType, planned: DataType) -> str:
    """Return why Arrow reads columns of a type, empty where libcudf does."""
    if is_nested(stored) and is_nested(planned):
        has_parts = bool(children_of(stored)) and len(children_of(stored)) == len(children_of(planned))
        parts = zip(children_of(stored), children_of(planned), strict=True) if has_parts else ()
        reasons = [reason for own, wanted in parts if (reason := type_reason(own, wanted))]
        is_read = has_parts and not reasons and not (NULL in children_of(stored) and not is_list(stored))
        return "" if is_read else f"it has type {type_name(planned)}"
    dtype = language_type(stored)
    others = pa.types.is_float16(stored) or pa.types.is_run_end_encoded(stored)
    if planned == TIMESTAMP_NS or dtype == TIME or others:
        return f"it has type {type_name(planned)}"
    if dtype is None or is_nested(dtype) or is_opaque(dtype) or (has_bytes(dtype) and dtype != STRING):
        return f"it has type {type_name(planned)}"
    return ""


def as_copied(column: pa.ChunkedArray, planned: DataType) -> pa.ChunkedArray:
    """Return a column that Arrow has read in the type in which it is copied to the device.

    Raises
    ------
    pyarrow.ArrowInvalid
        For a value that the type does not hold.
    """
    if not type_reason(column.type, planned) and not is_nested(column.type):
        return column.cast(type_as_read(column.type))
    return in_type(column, planned if is_read_as(column.type, planned) else language_type(column.type) or column.type)


def in_microseconds(vector: Vector, name: str, machine: Machine) -> Vector:
    """Return times, or lists of them, in microseconds; any other column as it is.  16 bytes a row, and one wait.

    Raises
    ------
    ValueError
        With the first row whose time is no whole number of microseconds that int64 holds.
    """
    if vector.elements is not None:
        elements = in_microseconds(vector.elements, name, machine)
        inner = elements.dtype
        dtype = pa.map_(*children_of(inner)) if is_map(vector.dtype) else pa.list_(inner)
        return replace(vector, dtype=dtype, elements=elements)
    if vector.fields:
        fields = tuple([in_microseconds(field, name, machine) for field in vector.fields])
        types = [(own.name, field.dtype) for own, field in zip(vector.dtype, fields, strict=True)]
        return replace(vector, dtype=pa.struct(types), fields=fields)
    if not counts_units(vector.dtype) or vector.dtype.unit == "us":
        return vector
    unit = vector.dtype.unit
    than, factor = CONVERTED[unit]
    micros, fault = machine.arrays.empty(vector.rows, "int64"), machine.arrays.zeros(1, "uint64")
    arguments = [vector.rows, factor, micros, fault, vector.data, 0 if vector.valid is None else vector.valid]
    machine.launch(machine.closed("numbers"), f"convert_{than}", vector.rows, arguments)
    micro_type = language_type(vector.dtype)
    assert micro_type is not None
    if found := int(fault[0]):
        row, _ = row_and_reason(found)
        value = f"{int(vector.data[row])} {unit}"
        raise ValueError(f"column '{name}' in row {row}: {type_name(micro_type)} does not hold {value} in microseconds")
    return replace(vector, dtype=micro_type, data=micros)


# Texts of files are checked: readers take any bytes, and everything that follows trusts them to be UTF-8.


def refuse_other_bytes(columns: Mapping[str, Vector], machine: Machine) -> None:
    """Raise `ValueError` for the first column with a text that is not UTF-8, also in lists; the host waits once."""
    parts = [(name, texts) for name, vector in columns.items() for texts in texts_of(vector)]
    found = first_other_bytes([texts for _, texts in parts], machine)
    for (name, _), row in zip(parts, found, strict=True):
        if row is not None:
            raise ValueError(f"column '{name}' is not UTF-8 in row {row}")


def texts_of(vector: Vector) -> Iterator[Vector]:
    """Yield the texts of a column, those of its elements and fields first."""
    for inner in (vector.elements, *vector.fields):
        if inner is not None:
            yield from texts_of(inner)
    if vector.dtype == STRING:
        yield vector


def first_other_bytes(columns: Sequence[Vector], machine: Machine) -> list[int | None]:
    """Return of each column of texts without a dictionary the first row that is not UTF-8, if there is one.

    The host waits once.
    """
    if not any(texts.rows for texts in columns):
        return [None] * len(columns)
    states = machine.arrays.zeros(len(columns), "uint64")
    for place, texts in enumerate(columns):
        if texts.rows:
            entry = f"find_other_bytes_{integer_name(texts.offsets)}"
            machine.launch(
                machine.closed("strings"), entry, texts.rows, [texts.rows, states[place:], *string_arguments(texts)]
            )
    return [row_and_reason(found)[0] if found else None for found in states.tolist()]


# Row groups of Parquet files.


BYTES_OF_A_VALUE = 16
"""What a value of a small file takes at most, before compression and on average: long strings are no small file."""
SHOWN_GROUPS = 10
"""Row groups that an error names."""
Piece = tuple[DataFile, Sequence[RowGroup]]
"""Row groups of one file, in order."""


def stored_alike(read: Read, file: DataFile) -> object:
    """Return what is equal for files that can be read together: libcudf wants all columns stored in the same way.

    One type may be stored in several: Arrow writes decimals as bytes, as few as their digits need, and others integers.
    """
    _ = stored_types(read, file)  # names the file that lacks a column
    return footers_of(read.dataset).footer(file).metadata.stored, tuple(file.partition.items())


def stored_types(read: Read, file: DataFile) -> dict[str, DataType]:
    """Return the Arrow types of the wanted columns that a Parquet file has.

    Raises
    ------
    DatasetError
        Where it lacks one, and the source does not allow that.
    """
    stored = footers_of(read.dataset).footer(file).stored
    wanted = [name for name in read.columns if name not in read.dataset.partitions]
    for name in wanted:
        if name not in stored and not read.dataset.fills:
            check_widens(file, name, None, read.schema[name])
    return {name: narrowed_type(stored[name], read.schema[name]) for name in wanted if name in stored}


def read_parquet(
    read: Read, files: Sequence[Piece], names: list[str], machine: Machine
) -> tuple[dict[str, Vector], int]:
    """Read the wanted columns that Parquet files have, in the language's types nearest to the stored ones.

    libcudf reads them.  Arrow reads, on the CPU, those that libcudf reads otherwise than Arrow, small files, and the
    files of a source with `verify_pages`: Arrow checks levels, dictionary codes and sizes, and libcudf does not.

    Raises
    ------
    DatasetError, RunFailed
        With the file that cannot be read, and where it is one of several row groups, with these.
    DatasetError
        For a file that has changed since it was planned: libcudf opens files by their paths.
    """
    with read_by_path(file for file, _ in files), ExitStack() as copies:
        columns = read_unchanged(read, files, copies, machine)
    return columns, sum(group.rows for _, groups in files for group in groups)


def read_unchanged(read: Read, files: Sequence[Piece], copies: ExitStack, machine: Machine) -> dict[str, Vector]:
    """Read files that do not change meanwhile; `copies` holds local copies of those of stores.  See `read_parquet`."""
    types, reasons = stored_types(read, files[0][0]), dict[str, str]()
    sooner = chosen("read_small_on_cpu") and are_small(read.dataset, files, types, machine)
    if types and (parquet_options(read.dataset).verify_pages or sooner):
        return read_on_host(read, files, types, machine)
    paths = paths_here(read.dataset, files, types, copies)
    reasons |= {name: reason for name, stored in types.items() if (reason := type_reason(stored, read.schema[name]))}
    others = [name for name in types if name not in reasons]
    for file, own in files:
        reasons |= host_reasons(read.dataset, file, paths[file.path], [group.index for group in own], others)
    for name, reason in reasons.items():
        note(f"{read.origin}: column '{name}' was read on the CPU: {reason}")
    columns = read_on_device(read, files, paths, {name: types[name] for name in types if name not in reasons}, machine)
    if reasons:
        columns |= read_on_host(read, files, {name: types[name] for name in reasons}, machine)
    return {name: columns[name] for name in types}


def are_small(dataset: Dataset, files: Sequence[Piece], names: Iterable[str], machine: Machine) -> bool:
    """Tell whether Arrow reads columns of row groups sooner than the machine, by how many values they have."""
    names, most = list(names), machine.host_values()
    if sum(group.rows for _, own in files for group in own) * len(names) > most:
        return False
    chunks = [
        chunk
        for file, own in files
        for placed in chunks_of(footers_of(dataset).footer(file), [group.index for group in own], names).values()
        for _, chunk, _ in placed
    ]
    return sum(chunk.uncompressed_bytes for chunk in chunks) <= most * BYTES_OF_A_VALUE


def host_reasons(
    dataset: Dataset, file: DataFile, path: Path, groups: Sequence[int], names: Sequence[str]
) -> dict[str, str]:
    """Return the columns that Arrow has to read, with reasons, and verify the others' checksums if that is wanted."""
    footer = footers_of(dataset).footer(file)
    try:
        reasons = host_columns(path, footer, groups, names)
        if parquet_options(dataset).verify_checksums:
            verify_checksums(path, footer, groups, [name for name in names if name not in reasons])
    except (OSError, BadPages) as error:
        raise unreadable(file, groups, error) from error
    return reasons


def paths_here(
    dataset: Dataset, files: Sequence[Piece], types: Mapping[str, DataType], copies: ExitStack
) -> dict[FilePath, Path]:
    """Return the paths by which libcudf reads columns of files; those of stores are copied at the same time."""
    if all(local_path(file.path) is not None for file, _ in files):
        return {piece[0].path: path_here(dataset, piece, types, copies) for piece in files}

    def copied(piece: Piece) -> tuple[Path, ExitStack]:
        with ExitStack() as own:
            return path_here(dataset, piece, types, own), own.pop_all()

    paths, failed = dict[FilePath, Path](), list[Exception]()
    for (file, _), outcome in zip(files, list(results_ahead(copied, files, lambda _: 0)), strict=True):
        try:
            paths[file.path], own = outcome()
            copies.push(own)
        except Exception as error:
            failed.append(error)
    if failed:
        raise failed[0]
    return paths


def path_here(dataset: Dataset, piece: Piece, types: Mapping[str, DataType], copies: ExitStack) -> Path:
    """Return the path by which libcudf reads columns of a file: of one in a store, of a copy of their chunks."""
    file, groups = piece
    if (path := local_path(file.path)) is not None:
        return path
    footer, opened_file = footers_of(dataset).footer(file), copies.enter_context(opened(file.path, file.state))
    return copies.enter_context(chunks_here(opened_file, footer, [group.index for group in groups], types))


def unreadable(file: DataFile, groups: Sequence[int], error: Exception) -> RunFailed:
    """Word a file that cannot be read, with its row groups."""
    of = f" (row group{'s' * (len(groups) > 1)} {', '.join(map(str, groups[:SHOWN_GROUPS]))})" if any(groups) else ""
    return RunFailed.unreadable(f"{file.path}{of}", error)


def column_paths(types: Mapping[str, DataType], fields: Container[str]) -> list[str]:
    """Return the names of columns, and the paths of fields where only some of a struct are read."""
    return [path for name, dtype in types.items() for path in (leaf_paths(name, dtype) if name in fields else [name])]


def read_on_device(
    read: Read, files: Sequence[Piece], paths: Mapping[FilePath, Path], types: Mapping[str, DataType], machine: Machine
) -> dict[str, Vector]:
    """Let the machine read columns of row groups, and check that texts are UTF-8; see `read_parquet`.

    Arrow reads a file that the machine refuses, so that all engines read, and refuse, the same files.
    """
    if not types:
        return {}
    rows = sum(group.rows for _, own in files for group in own)
    try:
        groups = {paths[file.path]: [group.index for group in own] for file, own in files}
        columns = machine.read_parquet(groups, types, read.fields)
        for name, vector in columns.items():
            check_count(name, vector.rows, rows)
        columns = checked({name: in_microseconds(v, name, machine) for name, v in columns.items()}, machine)
    except MemoryError:  # Arrow's is one of its other errors, too
        raise
    except (OSError, RuntimeError, ValueError, TypeError, LookupError, OverflowError, pa.ArrowException) as error:
        if is_fault(error):
            lose_device()
            raise stopped_by(files) from error
        if len(files) > 1:
            return read_apart(read, files, paths, types, machine)
        columns = read_on_host(read, files, types, machine)
        note(f"{read.origin}: {files[0][0].path} was read on the CPU: libcudf cannot read it")
    return columns


def stopped_by(files: Sequence[Piece]) -> RunFailed:
    """Return the error of files whose pages libcudf decodes beyond its arrays; other files may be read meanwhile."""
    paths = [str(file.path) for file, _ in files]
    which = paths[0] if len(paths) == 1 else f"one of {len(paths)} files, {paths[0]} to {paths[-1]}"
    message = messages.coded("GE1446", f"the GPU stopped while {which} was read: a page is damaged")
    return RunFailed().with_problem(
        Problem(message, "Find the file with verify_pages: true on the source, or with --engine pandas.")
    )


def check_count(name: str, found: int, rows: int) -> None:
    """Raise `ValueError` where a column has other rows than the files' metadata declares."""
    if found != rows:
        raise ValueError(f"column '{name}' has {found:,} rows, and the metadata declares {rows:,}")


def read_apart(
    read: Read, files: Sequence[Piece], paths: Mapping[FilePath, Path], types: Mapping[str, DataType], machine: Machine
) -> dict[str, Vector]:
    """Read files that cannot be read together one by one; raise `RunFailed` for the one that cannot be read at all."""
    frames = [
        Frame(read_on_device(read, [(file, own)], paths, types, machine), sum(group.rows for group in own))
        for file, own in files
    ]
    return dict(concat(frames, {name: vector.dtype for name, vector in frames[0].columns.items()}, machine).columns)


def read_on_host(
    read: Read, files: Sequence[Piece], types: Mapping[str, DataType], machine: Machine
) -> dict[str, Vector]:
    """Let Arrow read columns of row groups, and copy them to the device."""
    tables, dataset, planned = [], read.dataset, read.schema
    verify = parquet_options(dataset).verify_checksums
    for file, own in files:
        groups, footer = [group.index for group in own], footers_of(dataset).footer(file)
        try:
            tables.append(read_columns(file, footer, groups, list(types), verify, read.fields))
        except MemoryError:
            raise
        except (OSError, ValueError, pa.ArrowException) as error:
            raise unreadable(file, groups, error) from error
    try:
        whole = pa.concat_tables(tables)
        stored = {name: whole.column(name) for name in types}
        vectors = {}
        for name, column in stored.items():
            try:
                vectors[name] = from_arrow(as_copied(column, planned[name]), machine)
            except pa.ArrowInvalid as error:
                raise loses_values(files[0][0], name, error) from None
        kept = [name for name in vectors if planned[name] == TIMESTAMP_NS or is_nested(planned[name])]
        whole = {n: v if n in kept else in_microseconds(v, n, machine) for n, v in vectors.items()}
        return checked(whole, machine)
    except (ValueError, pa.ArrowException) as error:
        raise RunFailed.unreadable(str(files[0][0].path), error) from error


def checked(columns: Mapping[str, Vector], machine: Machine) -> dict[str, Vector]:
    """Return columns, texts by numbers where few are distinct; raise `ValueError` where one is not UTF-8.

    Of a dictionary only the distinct texts are looked at, and where one is refused, the rows that have it.
    """
    made = {name: coded(vector, machine) for name, vector in columns.items()}
    try:
        refuse_other_bytes({name: vector.dictionary or vector for name, vector in made.items()}, machine)
    except ValueError:
        refuse_other_bytes(columns, machine)
    return made


def coded(vector: Vector, machine: Machine) -> Vector:
    """Return a column, texts by numbers where few are distinct and that is chosen."""
    return with_dictionary(vector, machine) if chosen("string_codes") else vector
