"""The kinds of a source's columns, by what file metadata states, and the programs by which sources are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import NamedTuple

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.string_codes import FEW, SAMPLE
from gpuetl.engines.cudf.columns.string_dictionaries import MAX_DICTIONARY_STRINGS
from gpuetl.engines.cudf.gpu_operation import Needed
from gpuetl.engines.cudf.io import csv_reader, json_reader
from gpuetl.engines.cudf.machine import KernelSource
from gpuetl.expressions.ir import Cast, Column, Literal
from gpuetl.formats.csv import CsvFormat
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.format import Format
from gpuetl.formats.frames import FrameDataset, FrameFormat
from gpuetl.formats.json_lines import JsonFormat
from gpuetl.formats.parquet import ParquetFormat, footers_of
from gpuetl.formats.parquet_chunks import Chunk
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.physical.nodes import Scan
from gpuetl.physical.size_estimates import most_rows
from gpuetl.plan.nodes import Read
from gpuetl.records import dataclass
from gpuetl.types.data_types import NULL, STRING, DataType, language_type
from gpuetl.types.nested_types import is_nested

# The kinds of a source's columns, by what the footers of its files state, or by the rows of a frame in memory.


MOST_GROUPS = 16
"""Row groups that are looked at: each takes some tens of microseconds a column."""
LENGTH_BYTES = 4
"""Of a text's length in Parquet."""
MOST_BITS = 32
SAMPLED_ROWS = 4096
"""Rows of a frame in memory whose distinct texts are counted."""


class ScanKinds(NamedTuple):
    """The kinds of a source's columns as they are planned, and the types of those that are stored in another one.

    A column that is in no file has no type: it has one value a file.
    """

    columns: Mapping[str, Kind]
    stored: Mapping[str, DataType | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class KnownScan(Scan):
    """A scan whose columns' kinds are known, for a process that has no files at hand."""

    known: ScanKinds


def scan_kinds(scan: Scan) -> ScanKinds:
    """Return what is known of a source's columns, of its first file where files differ."""
    if isinstance(scan, KnownScan):
        return scan.known
    read, groups = scan.read, few_groups(scan)
    stored = stored_types(read, groups[0].file) if groups else dict(read.schema)
    made = {name: read_kind(scan, name, groups) for name in read.schema}
    others = {name: stored.get(name) for name, t in read.schema.items() if stored.get(name) != t}
    return ScanKinds(made, others)


def few_groups(scan: Scan) -> list[RowGroup]:
    """Return some of the row groups that a scan reads, from the first one on."""
    groups = [group for part in scan.parts for group in part if group.rows]
    return groups[:: -(-len(groups) // MOST_GROUPS) or 1]


def stored_types(read: Read, file: DataFile) -> dict[str, DataType]:
    """Return the types in which the columns of a file are read; nothing of those that it lacks."""
    if is_text(read.dataset):
        in_paths = read.dataset.partitions
        kept = {name for name, dtype in read.schema.items() if name in in_paths or is_nested(dtype) or dtype == NULL}
        return {name: dtype if name in kept else STRING for name, dtype in read.schema.items()}  # cast there
    if not read.dataset.file_format.states_types:
        return dict(read.schema)
    stored = read.dataset.stored(file)
    names = (name for name in read.schema if name in stored and name not in read.dataset.partitions)
    return {name: language_type(stored[name]) or stored[name] for name in names}


def is_text(dataset: Dataset) -> bool:
    """Tell whether a source's values are strings that are cast on the device."""
    if isinstance(dataset.file_format, JsonFormat):
        return not json_reader.host_reason(dataset)
    return isinstance(dataset.file_format, CsvFormat) and not csv_reader.host_reason(dataset)


def read_kind(scan: Scan, name: str, groups: Sequence[RowGroup]) -> Kind:
    """Return the kind of one column."""
    dataset, dtype = scan.read.dataset, scan.schema[name]
    if dtype != STRING or not chosen("string_codes"):
        return Kind.of(dtype)
    count = DISTINCT_TEXTS.get(type(dataset.file_format))
    distinct = FEW if count is None else count(dataset, name, groups)
    rows = most_rows(scan)
    return Kind.coded(min(distinct, rows)) if worth_coding(distinct, rows) else Kind(dtype)


def texts_stored(dataset: Dataset, name: str, groups: Sequence[RowGroup]) -> float:
    """Return about how many distinct texts row groups of Parquet files have; few where nothing tells.

    A dictionary of Parquet has four bytes for each, and its texts: these are taken to be as long as the mean of the
    least and the greatest one.
    """
    if name in dataset.partitions:
        return FEW
    footers = footers_of(dataset)
    chunks = [footers.footer(group.file).groups[group.index].first_chunk(name) for group in groups]
    return max((texts_of(chunk) for chunk in chunks if chunk is not None), default=FEW)


def texts_of(chunk: Chunk) -> float:
    """Return how many distinct texts a chunk has at most; infinite where other chunks likely have others."""
    if chunk.dictionary_page is None:
        return inf
    bits, bounds = 8 * chunk.uncompressed_bytes / max(1, chunk.values), chunk.bounds or chunk.old_bounds or ()
    text_bytes = LENGTH_BYTES + sum(map(len, bounds)) / 2
    most = min(chunk.values, chunk.uncompressed_bytes / text_bytes, 2 ** min(bits, MOST_BITS))
    return most if worth_coding(most, chunk.values) else inf


def texts_in(dataset: Dataset, name: str, groups: Sequence[RowGroup]) -> float:
    """Return how many distinct texts a column in memory has, if these are few in its first rows."""
    import pyarrow.compute as pc

    assert isinstance(dataset, FrameDataset)
    column = dataset.table.column(name)
    sample = column.slice(0, SAMPLED_ROWS)
    found = int(pc.count_distinct(sample).as_py())
    return found if len(sample) == len(column) or found <= len(sample) // 2 else inf


DISTINCT_TEXTS: dict[type[Format], Callable[[Dataset, str, Sequence[RowGroup]], float]] = {
    ParquetFormat: texts_stored,
    FrameFormat: texts_in,
}
"""How many distinct strings a column has, for the formats that tell; of others they are taken to be few."""


def worth_coding(distinct: float, rows: float) -> bool:
    """Tell whether a column is coded as it is read, given its distinct texts and its rows: see `with_dictionary`."""
    return distinct <= min(MAX_DICTIONARY_STRINGS, max(FEW, min(rows, SAMPLE) // 2))


# The programs by which sources are read, beside those of the closed set.


def scan_programs(scan: Scan) -> Needed:
    """List the programs of columns that are in no file, and of casts to the planned types."""
    known, partitions = scan_kinds(scan), scan.read.dataset.partitions
    values, casts = dict[str, Literal](), list[KernelSource]()
    for name, stored in known.stored.items():
        dtype = scan.schema[name]
        if stored is None:
            value = ("" if dtype == STRING else 0) if name in partitions else None
            values[name] = Literal(value, dtype, declared=True)
        else:
            casts += evaluated({"": Cast(Column(name, stored), dtype)}, Kinds({name: Kind.of(stored)})).sources
    if isinstance(scan.read.dataset.file_format, JsonFormat) and is_text(scan.read.dataset):
        leaves = dict.fromkeys(leaf for dtype in scan.schema.values() for leaf in json_reader.cast_types(dtype))
        for leaf in leaves:
            casts += evaluated({"": Cast(Column("", STRING), leaf)}, Kinds({"": Kind.of(STRING)})).sources
    return Needed([*evaluated(values, Kinds({})).sources, *casts], known.columns)
