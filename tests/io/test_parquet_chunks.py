"""Chunks that a pattern finds are those that the general reader reads, whatever the bytes are."""

import io
import random
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl.engines.cudf.io.parquet_metadata import STRUCT, list_of, struct
from gpuetl.formats import parquet_chunks
from gpuetl.formats.parquet_footer import footer_bytes, read_footer
from gpuetl.formats.thrift_reader import BadFooter
from hostile.parquet_bytes import INT64, chunk, element, file_of

MUTANTS = 1500


@pytest.fixture
def patterns(monkeypatch):
    """Turn the patterns on from the first chunk, or off."""
    return lambda on: monkeypatch.setattr(parquet_chunks, "GENERAL_CHUNKS", 0 if on else 1 << 60)


def table(rows=40):
    return pa.table({
        "i": pa.array([None, *range(1, rows)], pa.int64()),
        "small": pa.array(range(rows), pa.int16()),
        "f": pa.array([x / 7 for x in range(rows)], pa.float64()),
        "b": pa.array([x % 3 == 0 for x in range(rows)]),
        "t": pa.array(["é" * (x % 30) for x in range(rows)]),
        "d": pa.array(range(rows), pa.timestamp("us", "UTC")),
        "l": pa.array([[x] * (x % 4) for x in range(rows)], pa.list_(pa.int32())),
        "s": pa.array([{"a": x, "b": str(x)} for x in range(rows)]),
        "n": pa.nulls(rows, pa.string()),
    })  # fmt: skip


OPTIONS = {
    "default": {},
    "no dictionary": {"use_dictionary": False},
    "no statistics": {"write_statistics": False},
    "no statistics, no dictionary": {"write_statistics": False, "use_dictionary": False},
    "version 1": {"version": "1.0", "data_page_version": "1.0"},
    "pages 2, zstd, index": {"data_page_version": "2.0", "compression": "zstd", "write_page_index": True},
    "checksums": {"write_page_checksum": True, "compression": "none"},
    "sorted": {"sorting_columns": [pq.SortingColumn(0)]},
}  # fmt: skip


def written(**options):
    file = io.BytesIO()
    pq.write_table(table(), file, row_group_size=15, **options)
    return footer_bytes(file)


def said(data):
    """Return all that a footer says, or its error."""
    try:
        metadata = read_footer(data)
        groups = [
            (rows, [chunks.compressed_bytes(place) for place in range(len(chunks))], [*chunks])
            for rows, chunks in metadata.groups
        ]
    except BadFooter as error:
        return str(error)
    except (pa.ArrowException, OSError):
        return "refused by Arrow"
    return groups, metadata.encrypted, metadata.created_by, metadata.schema.leaves


@pytest.mark.parametrize("options", OPTIONS)
def test_patterns_find_what_the_general_reader_reads(patterns, options):
    data = written(**OPTIONS[options])
    patterns(on=False)
    expected = said(data)
    patterns(on=True)
    assert said(data) == expected
    found = [one for _, chunks in read_footer(data).groups for one in chunks._found]
    assert [type(one) for one in found] == [re.Match] * 30


def test_what_chunks_say(patterns):
    patterns(on=True)
    (rows, chunks), *_ = read_footer(written()).groups
    first = chunks[0]
    assert (rows, len(chunks), first.values, first.nulls, first.path, first.codec) == (15, 10, 15, 1, (b"i",), 1)
    assert first.bounds == (b"\1" + bytes(7), b"\x0e" + bytes(7))
    assert [one.path for one in chunks[7:9]] == [(b"s", b"a"), (b"s", b"b")]
    assert chunks.compressed_bytes(0) == first.compressed_bytes


@pytest.mark.part(2)
@pytest.mark.parametrize("options", OPTIONS)
def test_mutants_read_alike(patterns, options):
    data, chance = written(**OPTIONS[options]), random.Random(options)
    for _ in range(MUTANTS // len(OPTIONS)):
        mutant = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 5))):
            place = chance.randrange(len(mutant))
            mutant[place] = chance.choice((chance.randrange(256), mutant[place] ^ 1 << chance.randrange(8)))
        if chance.random() < 0.2:
            start = chance.randrange(len(mutant))
            del mutant[start : start + chance.randrange(1, 9)]
        patterns(on=False)
        expected = said(bytes(mutant))
        patterns(on=True)
        assert said(bytes(mutant)) == expected, bytes(mutant).hex()


def test_encrypted_chunks_are_seen(patterns):
    file = file_of([chunk(1, 1, _8=struct({1: struct({})}))])
    for on in (False, True):
        patterns(on)
        assert read_footer(footer_bytes(io.BytesIO(file))).encrypted == {"x"}


def test_two_schemas_are_refused():
    one, other = (list_of(STRUCT, [element(b"s", 1), element(name, None, INT64)]).data for name in (b"x", b"y"))
    data = b"\x15\x02\x19" + one + b"\x09\x04" + other + b"\x29\x0c\x00"  # the field 2, twice
    with pytest.raises(BadFooter, match="two schemas"):
        read_footer(data)


def test_a_bound_longer_than_the_pattern_takes(patterns):
    file = io.BytesIO()
    pq.write_table(pa.table({"t": ["x" * 500, "y" * 500]}), file)
    patterns(on=True)
    ((_, chunks),) = read_footer(footer_bytes(file)).groups
    assert chunks[0].bounds == (b"x" * 500, b"y" * 500)
