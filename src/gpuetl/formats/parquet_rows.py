"""Parquet by Arrow: columns of row groups chosen by place, INT96 times exactly, and tables written to files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl.formats.footers import Footer
from gpuetl.formats.nested_arrays import child_arrays, rebuilt, with_leaves
from gpuetl.formats.parquet_footer import INT96, footer_bytes, renamed
from gpuetl.formats.parquet_options import PARQUET_DEFAULTS, ParquetWriteOptions
from gpuetl.formats.parquet_parts import NO_FIELDS, FileChunks, leaf_places, parts_of_chunks, sources_of
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.types.data_types import UUID, DataType
from gpuetl.types.nested_types import children_of, field_names, is_map, is_nested, is_struct, type_parts

NANOSECONDS = 1_000_000
"""In a millisecond."""
FEW_VALUES = 1 << 16
"""Values that one thread decodes before another one has begun to help it."""
MOST_MILLISECONDS = (1 << 63) // 1000 - 1
"""Of either sign: more do not fit into an int64 of microseconds."""


def read_columns(
    file: DataFile,
    footer: Footer,
    groups: Sequence[int],
    names: Sequence[str],
    verify_checksums: bool = False,
    fields: Mapping[str, DataType] = NO_FIELDS,
) -> pa.Table:
    """Read columns of row groups of one file, of structs in `fields` only the fields there: see `read_files`."""
    return next(read_files([FileChunks.of(file, footer, groups, names, fields)], verify_checksums))


def read_files(files: Sequence[FileChunks], verify_checksums: bool = False) -> Iterator[pa.Table]:
    """Yield for each file its columns of row groups, in the types in which they are stored.

    Arrow decodes columns on several threads.  Times that are stored as INT96 come in microseconds.  While a part of a
    file of a store is decoded, threads read the parts that follow.

    Raises
    ------
    DatasetError
        For an INT96 time that microseconds do not hold, and for a file that has changed.
    pyarrow.ArrowException, OSError
        For a file that cannot be read, has other rows than its metadata declares, or, where checksums are verified, has
        a page whose checksum is wrong.
    """
    parts = [parts_of_chunks(one) if one.types else [] for one in files]
    sources = sources_of([part for own in parts for part in own])
    for one, own in zip(files, parts, strict=True):
        if not own:
            yield pa.table({":row": pa.nulls(one.rows)})
            continue
        tables = [decoded(part, next(sources), verify_checksums) for part in own]
        yield pa.concat_tables(tables) if len(tables) > 1 else tables[0]


def decoded(chunks: FileChunks, opening: AbstractContextManager[Any], verify_checksums: bool) -> pa.Table:
    """Decode column chunks, from a context with a file of Arrow."""
    old_times = [name for name in chunks.types if has_int96(chunks.footer, name)]
    with opening as source:
        reader = Reader(source, chunks, verify_checksums)
        columns = reader.columns([name for name in chunks.types if name not in old_times])
        coarse, fine = (reader.columns(old_times, unit) for unit in ("ms", "ns"))
    for name in old_times:
        columns[name] = exact_times(coarse[name], fine[name], f"{chunks.file.path}: column '{name}'")
    for name, column in columns.items():
        if len(column) != chunks.rows:
            declared = f"its metadata declares {chunks.rows:,}"
            raise pa.ArrowInvalid(f"column '{name}' has {len(column):,} rows, and {declared}")
    return pa.table({name: columns[name] for name in chunks.types})


class Reader:
    """Row groups of one file that is read by Arrow."""

    def __init__(self, source: Any, chunks: FileChunks, verify_checksums: bool) -> None:
        self.source, self.footer, self.groups, self.types = source, chunks.footer, list(chunks.groups), chunks.types
        self.uses_threads = chunks.rows * len(chunks.footer.metadata.schema.leaves) > FEW_VALUES
        self.options: dict[str, Any] = {"page_checksum_verification": verify_checksums}
        if self.footer.metadata.schema.other_names:  # pyarrow decodes all names, also of columns that are not read
            self.options["metadata"] = renamed(footer_bytes(source), self.footer.metadata)

    def columns(self, names: Sequence[str], int96_unit: str | None = None) -> dict[str, Any]:
        """Return columns by name, INT96 times in a unit."""
        if not names:
            return {}
        schema = self.footer.metadata.schema
        places = leaf_places(self.footer, {name: self.types[name] for name in names})
        with pq.ParquetFile(self.source, coerce_int96_timestamp_unit=int96_unit, **self.options) as parquet:
            table = parquet.reader.read_row_groups(self.groups, column_indices=places, use_threads=self.uses_threads)
        in_order = dict.fromkeys(schema.arrow.names[schema.leaves[place].column] for place in places)
        return dict(zip(in_order, table.columns, strict=True))


def has_int96(footer: Footer, name: str) -> bool:
    """Tell whether a column has times that are stored as INT96."""
    schema = footer.metadata.schema
    return any(leaf.physical == INT96 and schema.arrow.names[leaf.column] == name for leaf in schema.leaves)


def exact_times(coarse: Any, fine: Any, what: str) -> Any:
    """Return times in microseconds from those that Arrow reads in milliseconds and in nanoseconds.

    Milliseconds are cut off and hold every INT96 time; nanoseconds are exact and wrap.  Their difference, modulo 2^64,
    is what was cut off.

    Raises
    ------
    DatasetError
        For a time that is not a whole number of microseconds, or that microseconds in 64 bits do not hold.
    """
    if is_nested(coarse.type):
        chunks = [exact_nested(one, other, what) for one, other in zip(coarse.chunks, fine.chunks, strict=True)]
        return pa.chunked_array(chunks)
    milliseconds, nanoseconds = (integers(column) for column in (coarse, fine))
    cut_off = nanoseconds.view(np.uint64) - milliseconds.view(np.uint64) * np.uint64(NANOSECONDS)
    valid = np.ones(len(coarse), bool) if not coarse.null_count else np.asarray(coarse.is_valid())
    wrong = valid & ((cut_off % np.uint64(1000) != 0) | (np.abs(milliseconds) > MOST_MILLISECONDS))
    if wrong.any():
        row = int(wrong.argmax())
        days, rest = divmod(int(milliseconds[row]), 86_400_000)
        value = f"{days} days, {rest} ms and {int(cut_off[row])} ns after 1970"
        hint = "Write the file again with timestamps in microseconds, or leave the column out."
        raise DatasetError(
            coded("GE1444", f"{what}: microseconds do not hold the INT96 time in row {row}: {value}"), hint
        )
    micros = np.where(valid, milliseconds, 0) * 1000 + np.where(valid, cut_off // np.uint64(1000), 0).astype(np.int64)
    return pa.chunked_array([pa.array(micros, pa.timestamp("us", coarse.type.tz), mask=~valid)])


def exact_nested(coarse: Any, fine: Any, what: str) -> Any:
    """Return an array of times, or of nested values with some, as `exact_times` does; other values as they are."""
    if is_nested(coarse.type):
        pairs = zip(child_arrays(coarse), child_arrays(fine), strict=True)
        return rebuilt(coarse, [exact_nested(one, other, what) for one, other in pairs])
    if coarse.type == fine.type:
        return fine
    return exact_times(pa.chunked_array([coarse]), pa.chunked_array([fine]), what).combine_chunks()


def integers(column: Any) -> Any:
    """Return times as the numbers that are stored, of null any."""
    whole = column.combine_chunks()
    return np.asarray(pa.Array.from_buffers(pa.int64(), len(whole), [None, whole.buffers()[1]], offset=whole.offset))


# Tables to files.


SAMPLE_ROWS = 1 << 13
BLOOM_ERRORS = 0.01
"""The share of values that are not in a row group and that its Bloom filter takes for values of it."""
MOST_SAMPLED = 0.99
"""Of a sample, the share of distinct values above which a column gets no dictionary.

Such a column has 400,000 distinct values, or fewer rows than that.  A dictionary of them has more than the megabyte
that Arrow allows, or saves nothing.  To find that out, Arrow fills a hash table that grows to 32 MB a column chunk.
Its allocator does not give these back.
"""


def write_parquet(table: pa.Table, path: Path, options: ParquetWriteOptions = PARQUET_DEFAULTS) -> None:
    """Write Parquet, with dictionaries where values repeat; values of 16 bytes are marked as UUIDs."""
    own = table.schema if options.dictionary else ()
    repeating = [field for field in own if repeats(table.column(field.name))]
    dictionaries = [place for field in repeating for place in leaves(field.name, field.type)]
    codec, level = options.codec
    distinct = max(1, min(table.num_rows, options.row_group_rows))
    filters = {name: {"ndv": distinct, "fpp": BLOOM_ERRORS} for name in options.bloom_filters}
    pq.write_table(
        with_uuids(table),
        path,
        compression=codec,
        compression_level=level,
        row_group_size=options.row_group_rows,
        use_dictionary=dictionaries or False,
        write_statistics=options.statistics,
        write_page_index=options.page_index,
        bloom_filter_options=filters or None,
    )


def with_uuids(table: pa.Table) -> pa.Table:
    """Return a table with Arrow's type of UUIDs for values of 16 bytes, at any depth."""
    for place, field in enumerate(table.schema):
        if UUID in type_parts(field.type):
            own = table.column(place).chunks or [pa.array([], field.type)]
            table = table.set_column(
                place, field.name, pa.chunked_array([with_leaves(each, marked_uuids) for each in own])
            )
    return table


def marked_uuids(leaf: Any) -> Any:
    """Return a flat array, of values of 16 bytes as UUIDs."""
    return pa.ExtensionArray.from_storage(pa.uuid(), leaf) if leaf.type == UUID else leaf


def leaves(path: str, dtype: pa.DataType) -> list[str]:
    """Return the paths of the values of a column in a Parquet file."""
    if not is_nested(dtype):
        return [path]
    names = [f"{path}.list.element"]
    if is_map(dtype):
        names = [f"{path}.key_value.key", f"{path}.key_value.value"]
    elif is_struct(dtype):
        names = [f"{path}.{name}" for name in field_names(dtype)]
    return [leaf for name, child in zip(names, children_of(dtype), strict=True) for leaf in leaves(name, child)]


def repeats(column: pa.ChunkedArray) -> bool:
    """Tell, by a sample of 8,192 rows, whether a column may have few distinct values; of lists and few rows it may."""
    step = len(column) // SAMPLE_ROWS
    if step < 2 or pa.types.is_nested(column.type):
        return True
    import pyarrow.compute as pc  # it takes 40 ms, and few rows have no use for it

    sample = column.take(pa.array(np.arange(0, len(column), step)))
    return bool(pc.count_distinct(sample).as_py() <= MOST_SAMPLED * (len(sample) - sample.null_count))
