"""CSV files that are not as RFC 4180 has them: each is read by a documented rule, or refused with its line."""

import random
import re

import pytest

from gpuetl import Pipeline, RunFailed, RunOptions
from gpuetl.engines.pandas.io import csv_values
from gpuetl.formats import csv_quotes
from gpuetl.formats.csv_header import read_header
from gpuetl.formats.csv_options import CsvOptions, Dialect
from gpuetl.formats.csv_records import check_quotes
from gpuetl.formats.csv_tokens import record_end, split_fields
from gpuetl.io.data_file import DataFile
from gpuetl.places.file_state import DatasetError
from gpuetl.testing import assert_tables_equal
from messages import without_place
from tables import table

TYPES = {"x": "int64", "s": "string"}
STRINGS = {"x": "string", "s": "string"}


@pytest.fixture(params=[1 << 20, 64, 16], ids=["one-block", "blocks-of-64-bytes", "blocks-of-16-bytes"])
def block_bytes(request, monkeypatch):
    """Bytes that one thread parses at a time; smaller ones are enlarged for records that are longer."""
    monkeypatch.setattr(csv_values, "BLOCK_BYTES", request.param)
    monkeypatch.setattr(csv_values, "QUOTED_BLOCK_BYTES", csv_values.BLOCK_BYTES)
    monkeypatch.setattr(csv_quotes, "QUOTE_BLOCK_BYTES", request.param)
    return request.param


@pytest.fixture
def read(pipeline, block_bytes):
    """Reads the bytes of a CSV file, in partitions of 2 rows."""

    def rows(data, types=TYPES, engine="pandas", **keys):
        (pipeline.root / "s.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
        reads = Pipeline("reads", root=pipeline.root)
        reads.read_csv("s", "s.csv", types, **keys)
        return reads.run(engine=engine, keep=["s"], options=RunOptions(partition_rows=2))["s"].to_arrow()

    return rows


@pytest.fixture
def message(read, pipeline):
    """Returns the error of reading the bytes of a CSV file."""

    def error(data, types=TYPES, **keys):
        with pytest.raises(RunFailed) as caught:
            read(data, types, **keys)
        return without_place(str(caught.value)).replace(f"source 's': {pipeline.root}/", "")

    return error


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False], ids=["closed", "open"])
def test_lines_end_in_three_ways(read, end, last):
    text = end.join(["x,s", "1,a", '2,"b"', "", "3,c"]) + end * last
    assert read(text).to_pydict() == {"x": [1, 2, 3], "s": ["a", "b", "c"]}


def test_one_file_may_mix_line_ends(read):
    assert read('"x","s"\r1,a\n2,b\r\n3,c\r4,d').to_pydict() == {"x": [1, 2, 3, 4], "s": ["a", "b", "c", "d"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_empty_line_of_one_column_is_null(read, end):
    assert read(end.join(["x", "1", "", "2", "", ""]), {"x": "int64"}).to_pydict() == {"x": [1, None, 2, None]}


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
@pytest.mark.parametrize("mode", ["fail", "quarantine"])
def test_errors_name_lines_of_every_end(pipeline, read, message, end, mode):
    text = end.join(["x,s", '1,"a', 'b"', "2,c", "bad,d", ""])
    if mode == "fail":
        assert message(text).startswith("s.csv:5: column 'x': 'bad' is not a valid int64")
        return
    t = pipeline.read_csv("t", "s.csv", TYPES, on_bad_row="quarantine")
    (pipeline.root / "s.csv").write_bytes(text.encode())
    rejected = t.rejected.stage("r").origin
    assert pipeline.run(engine="pandas", keep=[rejected])[rejected].to_arrow().column("line").to_pylist() == [5]


def test_quoted_texts_keep_their_line_ends_wherever_a_block_ends(pipeline, monkeypatch):
    r"""Arrow drops the \n of a \r\n between two blocks, also in quotes."""
    (pipeline.root / "s.csv").write_bytes(b'x,s\r\n1,"a\r\nb"\r\n2,"c""\r\n"\r\n3,"\r\n\r\n"\r\n')
    pipeline.read_csv("s", "s.csv", TYPES)
    for block_bytes in range(2, 60):
        monkeypatch.setattr(csv_values, "BLOCK_BYTES", block_bytes)
        monkeypatch.setattr(csv_values, "QUOTED_BLOCK_BYTES", csv_values.BLOCK_BYTES)
        got = pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow()
        assert got.to_pydict() == {"x": [1, 2, 3], "s": ["a\r\nb", 'c"\r\n', "\r\n\r\n"]}


def test_a_text_keeps_its_line_end_at_a_block_of_the_usual_size(read, block_bytes):
    before = b"x,s\n1," + b"a" * ((1 << 20) - 9) + b"\n"
    got = read(before + b'2,"\r\nb"\r\n') if block_bytes == 1 << 20 else None
    assert got is None or got.column("s")[1].as_py() == "\r\nb"


AFTER = "text follows the closing quote of a field: "
HINT = "\nInside of a field in quotes, write a quote twice.  Or is a quote before it not closed?"


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        ('x,s\n1,"a"b\n', 2, '1,"a"b'),
        ('x,s\n1,a\n""b,c\n', 3, '""b,c'),
        ('x,s\n1,"a" \n', 2, '1,"a" '),
        ('x,s\n1,"a"""b\n', 2, '1,"a"""b'),
        ('x,s\r\n1,"a\r\n2,"b\r\n', 2, '1,"a…'),  # two rows as one
        ('x,s\n1,"5" pipe, "6" pipe"\n', 2, '1,"5" pipe, "6" pipe"'),
        ('x,s\n1,"a\n2,"b\n3,"c\n', 2, '"a…'),  # whose last quote is open, too
        ('x,"s"s\n1,a\n', 1, 'x,"s"s'),
    ],
)
def test_text_after_a_closing_quote_is_an_error_with_its_line(message, text, line, shown):
    assert message(text) == f"s.csv:{line}: {AFTER}{shown}{HINT}"


def test_every_engine_refuses_text_after_a_closing_quote(pipeline, engine):
    (pipeline.root / "s.csv").write_bytes(b'x,s\r1,a\r2,"b\r\n3,"c\r')
    pipeline.read_csv("s", "s.csv", TYPES)
    with pytest.raises(RunFailed, match=re.escape(f's.csv:3: {AFTER}2,"b…')):
        pipeline.run(engine=engine, keep=["s"])


def test_text_after_a_closing_quote_is_null_where_bad_values_are(read, pipeline):
    (pipeline.root / "s.csv").write_text('x,s\n1,"a"b\n"2"3,c\n4,d\n5,"e"f,g\n')
    pipeline.read_csv("s", "s.csv", TYPES, on_bad_row=None)
    run = pipeline.run(engine="pandas", keep=["s"])
    assert run["s"].to_arrow().to_pydict() == {"x": [1, None, 4, 5], "s": [None, "c", "d", None]}
    assert list(run.report.warnings) == [
        f"source 's': {pipeline.root}/s.csv: rows with text after a closing quote get nulls there: 3 "
        "(line 2, line 3, line 5); rows with too many fields lose the last ones: 1 (line 5)"
    ]


def test_text_after_a_closing_quote_is_set_aside(pipeline, check):
    (pipeline.root / "s.csv").write_text('x,s\n1,"a"b\n"2"3,"c"d\n4,"d"\n5,"e"f,g\nn,"\n6,"h\n')
    t = pipeline.read_csv("s", "s.csv", TYPES, on_bad_row="quarantine")
    rejected = {"line": "int64", "text": "string", "_rule": "string"}
    after = "text after the closing quote of field"
    expected = [
        (2, '1,"a"b', f"{after} 2"),
        (3, '"2"3,"c"d', f"{after} 1 and 2"),
        (5, '5,"e"f,g', f"{after} 2; 3 fields, expected 2"),
        (6, 'n,"\n6,"h', f"{after} 2; x: 'n' is not a valid int64"),
    ]
    check(t.rejected.select(*rejected), table(rejected, *expected))
    check(t, table(TYPES, (4, "d")))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('x,s\n5" pipe,1\n6"",2\n', ['5" pipe', '6""']),
        ('x,s\n "a",1\n', [' "a"']),
        ('x,s\n"""",1\n"""a""","b"\n', ['"', '"a"']),
        ('x,s\n"a,\n""b""",1\n7",2\n', ['a,\n"b"', '7"']),
    ],
)
def test_a_quote_inside_of_a_field_is_a_character(read, text, values):
    assert read(text, STRINGS).column("x").to_pylist() == values


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "empty; a CSV file begins with a line of column names"),
        (b"\xef\xbb\xbf", "empty; a CSV file begins with a line of column names"),
        (b"\n\r\n", "empty; a CSV file begins with a line of column names"),
        (b"\n\nx,s\n1,a\n", "line 1 is empty and should have the column names\nSkip the empty lines: skip_rows: 2."),
        (
            b"\r\nx,s\r\n1,a\r\n",
            "line 1 is empty and should have the column names\nSkip the empty lines: skip_rows: 1.",
        ),
        ("x,s\n1,a\n".encode("utf-16"), "the file is UTF-16 text, not UTF-8\nSet encoding: utf-16."),
        ("x,s\n1,a\n".encode("utf-16-be"), "the column names have NUL bytes, so the file is not text\nIs it UTF-16?"),
        (b"x,\xff\n", "the first line is not column names in UTF-8\nSave the file as UTF-8, or declare its encoding,"),
        (b"x,s," + b"y" * (1 << 20), "the first line has more than 1,048,576 bytes\nA CSV file begins with a line of"),
        (b'x,s,"' + b"y" * (1 << 20), "the quote that opens in line 1 is not closed."),
        (b",\n1,2\n", "there is no column 'x'."),
        (b"x,x,s\n1,2,a\n", "two columns are named 'x'\nRename one in the header."),
    ],
)
def test_a_header_that_is_none_is_an_error(message, data, expected):
    assert message(data).startswith(f"s.csv: {expected}")


@pytest.mark.parametrize("data", [b"\nx,s\n1,a\n", b"\r\nx,s\r\n1,a\r\n", b"\xef\xbb\xbf\nx,s\n1,a\n"])
def test_empty_lines_before_a_header_are_skipped_as_the_error_advises(pipeline, data):
    (pipeline.root / "s.csv").write_bytes(data)
    pipeline.read_csv("s", "s.csv", {"x": "int64", "s": "string"}, skip_rows=1)
    assert pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow().to_pylist() == [{"x": 1, "s": "a"}]


@pytest.mark.parametrize("data", [b"x,s", b"x,s\n", b"\xef\xbb\xbfx,s\r\n", b"x,s\r", b"x,s\r\n\r\n\n"])
def test_a_header_alone_is_zero_rows(read, data):
    assert read(data).num_rows == 0


def test_columns_without_a_name_and_repeated_ones_are_not_read(read):
    assert read("x,q,q,,s,\n1,2,3,4,a,\n").to_pydict() == {"x": [1], "s": ["a"]}


def test_a_name_in_quotes_may_have_lines_and_delimiters(read):
    assert read('"x\r\n""y"",",s\r\n1,a\r\n', {'x\r\n"y",': "int64"}).column(0).to_pylist() == [1]


def test_a_nul_byte_is_a_character(read, message):
    assert read(b"x,s\n1,a\0b\n2,\0\n").to_pydict() == {"x": [1, 2], "s": ["a\0b", "\0"]}
    assert message(b"x,s\n1\0,a\n").startswith("s.csv:2: column 'x': '1\\x00' is not a valid int64")


def test_bytes_that_are_not_utf_8_are_an_error_with_their_line(message):
    rows = b"".join(b"%d,a\n" % n for n in range(100))
    expected = "s.csv:102: column 's': 'a\ufffdb' is not a valid string, which is text in UTF-8\nSave the file as UTF-8, or declare its encoding."
    assert message(b"x,s\n" + rows + b"7,a\xffb\n" + rows).startswith(expected)


def test_a_field_of_blanks_is_not_null(read, message):
    assert read("x,s\n 1\t, \n,\n").to_pydict() == {"x": [1, None], "s": [" ", None]}
    assert message("x,s\n1,a\n \t,b\n").startswith("s.csv:3: column 'x': ' \\t' is not a valid int64")
    assert message("x,s\n1,a\n  \n").startswith("s.csv:3: 1 field, expected 2:   \n")


def test_a_line_of_many_blocks_is_read(pipeline):
    long = "y" * (5 << 20)
    (pipeline.root / "s.csv").write_text(f'x,s\n1,a\n2,"{long}"\n3,b\n')
    pipeline.read_csv("s", "s.csv", TYPES)
    got = pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow()
    assert got.column("x").to_pylist() == [1, 2, 3]
    assert got.column("s")[1].as_py() == long


@pytest.mark.parametrize(
    ("dtype", "values"),
    [("string", ["a", None, "", None]), ("int64", [None, 1, None]), ("string", [None]), ("string", [None, None, ""])],
)
def test_one_column_of_nulls_comes_back(source, pipeline, tmp_path, engine, dtype, values):
    expected = table({"x": dtype}, *((value,) for value in values))
    source(expected).write_csv("out", "out.csv")
    pipeline.run(engine=engine)
    again = Pipeline("again", root=tmp_path)
    again.read_csv("s", "out.csv", {"x": dtype})
    assert_tables_equal(again.run(engine=engine, keep=["s"])["s"].to_arrow(), expected, ordered=True)


def test_every_small_file_is_read_in_blocks_as_in_one(pipeline, monkeypatch):
    """Random files of the bytes that have a meaning: the same rows, or the same error."""
    draw = random.Random(23)

    def outcome():
        try:
            return pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow().to_pydict()
        except RunFailed as error:
            return str(error)

    pipeline.read_csv("s", "s.csv", {"x": "string", "y": "string"})
    pipeline.read_csv("one", "one.csv", {"x": "string"})
    for _ in range(80):
        body = "".join(draw.choices('a",\r\n', [4, 3, 3, 1, 3], k=draw.randrange(1, 30)))
        (pipeline.root / "s.csv").write_bytes(f"x,y\n{body}".encode())
        monkeypatch.setattr(csv_values, "BLOCK_BYTES", 1 << 20)
        monkeypatch.setattr(csv_values, "QUOTED_BLOCK_BYTES", csv_values.BLOCK_BYTES)
        monkeypatch.setattr(csv_quotes, "QUOTE_BLOCK_BYTES", 1 << 20)
        whole = outcome()
        monkeypatch.setattr(csv_values, "BLOCK_BYTES", draw.randrange(4, 12))
        monkeypatch.setattr(csv_values, "QUOTED_BLOCK_BYTES", csv_values.BLOCK_BYTES)
        monkeypatch.setattr(csv_quotes, "QUOTE_BLOCK_BYTES", draw.randrange(4, 12))
        assert outcome() == whole, body


def by_hand(text):
    """Parse quotes byte by byte: (the last quote is open, text follows a closing quote)."""
    state, after = "start", False
    for byte in text:
        char = chr(byte)
        ends = char in ",\r\n"
        if state == "quoted":
            state = "closed" if char == '"' else "quoted"
        elif state == "closed":
            after = after or not (ends or char == '"')
            state = "start" if ends else "quoted" if char == '"' else "plain"
        else:
            state = "start" if ends else "quoted" if char == '"' and state == "start" else "plain"
    return state == "quoted", after


@pytest.mark.parametrize("block_bytes", [3, 1 << 20])
def test_quotes_are_checked_as_a_parser_reads_them(tmp_path, monkeypatch, block_bytes):
    monkeypatch.setattr(csv_quotes, "QUOTE_BLOCK_BYTES", block_bytes)
    draw, path, seen = random.Random(7), tmp_path / "s.csv", set()
    for _ in range(500):
        text = bytes(draw.choices(b'a",\r\n', [2, 5, 3, 1, 2], k=draw.randrange(12)))
        is_open, after = by_hand(text)
        seen.add((is_open, after))
        if is_open:
            with pytest.raises(DatasetError, match=AFTER if after else "is not closed"):
                check_quotes(text, Dialect(), path)
        else:
            assert check_quotes(text, Dialect(), path) == (b'"' in text, after), text
    assert len(seen) == 4


def test_fields_are_split_at_the_delimiter():
    assert split_fields(b'a,"b,""c""\n",,"d"e,f"g', Dialect()) == [b"a", b'"b,""c""\n"', b"", b'"d"e', b'f"g']
    assert split_fields(b"^a^^", Dialect("^")) == [b"", b"a", b"", b""]
    assert record_end(b'a,"b\r\n"\r\nc', 0, Dialect()) == (7, 9)


def test_a_header_is_read_in_steps(tmp_path):
    names = tuple(f"name {n}" for n in range(5_000))
    for end, alone in ((",x\r\n", False), ("\r\n", True), ("", True)):
        (tmp_path / "s.csv").write_text(",".join(names) + "\r\n" * (not alone) + end, newline="")
        header = read_header(DataFile(tmp_path / "s.csv", {}), CsvOptions())
        assert (header.names, header.alone) == (names, alone)
