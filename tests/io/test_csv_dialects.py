"""CSV files of other dialects, encodings and compressions: the same rows on every engine."""

import bz2
import gzip

import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions
from gpuetl.formats import csv_pieces
from messages import without_place

TYPES = {"x": "int64", "s": "string"}
ROWS = {"x": [1, 2, None], "s": ["a", "ü;\n", None]}
TEXT = 'x,s\n1,a\n2,"ü;\n"\n,\n'


def zstd(data):
    """Return bytes as a Zstandard frame."""
    return pa.Codec("zstd").compress(data, asbytes=True)


PACKED = {"gz": gzip.compress, "zst": zstd, "bz2": bz2.compress}


@pytest.fixture(params=[1 << 24, 8], ids=["one-piece", "pieces-of-8-bytes"])
def piece_bytes(request, monkeypatch):
    """Bytes of a piece of a file."""
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", request.param)
    return request.param


@pytest.fixture
def read(pipeline, piece_bytes, engine):
    """Reads the bytes of a CSV file."""

    def rows(data, types=TYPES, name="s.csv", **keys):
        (pipeline.root / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        reads = Pipeline("reads", root=pipeline.root)
        reads.read_csv("s", name, types, **keys)
        return reads.run(engine=engine, keep=["s"], options=RunOptions(partition_rows=2))["s"].to_arrow().to_pydict()

    return rows


@pytest.fixture
def message(read, pipeline):
    """Returns the error of reading the bytes of a CSV file."""

    def error(*given, **keys):
        with pytest.raises((RunFailed, InvalidPipeline)) as caught:
            read(*given, **keys)
        return without_place(str(caught.value)).replace(f"source 's': {pipeline.root}/", "")

    return error


@pytest.mark.parametrize("suffix", list(PACKED))
def test_compressed_files_are_read_by_their_suffix(read, suffix):
    assert read(PACKED[suffix](TEXT.encode()), name=f"s.csv.{suffix}") == ROWS


@pytest.mark.parametrize(("suffix", "codec"), [("gz", "gzip"), ("zst", "zstd"), ("bz2", "bz2")])
def test_compressed_files_are_read_by_the_key(read, suffix, codec):
    assert read(PACKED[suffix](TEXT.encode()), name="s.data", compression=codec) == ROWS


@pytest.mark.parametrize("suffix", list(PACKED))
def test_archives_one_after_another_are_one_file(read, suffix):
    pack = PACKED[suffix]
    assert read(pack(TEXT[:9].encode()) + pack(TEXT[9:].encode()), name=f"s.csv.{suffix}") == ROWS


def test_a_folder_has_plain_and_compressed_files(pipeline, engine):
    lake = pipeline.root / "lake"
    lake.mkdir()
    (lake / "1.csv").write_text("x,s\n1,a\n")
    (lake / "2.csv.gz").write_bytes(gzip.compress(b"x,s\n2,b\n"))
    (lake / "3.csv.zst").write_bytes(zstd(b"x,s\n3,c\n"))
    (lake / "4.csv.bz2").write_bytes(bz2.compress(b"x,s\n4,d\n"))
    pipeline.read_csv("s", "lake", TYPES)
    got = pipeline.run(engine=engine, keep=["s"])["s"].to_arrow().to_pydict()
    assert got == {"x": [1, 2, 3, 4], "s": ["a", "b", "c", "d"]}


@pytest.mark.parametrize("suffix", list(PACKED))
def test_an_archive_that_is_cut_off_is_an_error(message, suffix):
    data = PACKED[suffix](("x,s\n" + "1,a\n" * 1000).encode())
    assert " data ends too early: it was cut off after line " in message(data[:-5], name=f"s.csv.{suffix}")


def test_an_archive_with_other_bytes_is_an_error(message):
    data = bytearray(gzip.compress(("x,s\n" + "1,a\n" * 1000).encode()))
    data[-6] ^= 0xFF
    assert message(bytes(data), name="s.csv.gz").startswith("s.csv.gz: the gzip data is damaged after line ")


def test_plain_text_with_the_suffix_of_an_archive_is_an_error(message):
    assert message(TEXT, name="s.csv.gz").startswith("s.csv.gz is not a gzip file\nSet compression: none")


def test_an_archive_without_its_suffix_names_the_key(message):
    assert message(gzip.compress(TEXT.encode())).startswith(
        "s.csv is a gzip file, not CSV text\nSet compression: gzip."
    )


@pytest.mark.parametrize(("encoding", "codec"), [
    ("utf-8", "utf-8"), ("utf-8", "utf-8-sig"), ("utf-8-sig", "utf-8-sig"), ("latin-1", "latin-1"), ("cp1252", "cp1252"),
    ("utf-16", "utf-16"),
])  # fmt: skip
def test_encodings(read, encoding, codec):
    assert read(TEXT.encode(codec), encoding=encoding) == ROWS
    assert read(gzip.compress(TEXT.encode(codec)), name="s.csv.gz", encoding=encoding) == ROWS


def test_bytes_that_an_encoding_does_not_have_make_bad_rows(read, message):
    data = b"x,s\n1,\x80\n2,\x81\n"
    assert message(data, encoding="cp1252").startswith("s.csv:3: column 's': '\ufffd' is not a valid string")
    assert read(data, encoding="cp1252", on_bad_row=None) == {"x": [1, 2], "s": ["€", None]}
    assert read(data, encoding="latin-1") == {"x": [1, 2], "s": ["\x80", "\x81"]}


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_needs_a_byte_order_mark(message, codec):
    found = message("x,s\n1,a\n".encode(codec), encoding="utf-16")
    assert "s.csv: the UTF-16 text does not begin with a byte order mark" in found


def test_half_a_pair_of_surrogates_makes_a_bad_row(message):
    data = "x,s\n1,a\n2,\ud800\n".encode("utf-16", "surrogatepass")
    assert message(data, encoding="utf-16").startswith("s.csv:3: column 's': ")


def test_a_file_without_a_header_takes_names_from_the_schema(read):
    assert read("1,a\n2,b\n", header=False) == {"x": [1, 2], "s": ["a", "b"]}
    assert read("\ufeff1,a\n2,b\n", header=False, skip_rows=1) == {"x": [2], "s": ["b"]}
    assert read("", header=False) == {"x": [], "s": []}


def test_a_file_without_a_header_has_as_many_fields_as_the_schema(message):
    assert message("1,a,9\n2,b\n", header=False).startswith("s.csv:1: 3 fields, expected 2: 1,a,9")


def test_rows_before_the_header_are_skipped(read, message):
    assert read('report "of\n\nx,s\n1,a\n', skip_rows=2) == {"x": [1], "s": ["a"]}
    assert message("report\nx,s\n1,a\nb,b\n", skip_rows=1).startswith("s.csv:4: column 'x': 'b' is not a valid int64")


def test_comments_are_no_rows(read, message):
    text = '# by "hand\nx,s\n#\n1,"a\n#b"\n# c,"\n2,#d\n#'
    assert read(text, comment="#") == {"x": [1, 2], "s": ["a\n#b", "#d"]}
    assert message(text.replace("2", "y"), comment="#").startswith("s.csv:7: column 'x': 'y' is not a valid int64")


def test_other_quotes(read):
    assert read("x,s\n1,'a,\"\n'''\n2,\"\n", quote="'") == {"x": [1, 2], "s": ["a,\"\n'", '"']}
    assert read('x,s\n1,"a\n2,"b"\n', quote=None) == {"x": [1, 2], "s": ['"a', '"b"']}


def test_escaped_characters(read):
    text = 'x,s\n1,"a\\"b\\\\"\n2,a\\,b\n3,a\\\nb\n4,\\"\n5,"c""d"\n'
    assert read(text, escape="\\") == {"x": [1, 2, 3, 4, 5], "s": ['a"b\\', "a,b", "a\nb", '"', 'c"d']}


def test_other_delimiters_and_nulls(read):
    assert read("x|s\nNA|NA\n2|\n", delimiter="|", nulls=["NA"]) == {"x": [None, 2], "s": [None, ""]}
    assert read("x,s\nNA,NA\n2,\n", nulls={"x": "NA"}) == {"x": [None, 2], "s": ["NA", None]}


NUMBERS = {"d": "decimal(10,2)", "f": "float64", "i": "int64"}


def test_numbers_with_other_marks(read):
    text = "d;f;i\n1.234,50;-1.234,5e1;1.234\n,5; 2 ;-7\n"
    got = read(text, NUMBERS, delimiter=";", decimal=",", thousands=".")
    assert [str(value) for value in got["d"]] == ["1234.50", "0.50"]
    assert (got["f"], got["i"]) == ([-12345.0, 2.0], [1234, -7])


@pytest.mark.parametrize("value", ["1.23,5", "12.34", "1,2,3", "1.2345", ".123", "1..234", "1,234.5"])
def test_marks_at_other_places_are_not_numbers(message, value):
    told = message(f"f\n{value}\n", {"f": "float64"}, delimiter=";", decimal=",", thousands=".")
    assert told.startswith(f"s.csv:2: column 'f': '{value}' is not a valid float64")


def test_a_point_is_not_a_decimal_comma(message):
    told = message("f\n1.5\n", {"f": "float64"}, delimiter=";", decimal=",")
    assert told.startswith("s.csv:2: column 'f': '1.5' is not a valid float64")


def test_formats_of_dates_and_timestamps(read, message):
    types = {"d": "date", "t": "timestamp"}
    keys = {"date_format": "%d.%m.%Y", "timestamp_format": {"t": "%d.%m.%Y %H:%M"}}
    got = read("d,t\n31.01.2024,31.01.2024 12:30\n,\n", types, **keys)
    assert [str(value) for value in got["d"]] == ["2024-01-31", "None"]
    assert [str(value) for value in got["t"]] == ["2024-01-31 12:30:00", "None"]
    told = message("d,t\n2024-01-31,\n", types, **keys)
    assert told.startswith("s.csv:2: column 'd': '2024-01-31' is not a valid date")


def test_a_zone_of_timestamps(read):
    got = read("t\n2024-01-31 12:30 +0100\n", {"t": "timestamp[UTC]"}, timestamp_format="%Y-%m-%d %H:%M %z")
    assert [value.isoformat() for value in got["t"]] == ["2024-01-31T11:30:00+00:00"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"quote": ","}, "quote and delimiter are the same character, ','"),
        ({"decimal": ",", "thousands": ","}, "decimal and thousands are the same character, ','"),
        ({"nulls": {"y": "NA"}}, "nulls: the source has no column 'y'"),
        ({"date_format": {"x": "%Y-%m-%d"}}, "date_format: column 'x' is int64"),
        ({"date_format": "%H"}, "date_format: "),
        ({"delimiter": "ü"}, "delimiter: takes one ASCII character, got 'ü'"),
        ({"encoding": "utf-7"}, "encoding: takes one of utf-8, utf-8-sig, latin-1, cp1252, utf-16, got 'utf-7'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(pipeline, keys, expected):
    (pipeline.root / "s.csv").write_text(TEXT)

    def plan():
        pipeline.read_csv("s", "s.csv", TYPES, **keys)
        pipeline.plan()

    with pytest.raises(InvalidPipeline) as caught:
        plan()
    assert expected in str(caught.value)


@pytest.mark.parametrize("mode", ["null", "quarantine"])
def test_rows_that_do_not_fit_are_found_in_any_dialect(pipeline, piece_bytes, engine, mode):
    text = "# c\nx;s\n'1';a\n2;b;3\n# d\n'4'\nbad;'e\n'\n5;f\n"
    (pipeline.root / "s.csv.gz").write_bytes(gzip.compress(text.encode("utf-16")))
    s = pipeline.read_csv(
        "s", "s.csv.gz", TYPES, delimiter=";", quote="'", comment="#", encoding="utf-16",
        on_bad_row=None if mode == "null" else mode,
    )  # fmt: skip
    if mode == "null":
        got = pipeline.run(engine=engine, keep=["s"])["s"].to_arrow().to_pydict()
        assert got == {"x": [1, 2, 4, None, 5], "s": ["a", "b", None, "e\n", "f"]}
        return
    rejected = s.rejected.stage("r").origin
    run = pipeline.run(engine=engine, keep=["s", rejected])
    assert run["s"].to_arrow().to_pydict() == {"x": [1, 5], "s": ["a", "f"]}
    got = run[rejected].to_arrow().select(["line", "text", "_rule"]).to_pydict()
    assert got == {
        "line": [4, 6, 7],
        "text": ["2;b;3", "'4'", "bad;'e\n'"],
        "_rule": ["3 fields, expected 2", "1 field, expected 2", "x: 'bad' is not a valid int64"],
    }


@pytest.mark.parametrize("suffix", list(PACKED))
def test_a_compressed_sink_comes_back(source, pipeline, tmp_path, engine, suffix):
    rows = pa.table({"x": [1, 2], "s": ["a", None]})
    source(rows).write_csv("out", f"out.csv.{suffix}")
    pipeline.run(engine=engine)
    again = Pipeline("again", root=tmp_path)
    again.read_csv("s", f"out.csv.{suffix}", TYPES)
    assert again.run(engine=engine, keep=["s"])["s"].to_arrow().to_pydict() == rows.to_pydict()


def test_a_folder_of_compressed_files_comes_back(source, pipeline, tmp_path, engine):
    rows = pa.table({"x": [1, 2], "s": ["a", None]})
    source(rows).write_csv("out", "out", compression="zstd")
    pipeline.run(engine=engine)
    assert [path.name.endswith(".csv.zst") for path in (tmp_path / "out").glob("part-*")] == [True]
    again = Pipeline("again", root=tmp_path)
    again.read_csv("s", "out", TYPES)
    assert again.run(engine=engine, keep=["s"])["s"].to_arrow().to_pydict() == rows.to_pydict()


def test_a_path_that_ends_otherwise_than_its_compression_is_refused(source, pipeline):
    source(pa.table({"x": [1]})).write_csv("out", "out.csv", compression="gzip")
    with pytest.raises(InvalidPipeline, match=r"the path ends in \.csv, and the files of this sink in \.csv\.gz"):
        pipeline.plan()


def test_a_sink_s_compression_may_have_a_level(source, pipeline, tmp_path):
    rows = pa.table({"x": list(range(1000))})
    source(rows).write_csv("out", "out", compression="gzip(9)")
    pipeline.run(engine="pandas")
    (path,) = (tmp_path / "out").glob("part-*.csv.gz")
    assert gzip.decompress(path.read_bytes()).decode().split() == ['"x"', *map(str, range(1000))]
