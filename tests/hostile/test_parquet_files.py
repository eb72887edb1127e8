"""Parquet files that lie: no file ends the process, none shows a traceback, and engines agree."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed
from gpuetl.engines.cudf.io.host_columns import host_columns
from gpuetl.engines.cudf.io.parquet_metadata import binary, i32, i64, struct
from gpuetl.formats.footers import footer_of
from gpuetl.formats.parquet_footer import footer_bytes, read_footer
from gpuetl.formats.thrift_reader import BadFooter
from hostile.parquet_bytes import INT64, chunk, element, file_of, footer, gzip_file
from hostile.parquet_files import compare

LONG = 10_000
SHORT_STATISTICS = struct({3: i64(0), 5: binary(b"\x01"), 6: binary(b"\x01")})


@pytest.fixture
def read(tmp_path, pipeline, local_engine):
    """Write a file, and return its rows as the engine reads them, or the error's text without its place."""

    def rows(data, **keys):
        write(tmp_path, data)
        try:
            pipeline.read_parquet("t", "t.parquet", **keys).stage("all")
            return pipeline.run(engine=local_engine, keep=["all"])["all"].to_arrow().to_pydict()
        except (InvalidPipeline, RunFailed) as error:
            return str(error)

    return rows


def write(folder, data):
    """Write bytes, or a table with options of pyarrow."""
    path = folder / "t.parquet"
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        pq.write_table(data, path)
    return path


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (file_of([]), "row group 0 has 0 columns, and the schema 1"),
        (file_of([chunk(0, 0, physical=1)]), "column 'x' in row group 0 has another type than in the schema"),
        (file_of([chunk(-1, 0)]), "column 'x' in row group 0 has another type than in the schema, or no size"),
        (file_of([struct({2: i64(0)})]), "column 'x' in row group 0 lacks what each column has"),
        (file_of([chunk(0, 0, _8=struct({2: struct({})}))]), "column 'x' is encrypted"),
        (file_of(rows=1 << 62), "declares 4,611,686,018,427,387,904 rows in row group 0"),
        (file_of(rows=-1), "declares -1 rows in row group 0"),
        (file_of()[:-8] + (1 << 31).to_bytes(4, "little") + b"PAR1", "declares 2,147,483,648 bytes of metadata"),
        (b"PAR1" + footer([element(b"s", 1)]), "its schema declares more columns than it has"),
        (b"PAR1" + footer([element(b"a", 1)] * LONG), "too deeply inside each other"),
        (b"PAR1" + footer([element(b"s", 1)] + [element(b"x", None, INT64)] * 2), "has columns that belong to none"),
        (b"PAR1" + footer([element(b"s", 200_000)] + [element(b"x", None, INT64)] * 200_000), "declares 200,000 columns"),
    ],
)  # fmt: skip
def test_metadata_that_cannot_be_is_refused(read, data, message):
    assert message in read(data)


@pytest.mark.parametrize("head", [b"\x19\xfc", b"\x18", b"\x1b"])
def test_a_string_list_or_map_of_2_to_the_60_values_takes_no_memory(read, head):
    data = head + b"\x80" * 8 + b"\x10"
    assert "contradicts itself" in read(b"PAR1" + data + len(data).to_bytes(4, "little") + b"PAR1")


def test_statistics_of_other_bytes_than_the_type_has_are_not_used(read, tmp_path):
    """pyarrow ends the process where it is asked for them."""
    assert read(file_of([chunk(0, 0, statistics=SHORT_STATISTICS)])) == {"x": []}
    path = write(tmp_path, file_of([chunk(0, 3, statistics=SHORT_STATISTICS)], rows=3))
    assert footer_of(path).groups[0].limits("x") is None


def test_bounds_in_the_wrong_order_and_more_nulls_than_values_are_not_used(tmp_path):
    low, high = (number.to_bytes(8, "little") for number in (1, 5))
    for nulls, least, greatest, limits in ((0, low, high, (1, 5, 0)), (0, high, low, None), (4, low, high, None)):
        statistics = struct({1: binary(greatest), 2: binary(least), 3: i64(nulls)})
        path = write(tmp_path, file_of([chunk(0, 3, statistics=statistics)], rows=3))
        assert footer_of(path).groups[0].limits("x") == limits


def test_a_footer_whatever_is_changed_in_it_is_read_or_refused(tmp_path):
    rows = pa.table({"a": [1, None], "b": ["x", "y"], "c": [[1], []], "d": [1.5, 2.5]})
    with write(tmp_path, rows).open("rb") as file:
        whole = footer_bytes(file)
    chance, outcomes = random.Random(1), {"read": 0, "refused": 0}
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.choice((0, 0xFF, chance.randrange(256)))
        try:
            found = read_footer(bytes(data))
            for number, chunks in found.groups:
                assert number >= 0
                assert len(chunks) == len(found.schema.leaves)
            outcomes["read"] += 1
        except (BadFooter, pa.ArrowException, OSError):
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 50, outcomes


def test_a_name_that_is_not_utf_8_is_refused_where_it_is_read_and_else_left_out(read, pipeline, tmp_path):
    pq.write_table(pa.table({"id": [1, 2], "caf_": [3, 4]}), tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes().replace(b"caf_", b"caf\xe9")
    assert "the name of column 'caf\\xe9' is not UTF-8" in read(data)


def test_other_columns_beside_a_name_that_is_not_utf_8_are_read(read, tmp_path):
    pq.write_table(pa.table({"id": [1, 2], "caf_": [3, 4]}), tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes().replace(b"caf_", b"caf\xe9")
    assert read(data, columns=["id"]) == {"id": [1, 2]}


def test_a_column_may_be_named_as_the_path_inside_of_a_list(read):
    rows = {"a": [[1, 2], [3]], "a.list.element": [7, 8], "a.list": [5, 6]}
    assert read(pa.table(rows)) == rows


@pytest.mark.parametrize("members", [([1, 2], [3]), ([], [1, 2, 3]), ([1], [2], [3])])
def test_pages_of_several_gzip_members_are_read(read, tmp_path, members):
    """libcudf reads zeros after the first one, so Arrow reads such columns."""
    assert read(gzip_file(*members)) == {"x": [1, 2, 3]}
    path = tmp_path / "t.parquet"
    assert host_columns(path, footer_of(path), [0], ["x"]) == {"x": "a page is not one gzip member"}


def test_pages_of_one_gzip_member_are_left_to_the_device(tmp_path):
    path = write(tmp_path, gzip_file([1, 2, 3]))
    assert host_columns(path, footer_of(path), [0], ["x"]) == {}
    rows = pa.table({"x": range(100_000), "l": [[1, 2]] * 100_000, "s": ["text"] * 100_000})
    for codec in ("gzip", "snappy", "zstd", "none"):
        for version in ("1.0", "2.0"):
            pq.write_table(rows, path, compression=codec, data_page_version=version, row_group_size=30_000)
            assert host_columns(path, footer_of(path), [0, 3], ["x", "l", "s"]) == {}


@pytest.mark.parametrize(("options", "reason"), [
    ({"compression": "brotli"}, "libcudf does not support its compression"),
    ({"column_encoding": "DELTA_BINARY_PACKED", "use_dictionary": False}, "libcudf does not check its encoding"),
])  # fmt: skip
def test_what_libcudf_reads_wrongly_is_read_by_arrow(tmp_path, options, reason):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1, 2]}), path, **options)
    assert host_columns(path, footer_of(path), [0], ["x"]) == {"x": reason}


def test_fewer_values_than_rows_are_an_error(read):
    """pyarrow reads as many rows as there are, and says nothing."""
    data = gzip_file([1, 2, 3])
    size = int.from_bytes(data[-8:-4], "little")
    changed = data[: -8 - size] + data[-8 - size : -8].replace(i64(3).data + b"\0\0", i64(5).data + b"\0\0") + data[-8:]
    assert "cannot read" in read(changed)


def int96(*times):
    """Return a file of one INT96 column; a time is (nanoseconds of the day, Julian day)."""
    values = b"".join(nanos.to_bytes(8, "little") + day.to_bytes(4, "little") for nanos, day in times)
    header = struct({1: i32(0), 2: i32(len(values)), 3: i32(len(values)), 5: page_values(len(times))})
    page, elements = header.data + values, [element(b"schema", 1), element(b"x", None, 3)]
    return file_of([chunk(len(page), len(times), physical=3)], page, len(times), elements)


def page_values(count):
    return struct({1: i32(count), 2: i32(0), 3: i32(3), 4: i32(3)})


EPOCH = 2_440_588
"""The Julian day of 1970-01-01."""


def test_int96_times_beyond_nanoseconds_are_read_exactly(read):
    days = {"0001-01-01": -719_162, "1500-06-01": -171_513, "2024-05-06": 19_849, "9999-12-31": 2_932_896}
    rows = read(int96(*((1_234_567_000, EPOCH + day) for day in days.values())))
    assert [str(time) for time in rows["x"]] == [f"{day} 00:00:01.234567" for day in days]


@pytest.mark.parametrize("time", [(1, EPOCH), (0, EPOCH + 106_751_992), (0, 0xFFFFFFFF)])
def test_int96_times_that_microseconds_do_not_hold_are_refused(read, time):
    assert "microseconds do not hold the INT96 time in row 1" in read(int96((0, EPOCH), time))


def test_lists_and_nulls_of_int96_times(read, tmp_path):
    times = pa.array([[0, None, 3_000], None, []], pa.list_(pa.timestamp("ns")))
    pq.write_table(pa.table({"x": times}), tmp_path / "w.parquet", use_deprecated_int96_timestamps=True)
    rows = read((tmp_path / "w.parquet").read_bytes())["x"]
    assert [None if row is None else [None if t is None else t.microsecond for t in row] for row in rows] == [
        [0, None, 3], None, [],
    ]  # fmt: skip


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_wrong_checksum_is_refused_where_checksums_are_verified(read, tmp_path, version):
    path = tmp_path / "w.parquet"
    options = {"compression": "none", "write_statistics": False, "use_dictionary": False}
    rows = pa.table({"s": ["Bern", "Paris"]})
    pq.write_table(rows, path, write_page_checksum=True, data_page_version=version, **options)
    good = path.read_bytes()
    assert "the checksum of a page does not match" in read(good.replace(b"Paris", b"Doris"), verify_checksums=True)


def test_right_checksums_and_none_are_read(read, tmp_path):
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table({"s": ["Bern", "Paris"]}), path, write_page_checksum=True)
    assert read(path.read_bytes(), verify_checksums=True) == {"s": ["Bern", "Paris"]}


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_damaged_pages_are_refused_where_pages_are_verified(read, tmp_path, version):
    path = tmp_path / "w.parquet"
    options = {"compression": "none", "write_statistics": False, "data_page_version": version}
    pq.write_table(pa.table({"s": ["Bern", "Paris"] * 20}), path, **options)
    good = path.read_bytes()
    with pq.ParquetFile(path) as parquet:
        start = parquet.metadata.row_group(0).column(0).data_page_offset
    at = good.index(bytes([1, 11, 0b10101010]), start)  # dictionary codes of one bit
    bad = good[:at] + bytes([3, 80, 7]) + good[at + 3 :]  # of three bits, 40 times 7: the dictionary has two strings
    assert "it is damaged, or not in the declared format" in read(bad, verify_pages=True)


@pytest.mark.parametrize("option", ["verify_checksums", "verify_pages"])
def test_checks_of_pages_are_of_parquet_files(pipeline, option):
    with pytest.raises(InvalidPipeline, match=f"{option} is an option of Parquet sources"):
        pipeline.read_csv("t", "t.csv", {"x": "int64"}, **{option: True})


def test_engines_are_compared_over_a_folder(tmp_path):
    (tmp_path / "good.parquet").write_bytes(gzip_file([1], [2]))
    (tmp_path / "bad.parquet").write_bytes(file_of([]))
    lines = []
    found = compare(
        sorted(tmp_path.glob("*")), "cudf-on-cpu", folder=tmp_path, out=lambda line, flush: lines.append(line)
    )
    assert [result for result, _ in found] == ["both refuse", "same"]
    assert lines[1] == "same         good.parquet: 2 rows, 1 columns"


@pytest.mark.gpu
def test_a_gpu_reads_hostile_files_as_pandas_does(tmp_path):
    """Each in a process that may crash: several gzip members, INT96, wrong levels of a list."""
    pytest.importorskip("rmm", reason="needs RMM and an NVIDIA GPU")
    files = {"members": gzip_file([1, 2], [3]), "old_times": int96((0, EPOCH + 2_932_896)), "group": file_of([])}
    for name, data in files.items():
        (tmp_path / f"{name}.parquet").write_bytes(data)
    found = compare(sorted(tmp_path.glob("*")), "cudf", folder=tmp_path)
    assert [result for result, _ in found] == ["both refuse", "same", "same"]


def test_text_in_lists_that_is_not_utf_8_is_reported_on_every_engine(tmp_path, local_engine):
    path, options = tmp_path / "t.parquet", {"use_dictionary": False, "compression": "none", "write_statistics": False}
    pq.write_table(pa.table({"x": [["ab"], None, [None, "cde"]]}), path, **options)
    path.write_bytes(path.read_bytes().replace(b"cde", b"c\xffe"))
    pipeline = Pipeline("p", root=tmp_path)
    pipeline.read_parquet("t", "t.parquet").stage("s")
    with pytest.raises(RunFailed, match=r"cannot read .*t\.parquet: a string is not UTF-8"):
        pipeline.run(engine=local_engine, keep=["s"])
