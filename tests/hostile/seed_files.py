"""Real files of every format that gpuetl reads, from which mutants are made."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl.types.data_types import language_type

ROWS = 300
ROW_GROUP_ROWS = 170
PAGE_BYTES = 400
LARGEST_PUBLIC_FILE = 200_000
CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
CSV_TYPES = {
    "k": "int64",
    "s": "string",
    "f": "float64",
    "d": "decimal(10,2)",
    "day": "date",
    "ts": "timestamp",
    "b": "bool",
}
DELTAS = {
    "k": "DELTA_BINARY_PACKED", "i32": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY", "s2": "DELTA_LENGTH_BYTE_ARRAY",
    "b": "RLE", "f": "BYTE_STREAM_SPLIT", "f32": "BYTE_STREAM_SPLIT",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SeedFile:
    """A file that is read, and what a pipeline reads of it: columns of a Parquet file, or the schema of a CSV file.

    `limit` is in the middle of the integer column `k`, which the pipeline filters; None where there is no such column.
    """

    name: str
    data: bytes
    format: str
    columns: tuple[str, ...] = ()
    schema: dict[str, str] = field(default_factory=dict)
    limit: int | None = None


def typed_rows(rows: int = ROWS) -> pa.Table:
    """Return rows of all types, with nulls in each column but the first."""

    def column(make: Any, dtype: Any) -> pa.Array:
        return pa.array([None if i % 7 == 3 else make(i) for i in range(rows)], dtype)

    zero = datetime.datetime(2024, 1, 1)
    texts = ["", "a", "bc", "é∂", "some longer text " * 3]
    return pa.table(
        {
            "k": pa.array(range(rows), pa.int64()),
            "i8": column(lambda i: i % 100 - 50, pa.int8()),
            "i16": column(lambda i: i * 7, pa.int16()),
            "i32": column(lambda i: i * 1000, pa.int32()),
            "u8": column(lambda i: i % 256, pa.uint8()),
            "u16": column(lambda i: i, pa.uint16()),
            "u32": column(lambda i: i * 9_000_000, pa.uint32()),
            "u64": column(lambda i: (1 << 63) + i, pa.uint64()),
            "f32": column(lambda i: i / 8, pa.float32()),
            "f": column(lambda i: float("nan") if i % 11 == 0 else i / 3, pa.float64()),
            "b": column(lambda i: i % 3 == 0, pa.bool_()),
            "s": column(lambda i: texts[i % 5], pa.string()),
            "s2": column(lambda i: f"text {i}", pa.large_string()),
            "word": column(lambda i: texts[i % 2], pa.string()).dictionary_encode(),
            "day": column(lambda i: zero.date() + datetime.timedelta(i), pa.date32()),
            "ts": column(lambda i: zero + datetime.timedelta(hours=i), pa.timestamp("us")),
            "tz": column(lambda i: zero + datetime.timedelta(minutes=i), pa.timestamp("ms", tz="UTC")),
            "span": column(lambda i: datetime.timedelta(seconds=i), pa.duration("us")),
            "dec": column(lambda i: Decimal(i) / 4, pa.decimal128(12, 2)),
            "wide": column(lambda i: Decimal(i) * 10**20, pa.decimal128(38, 4)),
        }
    )


def nested_rows() -> pa.Table:
    """Return rows of lists, some empty, null or with nulls, and of types that gpuetl does not read."""
    numbers = [None if i % 9 == 4 else [None if j == 2 else i + j for j in range(i % 5)] for i in range(ROWS)]
    return pa.table(
        {
            "k": pa.array(range(ROWS), pa.int64()),
            "ints": pa.array(numbers, pa.list_(pa.int64())),
            "texts": pa.array([None if n is None else [f"t{v}" for v in n] for n in numbers], pa.list_(pa.string())),
            "place": [{"x": i, "y": str(i)} for i in range(ROWS)],
            "pairs": pa.array([[("a", i)] for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
            "raw": [b"\x00\xff"] * ROWS,
        }
    )


def parquet(name: str, rows: pa.Table, columns: tuple[str, ...] = (), **options: Any) -> SeedFile:
    """Return a Parquet file of several row groups and pages."""
    given = {
        "row_group_size": ROW_GROUP_ROWS,
        "data_page_size": PAGE_BYTES,
        "write_batch_size": 32,
        "compression": "none",
    }
    sink = io.BytesIO()
    pq.write_table(rows, sink, **{**given, **options})
    return SeedFile(f"{name}.parquet", sink.getvalue(), "parquet", columns, limit=ROWS // 2)


def parquet_files() -> Iterator[SeedFile]:
    """Yield Parquet files of all codecs, encodings and parts."""
    rows, nested, lists = typed_rows(), nested_rows(), ("k", "ints", "texts")
    small = rows.select(["k", "s", "f", "ts", "dec"])
    for codec in CODECS:
        for version in ("1.0", "2.0"):
            for dictionary in (True, False):
                kind = f"{codec}-v{version[0]}-{'dictionary' if dictionary else 'plain'}"
                options: dict[str, Any] = {
                    "compression": codec,
                    "data_page_version": version,
                    "use_dictionary": dictionary,
                }
                yield parquet(f"types-{kind}", small if codec != "none" else rows, (), **options)
                if codec in ("none", "snappy"):
                    yield parquet(f"lists-{kind}", nested.select(list(lists)), lists, **options)
    for version in ("1.0", "2.0"):
        own: dict[str, Any] = {"use_dictionary": False, "column_encoding": DELTAS, "data_page_version": version}
        yield parquet(f"deltas-v{version[0]}", rows.select(list(DELTAS)), (), **own)
    yield parquet("structs", nested, lists)
    yield parquet("page-index", small, write_page_index=True)
    yield parquet("checksums", small, write_page_checksum=True)
    yield parquet("no-statistics", small, write_statistics=False)
    yield parquet("no-arrow-schema", small, store_schema=False)
    yield parquet("int96", rows.select(["k", "ts"]), use_deprecated_int96_timestamps=True)
    yield parquet("integer-decimals", rows.select(["k", "dec"]), store_decimal_as_integer=True)
    yield parquet("bloom-filters", small, bloom_filter_options={"k": {"ndv": 100, "fpp": 0.1}, "s": True})
    yield parquet("no-rows", small.slice(0, 0))
    yield parquet("one-row", small.slice(0, 1))


def csv_files() -> Iterator[SeedFile]:
    """Yield CSV files of all types, with quotes and the three line ends."""
    header = ",".join(CSV_TYPES)
    lines = [header]
    for i in range(60):
        text = ("plain", '"quoted, with a delimiter"', '"two\nlines"', '"say ""yes"""', "", '""')[i % 6]
        null = i % 7 == 3
        lines.append(
            f"{i},{text},{'' if null else i / 4},{i}.25,2024-01-{i % 28 + 1:02},2024-01-01 00:00:{i:02},{'' if null else 'true'}"
        )
    for name, end in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")):
        text = "\n".join(lines).replace("\n", end) + end
        yield SeedFile(f"types-{name}.csv", text.encode(), "csv", schema=CSV_TYPES, limit=30)
    one = "x\n1\n\n2\n\n"
    yield SeedFile("one-column.csv", one.encode(), "csv", schema={"x": "int64"})
    marked = "\ufeff" + "\n".join(["k;s", *(f"{i};é{i}" for i in range(40))])
    yield SeedFile("mark.csv", marked.replace(";", ",").encode(), "csv", schema={"k": "int64", "s": "string"}, limit=20)


@cache
def own_files() -> tuple[SeedFile, ...]:
    """Return the files that are made here."""
    return (*parquet_files(), *csv_files())


def public_files(folders: Iterable[Path]) -> tuple[SeedFile, ...]:
    """Return the Parquet files of folders that are not too large, with the columns whose types gpuetl reads."""
    paths = sorted(path for folder in folders for path in folder.rglob("*.parquet") if path.is_file())
    return tuple(public_file(path) for path in paths if path.stat().st_size <= LARGEST_PUBLIC_FILE)


def public_file(path: Path) -> SeedFile:
    """Return a file of others; without columns where pyarrow cannot read its schema."""
    data = path.read_bytes()
    try:
        schema = pq.read_schema(pa.BufferReader(data))
        columns = [name for name in schema.names if language_type(schema.field(name).type) is not None]
    except (OSError, pa.ArrowException, KeyError, UnicodeDecodeError):
        return SeedFile(path.name, data, "parquet")
    return SeedFile(path.name, data, "parquet", tuple(dict.fromkeys(columns)))
