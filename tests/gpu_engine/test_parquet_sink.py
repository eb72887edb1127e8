"""Parquet files written from columns in device memory: what readers find in them."""

import os
import random
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from math import inf, nan
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz.data import TYPES, pool
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine, span_bytes
from gpu_engine.test_columns import uploaded
from gpuetl import expr
from gpuetl.choices import skipping
from gpuetl.engines.cudf.codegen.device_headers import header_text
from gpuetl.engines.cudf.columns import string_codes
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io import dictionary_encoders, row_groups
from gpuetl.engines.cudf.io.parquet_writer import has_encoding, write_parquet, writes
from gpuetl.engines.cudf.io.row_groups import Layout
from gpuetl.engines.cudf.io.threaded_file import Span, Writers, assembled, chunks, pwrite, threaded_file
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.row_group_limits import may_hold
from gpuetl.types.data_types import NULL, STRING
from gpuetl.types.schema import Schema
from left_to_full import after

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()
SMALL = Layout(page_rows=64, group_rows=256, batch_rows=512)
"""Several pages, row groups and batches of few rows."""
WRITTEN = {name: dtype for name, dtype in TYPES.items() if has_encoding(dtype)}
LONG = ("decimal(38,4)", "decimal(20,7)")
PAGE = Layout().page_rows


def written(table, path, layout=SMALL, machine=MACHINE, alone=True):
    write_parquet(uploaded(table), Schema.of_arrow(table.schema), path, machine, alone=alone, layout=layout)
    return pq.ParquetFile(path)


def table_of(rows, nulls, seed=0):
    draws = random.Random(seed)
    return pa.table({
        name: pa.array([draws.choice([*pool(dtype, wild=True), *[None] * nulls]) for _ in range(rows)], dtype)
        for name, dtype in WRITTEN.items()
    })  # fmt: skip


def encoding(parquet, column=0):
    return parquet.metadata.row_group(0).column(column).encodings[-1]


def column_bytes(parquet, column=0):
    groups = map(parquet.metadata.row_group, range(parquet.num_row_groups))
    return sum(group.column(column).total_compressed_size for group in groups)


def limits(parquet, group, column):
    found = parquet.metadata.row_group(group).column(column).statistics
    return repr((found.min, found.max) if found.has_min_max else None), found.null_count


@pytest.mark.part(6)
@pytest.mark.parametrize("nulls", [0, 2, 10_000])
@pytest.mark.parametrize("rows", [0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 512, 513, 1300])
def test_pyarrow_reads_rows_and_types_of_all_columns(tmp_path, rows, nulls):
    table = table_of(rows, nulls, seed=rows)
    parquet = written(table, tmp_path / "x.parquet")
    pq.write_table(table, tmp_path / "pyarrow.parquet")
    got, expected = parquet.read(), pq.read_table(tmp_path / "pyarrow.parquet")
    got.validate(full=True)
    assert got.schema.equals(expected.schema, check_metadata=True)
    assert str(got.to_pydict()) == str(expected.to_pydict())


def test_columns_are_stored_as_pyarrow_stores_them_but_for_decimals(tmp_path):
    table = table_of(5, 1).drop_columns([name for name in WRITTEN if name.startswith("decimal")])
    parquet = written(table, tmp_path / "x.parquet")
    pq.write_table(table, tmp_path / "pyarrow.parquet")
    assert parquet.schema.equals(pq.ParquetFile(tmp_path / "pyarrow.parquet").schema)


@pytest.mark.parametrize("nulls", [0, 3])
def test_duckdb_and_polars_read_what_pyarrow_reads(tmp_path, nulls):
    table = table_of(700, nulls, seed=nulls)
    path = tmp_path / "x.parquet"
    expected = written(table, path).read()
    pq.write_table(table, tmp_path / "pyarrow.parquet")
    columns = ", ".join(f'"{name}"' for name in WRITTEN if not name.startswith("timestamp["))  # those need pytz
    files = path, tmp_path / "pyarrow.parquet"
    with duckdb.connect() as connection:
        rows = [connection.execute(f"SELECT {columns} FROM '{file}'").fetchall() for file in files]
    assert str(rows[0]) == str(rows[1])
    assert str(polars.read_parquet(path).to_dict(as_series=False)) == str(
        polars.from_arrow(expected).to_dict(as_series=False)
    )


@pytest.mark.parametrize("nulls", [0, 2, 10_000])
def test_statistics_are_those_of_pyarrow(tmp_path, nulls):
    table = table_of(1000, nulls, seed=7).drop_columns(LONG)
    parquet = written(table, tmp_path / "x.parquet")
    pq.write_table(table, tmp_path / "pyarrow.parquet", row_group_size=SMALL.group_rows)
    expected = pq.ParquetFile(tmp_path / "pyarrow.parquet")
    for group in range(parquet.num_row_groups):
        for column, name in enumerate(table.column_names):
            assert limits(parquet, group, column) == limits(expected, group, column), name


def test_long_decimals_have_no_limits(tmp_path):
    table = table_of(10, 1).select(LONG)
    assert limits(written(table, tmp_path / "x.parquet"), 0, 0) == ("None", table[0].null_count)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 1.0], (-0.0, 1.0)), ([-0.0, -1.0], (-1.0, 0.0)), ([-0.0], (-0.0, 0.0)), ([0.0], (-0.0, 0.0)),
        ([nan, 2.0, nan], (2.0, 2.0)), ([nan], None), ([None, nan], None), ([inf, -inf, None], (-inf, inf)),
        ([5e-324, -5e-324], (-5e-324, 5e-324)), ([None], None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_limits_of_floats_leave_nan_out_and_hold_both_zeros(tmp_path, values, expected, dtype):
    """Of float32, the least numbers are zeros."""
    table = pa.table({"x": pa.array(values, dtype)})
    single = expected and tuple(struct.unpack("<f", struct.pack("<f", each))[0] for each in expected)
    parquet = written(table, tmp_path / "x.parquet")
    assert limits(parquet, 0, 0)[0] == repr(single if dtype == "float32" else expected)
    assert str(parquet.read()["x"].to_pylist()) == str(table["x"].to_pylist())


@pytest.mark.parametrize(
    ("rows", "nulls"),
    after(
        2,
        [(PAGE + 1, True), (PAGE, False), (PAGE + 1, False), (PAGE, True), (PAGE - 1, False), (PAGE - 1, True)],
        "more numbers of rows of a page",
    ),
)
def test_pages_of_many_rows_are_whole(tmp_path, rows, nulls):
    draws = np.random.default_rng(rows)
    mask = draws.random(rows) < 0.3 if nulls else None
    codes = draws.integers(0, 20, rows)
    table = pa.table({
        "sorted": pa.array(np.cumsum(draws.integers(0, 1000, rows)), mask=mask),
        "any": pa.array(draws.integers(-(2**63), 2**63 - 1, rows), mask=mask),
        "float": pa.array(draws.random(rows), mask=mask),
        "bool": pa.array(draws.random(rows) < 0.1, mask=mask),
        "few": pa.array(np.array([f"category {each}" for each in range(20)])[codes], mask=mask),
        "many": pa.array([f"row {each}" for each in range(rows)], mask=mask),
    })  # fmt: skip
    parquet = written(table, tmp_path / "x.parquet", Layout())
    assert parquet.read().equals(table)
    encodings = ["DELTA_BINARY_PACKED", "PLAIN", "PLAIN", "PLAIN", "RLE_DICTIONARY", "DELTA_LENGTH_BYTE_ARRAY"]
    assert [encoding(parquet, column) for column in range(6)] == encodings
    with duckdb.connect() as connection:
        found = connection.sql(f"SELECT * FROM '{tmp_path}/x.parquet'").to_arrow_table()
    assert found.cast(table.schema).equals(table)
    assert polars.read_parquet(tmp_path / "x.parquet").to_arrow().cast(table.schema).equals(table)


@pytest.mark.part(2)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_differences_that_overflow_wrap_around(tmp_path, dtype):
    info = np.iinfo(dtype)
    draws = np.random.default_rng(1)
    values = [info.min, info.max, info.min, 0, info.max, info.max, info.min, 1] * 20 + [3] * 130
    for column in (values, values[::-1], sorted(values), draws.choice(np.array([info.min, info.max, 7], dtype), 1000)):
        table = pa.table({"x": pa.array(np.array(column, dtype))})
        parquet = written(table, tmp_path / "x.parquet")
        assert parquet.read().equals(table)
        assert polars.read_parquet(tmp_path / "x.parquet")["x"].to_list() == table["x"].to_pylist()
        with duckdb.connect() as connection:
            rows = connection.execute(f"SELECT x FROM '{tmp_path}/x.parquet'").fetchall()
        assert [row[0] for row in rows] == table["x"].to_pylist()


def test_a_number_that_grows_by_the_same_takes_almost_no_bytes(tmp_path):
    parquet = written(pa.table({"x": pa.array(range(10_000, 500_000, 7))}), tmp_path / "x.parquet", Layout())
    assert column_bytes(parquet) < 70_000 / 8


def test_a_column_of_one_text_takes_almost_no_bytes(tmp_path):
    parquet = written(pa.table({"x": ["the same"] * 50_000}), tmp_path / "x.parquet", Layout())
    assert column_bytes(parquet) < 100
    assert parquet.read()["x"].to_pylist() == ["the same"] * 50_000


@pytest.mark.parametrize("distinct", [1, 2, 3, 255, 256, 257])
def test_codes_have_as_many_bits_as_a_page_needs(tmp_path, distinct):
    values = [f"{each % distinct:05}" for each in range(900)] + [None] * 70 + ["", "😀"]
    parquet = written(pa.table({"x": values}), tmp_path / "x.parquet")
    assert encoding(parquet) == "RLE_DICTIONARY"
    assert parquet.read()["x"].to_pylist() == values
    assert limits(parquet, 0, 0) == (repr(("00000", f"{min(distinct, 256) - 1:05}")), 0)


def bits_of(column):
    values = column.combine_chunks()
    return values.fill_null(0).to_numpy().view(f"uint{values.type.bit_width}").tolist(), values.is_null().to_pylist()


@pytest.mark.parametrize("machine", [MACHINE, EmulatedMachine()], ids=["one thread", "many"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_row_groups_of_few_distinct_floats_have_a_dictionary(tmp_path, dtype, machine):
    """Each group its own: of 5, of as many as rows, of nulls alone, of one; NaN and zeros keep their bits."""
    nasty = [0.0, -0.0, nan, 1e30, -inf]
    rest = SMALL.group_rows
    values = [*(nasty * rest)[:rest], *map(float, range(rest)), *[None] * rest, *[2.5] * (rest - 1), None, 7.0, 8.0]
    table = pa.table({"x": pa.array(values, dtype)})
    parquet = written(table, tmp_path / "x.parquet", machine=machine)
    encodings = [parquet.metadata.row_group(group).column(0).encodings[-1] for group in range(5)]
    assert encodings == ["RLE_DICTIONARY", "PLAIN", "PLAIN", "RLE_DICTIONARY", "PLAIN"]
    assert bits_of(parquet.read()["x"]) == bits_of(table["x"])
    assert polars.read_parquet(tmp_path / "x.parquet")["x"].null_count() == table["x"].null_count
    with duckdb.connect() as connection:
        found = [row[0] for row in connection.execute(f"SELECT x FROM '{tmp_path}/x.parquet'").fetchall()]
    assert str(found) == str(table["x"].to_pylist())


@pytest.mark.parametrize("distinct", [4, 5])
def test_a_dictionary_of_floats_has_up_to_half_the_places_of_its_table(tmp_path, monkeypatch, distinct):
    """And a NaN with the bits of a free place is found nowhere."""
    monkeypatch.setattr(dictionary_encoders, "MOST_VALUES", 4)
    table = pa.table({"x": [float(row % distinct) for row in range(200)]})
    assert encoding(written(table, tmp_path / "x.parquet")) == ("RLE_DICTIONARY" if distinct == 4 else "PLAIN")
    free = pa.table({"x": np.array([2**64 - 1, 0] * 100, np.uint64).view(np.float64)})
    parquet = written(free, tmp_path / "x.parquet")
    assert encoding(parquet) == "PLAIN"
    assert bits_of(parquet.read()["x"]) == bits_of(free["x"])


def test_kernels_sample_as_many_floats_as_the_host_reckons_with():
    """A group whose values were not inserted must get no dictionary."""
    sample, most = dictionary_encoders.SAMPLED_VALUES, dictionary_encoders.MOST_SAMPLED
    assert f"SAMPLE = 1 << {sample.bit_length() - 1}, MOST_SAMPLED = {most};" in header_text("value_table.cuh")


@pytest.mark.parametrize(
    "limit", [(string_codes, "MAX_DICTIONARY_STRINGS", 1), (dictionary_encoders, "MOST_DISTINCT_BYTES", 3)]
)
def test_a_dictionary_that_grows_too_large_is_given_up(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(*limit)
    values = ["a", "b", "c", "d", None] * 100
    parquet = written(pa.table({"x": values}), tmp_path / "x.parquet")
    assert encoding(parquet) == "DELTA_LENGTH_BYTE_ARRAY"
    assert parquet.read()["x"].to_pylist() == values


def test_columns_of_one_type_are_encoded_as_each_alone(tmp_path):
    """One is smaller as differences and another is not, one has few distinct values, and some have nulls."""
    draws = random.Random(5)
    wide = [draws.randrange(-(1 << 63), 1 << 63) for _ in range(700)]
    prices = [draws.randrange(4) / 4 for _ in range(700)]
    table = pa.table({
        "i": range(700), "j": wide, "k": [None if each % 3 else each for each in wide], "l": [None] * 300 + [*range(400)],
        "x": prices, "y": [float(each) for each in wide], "z": [None, *prices[1:]],
        "t": [f"{each}" for each in wide], "u": [None, *map(str, wide[1:])],
    })  # fmt: skip
    parquet = written(table, tmp_path / "all.parquet")
    assert parquet.read().equals(table)
    for place, name in enumerate(table.column_names):
        alone = written(table.select([name]), tmp_path / "one.parquet")
        assert (encoding(parquet, place), column_bytes(parquet, place)) == (encoding(alone), column_bytes(alone)), name


def test_the_host_waits_once_for_a_batch(tmp_path, monkeypatch):
    """However many columns there are, and whether they have nulls."""
    waits = []
    host = HostMachine.host
    monkeypatch.setattr(HostMachine, "host", lambda self, array: waits.append(array) or host(self, array))
    columns = {f"{name}{copy}": [None, 1, 2] * 400 for name in "abc" for copy in range(3)}
    written(pa.table(columns | {"x": [0.5, None] * 600, "y": [True] * 1200}), tmp_path / "x.parquet")
    assert len(waits) == -(-1200 // SMALL.batch_rows)


def test_texts_that_get_a_dictionary_are_not_sorted(tmp_path, monkeypatch):
    """Only the distinct ones are; and it is no choice of readers that decides how a file is encoded."""
    sorted_rows, sort = [], HostMachine.string_ranks
    monkeypatch.setattr(HostMachine, "string_ranks", lambda self, v: sorted_rows.append(v.rows) or sort(self, v))
    with skipping(["string_codes", "number_strings_by_suffix"]):
        parquet = written(pa.table({"x": ["b", "a", None, "c"] * 100}), tmp_path / "x.parquet")
    assert encoding(parquet) == "RLE_DICTIONARY"
    assert parquet.read()["x"].to_pylist() == ["b", "a", None, "c"] * 100
    assert set(sorted_rows) == {3}


@pytest.mark.parametrize("offset_type", ["int32", "int64"])
def test_bytes_that_nulls_have_are_not_written(tmp_path, offset_type, monkeypatch):
    """Arrow allows them; the pages before and after are not moved by them."""
    monkeypatch.setattr(string_codes, "FEW", 0)
    texts_of = [f"text {row}" for row in range(200)]
    array = pa.array(texts_of)
    valid = [row % 3 != 0 for row in range(200)]
    words = np.zeros(16, np.uint32)
    words.view(np.uint8)[:25] = np.packbits(valid, bitorder="little")
    offsets = np.frombuffer(array.buffers()[1], np.int32)[:201].astype(offset_type)
    vector = Vector(STRING, 200, np.frombuffer(array.buffers()[2], np.uint8), words, valid.count(False), offsets)
    write_parquet(Frame({"x": vector}, 200), Schema({"x": STRING}), tmp_path / "x.parquet", MACHINE, layout=SMALL)
    expected = [text if there else None for text, there in zip(texts_of, valid, strict=True)]
    assert pq.read_table(tmp_path / "x.parquet")["x"].to_pylist() == expected


def test_pages_of_long_texts_have_fewer_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(row_groups, "MOST_PAGE_BYTES", 2000)
    table = pa.table({"x": [f"{row:040}" for row in range(300)], "n": list(range(300))})
    assert row_groups.with_short_pages(uploaded(table), SMALL, MACHINE).page_rows == 32
    assert written(table, tmp_path / "x.parquet").read().equals(table)
    monkeypatch.setattr(row_groups, "LIMIT", 1000)
    with pytest.raises(pa.ArrowInvalid, match="32 texts have 1,408 bytes"):
        written(pa.table({"x": [f"{row:040}" for row in range(300)]}), tmp_path / "x.parquet")


def test_row_groups_that_statistics_exclude_are_not_read(tmp_path):
    rows = 1024
    table = pa.table({
        "n": pa.array(range(rows), "int32"),
        "t": pa.array([datetime(2024, 1, 1 + row // 256) for row in range(rows)], "timestamp[us]"),
        "d": pa.array([date(2024, 1, 1 + row // 256) for row in range(rows)]),
        "x": pa.array([row / 2 for row in range(rows)]),
        "s": pa.array(["abcd"[row // 256] * 3 for row in range(rows)]),
        "u": pa.array([2**63 - 500 + row for row in range(rows)], "uint64"),
    })  # fmt: skip
    written(table, tmp_path / "x.parquet")
    groups = Dataset("t", "parquet", tmp_path / "x.parquet").row_groups
    scope = Scope(dict(Schema.of_arrow(table.schema)), {})
    kept = {
        text: [group.index for group in groups if may_hold(resolve(expr(text).syntax, scope), group.ranges, group.rows)]
        for text in ("n = 300", "t = TIMESTAMP '2024-01-03 00:00:00'", "d > DATE '2024-01-03'", "x < 100.0", "s = 'bbb'",
                     "u <= 9223372036854775807", "n IS NULL")
    }  # fmt: skip
    assert list(kept.values()) == [[1], [2], [3], [0], [1], [0, 1], []]


def test_what_has_no_encoding_here_is_said_before(tmp_path):
    assert writes(Schema(WRITTEN))
    assert not writes(Schema({"x": pa.int64(), "y": pa.list_(pa.int64())}))
    assert not writes(Schema({"x": NULL}))
    assert not writes(Schema({}))


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("path", ["/dev/full", "/none/x.parquet"])
def test_a_file_that_cannot_be_written_is_an_os_error(path, alone):
    with pytest.raises(OSError, match="No s"):
        write_parquet(uploaded(table_of(5000, 0)), Schema(WRITTEN), Path(path), MACHINE, alone=alone, layout=SMALL)


def test_a_file_is_the_same_whether_it_is_written_alone(tmp_path):
    table = table_of(3000, 2)
    written(table, tmp_path / "mapped.parquet")
    written(table, tmp_path / "by_calls.parquet", alone=False)
    assert (tmp_path / "mapped.parquet").read_bytes() == (tmp_path / "by_calls.parquet").read_bytes()


def test_a_descriptor_is_open_as_long_as_threads_write_to_it(tmp_path):
    """Another file could have its number."""
    stored = []

    def write_chunks(store, taken):
        for offset, piece in taken:
            time.sleep(0.01)
            store(np.frombuffer(piece, np.uint8), offset)
            stored.append(offset)
            if offset == 2:
                raise OSError("no more")

    def write_two_calls():
        with ThreadPoolExecutor(1) as threads:
            writers = Writers(threads, 1, 1, lambda: write_chunks, lambda: lambda memory, taken: None)
            with threaded_file(tmp_path / "x", False, writers) as file:
                file.write(0, b"abcde")
                file.write(5, b"fghij")

    with pytest.raises(OSError, match="no more"):
        write_two_calls()
    assert stored[:3] == [0, 1, 2]
    assert len(stored) < 10


def test_the_system_may_take_fewer_bytes_than_it_is_given(tmp_path, monkeypatch):
    system = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, offset: system(descriptor, data[:3], offset))
    with (tmp_path / "x").open("wb") as file:
        pwrite(file.fileno(), np.arange(10, dtype=np.uint8), 2)
    assert (tmp_path / "x").read_bytes() == bytes([0, 0, *range(10)])


@pytest.mark.parametrize("most", [1, 3, 4, 100])
@pytest.mark.parametrize("piece", [b"abcdefghijkl", Span(np.arange(20, dtype=np.uint8), 5, 13), b""])
def test_pieces_are_cut_into_chunks(most, piece):
    found = list(chunks(10, piece, most))
    data = [span_bytes(part) if isinstance(part, Span) else part for _, part in found]
    assert b"".join(data) == (span_bytes(piece) if isinstance(piece, Span) else piece)
    assert [offset for offset, _ in found] == [10 + most * place for place in range(len(found))]
    assert {len(each) for each in data[:-1]} <= {most}


@pytest.mark.parametrize("machine", [MACHINE, EmulatedMachine()], ids=["one thread", "many"])
def test_pieces_are_put_together_wherever_they_lie(machine):
    """By words that hold them, of which no bytes beyond them count."""
    draws = random.Random(0)
    array = np.random.default_rng(0).integers(0, 256, 999).astype(np.uint8)
    sizes = [0, 0, 1, 15, 16, 17, 300, *(draws.choice([0, 1, 3, 5, 16, 70]) for _ in range(60)), 0]
    pieces = [draws.choice([Span(array, draws.randrange(999 - size), size), draws.randbytes(size)]) for size in sizes]
    whole = assembled(pieces, machine)
    assert span_bytes(whole) == b"".join(span_bytes(each) if isinstance(each, Span) else each for each in pieces)


@pytest.mark.parametrize("nulls", [0, 2])
def test_threads_of_a_warp_write_the_same_bytes(tmp_path, nulls):
    table = table_of(333, nulls, seed=3)
    written(table, tmp_path / "one.parquet")
    written(table, tmp_path / "many.parquet", machine=EmulatedMachine())
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "many.parquet").read_bytes()


@pytest.mark.parametrize("nulls", [0, 2])
@pytest.mark.parametrize("kept", [slice(0, 0), slice(0, 1), slice(3, 600), slice(0, 600, 7)], ids=str)
def test_texts_of_a_dictionary_are_written_by_its_numbers(tmp_path, nulls, kept):
    """Also where many of its texts are in no row, or more than there are rows."""
    draws = random.Random(0)
    values = [draws.choice([f"text {draws.randrange(90)}", "", "é", *[None] * nulls]) for _ in range(600)]
    column = with_dictionary(from_arrow(pa.array(values), MACHINE), MACHINE)
    rows = np.arange(600)[kept]
    frame, schema = (
        Frame(take({"s": column}, MACHINE.arrays.asarray(rows), MACHINE), len(rows)),
        Schema({"s": pa.string()}),
    )
    assert frame.columns["s"].dictionary
    write_parquet(frame, schema, tmp_path / "x.parquet", MACHINE, layout=SMALL)
    assert pq.read_table(tmp_path / "x.parquet").to_pydict() == {"s": values[kept]}
