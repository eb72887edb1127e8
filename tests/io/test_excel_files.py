"""Workbooks: sheets, ranges, types of cells, errors that name the cell, on every engine."""

import base64
import datetime as dt
import sys
import zipfile
import zlib
from contextlib import suppress
from decimal import Decimal

import openpyxl
import pytest

import gpuetl as ge
from gpuetl.options import RunOptions

LAYOUTS = pytest.mark.parametrize("partition_rows", [2, None])
HEADER = ["k", "i", "x", "b", "d", "t"]
ROWS = [
    ["a", 1, 0.5, True, dt.date(2020, 1, 31), dt.datetime(2020, 1, 31, 12, 30)],
    [None, None, None, None, None, None],
    ["ü", -5, 2, False, dt.date(1999, 12, 31), dt.date(2020, 2, 1)],
]
EXPECTED = [
    {"k": "a", "i": 1, "x": 0.5, "b": True, "d": dt.date(2020, 1, 31), "t": dt.datetime(2020, 1, 31, 12, 30)},
    {"k": None, "i": None, "x": None, "b": None, "d": None, "t": None},
    {"k": "ü", "i": -5, "x": 2.0, "b": False, "d": dt.date(1999, 12, 31), "t": dt.datetime(2020, 2, 1)},
]


def write(path, *sheets):
    """Write a workbook; a sheet is its name and its rows."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets:
        sheet = workbook.create_sheet(name)
        for number, row in enumerate(rows, 1):
            for column, value in enumerate(row, 1):
                cell = sheet.cell(number, column)
                if isinstance(value, str) and value.startswith("#"):
                    cell.value, cell.data_type = value, "e"
                else:
                    cell.value = value
    workbook.save(path)


def load(folder, keys="", steps="{limit: 99}", name="t.xlsx"):
    text = f"gpuetl: 1\nname: p\nsources: {{t: {{excel: {name}{keys}}}}}\nstages: {{s: {{from: t, steps: [{steps}]}}}}"
    return ge.loads(text, folder)


def run(folder, keys="", steps="{limit: 99}", engine="pandas", partition_rows=None, name="t.xlsx"):
    """Return the rows of steps over the workbook."""
    done = load(folder, keys, steps, name).run(engine=engine, options=RunOptions(partition_rows=partition_rows))
    return done["s"].to_arrow().to_pylist()


def failure(folder, keys="", steps="{limit: 99}", engine="pandas", name="t.xlsx"):
    with pytest.raises(ge.GpuetlError) as caught:
        run(folder, keys, steps, engine, name=name)
    return str(caught.value)


@LAYOUTS
def test_cells_of_every_type_are_read(engine, tmp_path, partition_rows):
    write(tmp_path / "t.xlsx", ("S", [HEADER, *ROWS]))
    assert run(tmp_path, "", "{filter: k = k OR k IS NULL}", engine, partition_rows) == EXPECTED
    types = ", schema: {k: string, i: int16, x: 'decimal(5,2)', b: bool, d: date, t: timestamp}"
    rows = [{**row, "x": None if row["x"] is None else Decimal(str(row["x"]))} for row in EXPECTED]
    assert run(tmp_path, types, engine=engine, partition_rows=partition_rows) == rows
    assert run(tmp_path, "", "{aggregate: {columns: {n: count(*), i: sum(i)}}}", engine) == [{"n": 3, "i": -4}]


def test_empty_rows_at_the_end_are_left_out_and_others_are_rows(tmp_path):
    write(tmp_path / "t.xlsx", ("S", [["a", "b"], [1, "x"], [], [None, "y"], [None, None], ["", ""]]))
    assert run(tmp_path) == [{"a": 1, "b": "x"}, {"a": None, "b": None}, {"a": None, "b": "y"}]


TWO = (
    ("One", [["a"], [1]]),
    ("Two", [["note"], [], ["n", "a", "b", None], [None, 1, "x"], [None, 2, "y"], [None, 3, "z"]]),
)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", [{"a": 1}]),
        (", sheet: One", [{"a": 1}]),
        (", sheet: 2, range: 'B3:C5'", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        (
            ", sheet: Two, range: 'B:C', skip_rows: 2",
            [{"a": number, "b": text} for number, text in ((1, "x"), (2, "y"), (3, "z"))],
        ),
        (", sheet: Two, range: '$b$3:C', columns: [b]", [{"b": "x"}, {"b": "y"}, {"b": "z"}]),
        (", sheet: Two, range: 'B5:C6', header: false", [{"B": 2, "C": "y"}, {"B": 3, "C": "z"}]),
        (
            ", sheet: Two, skip_rows: 2",
            [{"n": None, "a": number, "b": text} for number, text in ((1, "x"), (2, "y"), (3, "z"))],
        ),
    ],
)
def test_sheets_and_ranges(engine, tmp_path, keys, expected):
    write(tmp_path / "t.xlsx", *TWO)
    assert run(tmp_path, keys, engine=engine) == expected


@pytest.mark.parametrize(
    ("rows", "keys", "message"),
    [
        ([["a"], [1], ["n/a"]], "", "sheet 'S', cell A3: the string 'n/a' in column 'a', and cell A2 has the number 1"),
        ([["a"], [1], [True]], "", "cell A3: the boolean True in column 'a', and cell A2 has the number 1"),
        ([["a"], [1], ["#N/A"]], "", "sheet 'S', cell A3 has the error #N/A"),
        ([["a"], [1], ["#DIV/0!"]], ", schema: {a: int64}", "sheet 'S', cell A3 has the error #DIV/0!"),
        ([["a"], [1], ["=1/0"]], "", "sheet 'S', cell A3 has a formula without a value"),
        ([["a"], [1.5]], ", schema: {a: int64}", "cell A2: the number 1.5 in column 'a' is not a valid int64"),
        ([["a"], [300]], ", schema: {a: int8}", "cell A2: the number 300 in column 'a' is not a valid int8"),
        ([["a"], [13]], ", schema: {a: string}", "cell A2: the number 13 in column 'a' is not a valid string"),
        ([["a"], ["1"]], ", schema: {a: int64}", "cell A2: the string '1' in column 'a' is not a valid int64"),
        (
            [["a"], [1.005]],
            ", schema: {a: 'decimal(5,2)'}",
            "cell A2: the number 1.005 in column 'a' is not a valid decimal(5,2)",
        ),
        ([["a"], [dt.datetime(2020, 1, 1, 5)]], ", schema: {a: date}", "in column 'a' is not a valid date"),
        ([["a", "a"], [1, 2]], "", "cell B1: two columns are named 'a'"),
        ([["a", None], [1, 2]], "", "cell B1: the column has no name"),
        ([["a", True], [1, 2]], "", "cell B1: the boolean True is not a column's name"),
        ([["a"], [1]], ", sheet: T", "has no sheet 'T'"),
        ([["a"], [1]], ", sheet: 2", "has 1 sheet, and the source reads number 2"),
        ([["a"], [1]], ", skip_rows: 5", "sheet 'S' has no row where the header is to be"),
        ([["a"], [1]], ", schema: {b: int64}", "has no column 'b'"),
    ],
)
def test_cells_that_do_not_fit_are_named(tmp_path, rows, keys, message):
    write(tmp_path / "t.xlsx", ("S", rows))
    assert message in failure(tmp_path, keys)


@pytest.mark.parametrize("keys", [", sheet: 0", ", range: B3", ", range: 'C3:B4'", ", range: 3"])
def test_options_that_cannot_be_are_refused(tmp_path, keys):
    with pytest.raises(ge.InvalidPipeline, match="takes"):
        load(tmp_path, keys).plan()


def test_strings_for_null_and_errors_as_null(engine, tmp_path):
    write(tmp_path / "t.xlsx", ("S", [["a", "b"], [1, "#N/A"], ["-", 2], ["n/a", "#REF!"]]))
    rows = run(tmp_path, ", nulls: ['-', n/a], error_cells: 'null'", engine=engine)
    assert rows == [{"a": 1, "b": None}, {"a": None, "b": 2}, {"a": None, "b": None}]


def test_an_error_outside_of_the_range_is_no_matter(tmp_path):
    write(tmp_path / "t.xlsx", ("S", [["a", "b"], [1, "#N/A"]]))
    assert run(tmp_path, ", range: 'A:A'") == [{"a": 1}]


def test_numbers_as_names_of_columns(tmp_path):
    write(tmp_path / "t.xlsx", ("S", [["k", 2024, 2025], ["x", 1, 2]]))
    assert run(tmp_path) == [{"k": "x", "2024": 1, "2025": 2}]


def test_a_failing_row_is_named_as_in_the_spreadsheet(engine, tmp_path):
    write(tmp_path / "t.xlsx", ("S", [["k", "n"], ["a", 1], ["b", 2]]))
    message = failure(tmp_path, "", "{filter: n = 2}, {with_columns: {y: CAST(k AS int64)}}", engine)
    assert f"Row 3 of sheet 'S' of {tmp_path}/t.xlsx" in message


def test_types_of_later_files_must_fit(tmp_path):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "1.xlsx", ("S", [["a"], [1]]))
    write(tmp_path / "in" / "2.xlsx", ("S", [["a"], [1.5]]))
    assert "2.xlsx: column 'a' is float64, and the source says int64" in failure(tmp_path, name="in")
    assert run(tmp_path, ", schema: {a: float64}", name="in") == [{"a": 1.0}, {"a": 1.5}]


ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.3"><office:body><office:spreadsheet><table:table table:name="S">
<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>d</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="float" office:value="1.5"><text:p>1.5</text:p></table:table-cell>
<table:table-cell office:value-type="date" office:date-value="2020-01-31"><text:p>31.1.</text:p></table:table-cell>
</table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell></table:table-row>
</table:table></office:spreadsheet></office:body></office:document-content>"""


def test_open_document(engine, tmp_path):
    for text in ("#N/A", "Err:502"):
        with zipfile.ZipFile(tmp_path / "t.ods", "w") as file:
            file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            file.writestr("META-INF/manifest.xml", "<manifest/>")
            file.writestr("content.xml", ODS.format(text).replace(">\n<", "><"))
        assert f"sheet 'S', cell A3 has the error {text}" in failure(tmp_path, name="t.ods")
    rows = run(tmp_path, ", error_cells: 'null', schema: {a: float64}", engine=engine, name="t.ods")
    assert rows == [{"a": 1.5}, {"a": None}]


OLD = zlib.decompress(base64.b85decode(
    'c-rk)O=uHA6#iz-&nC9Xrlvxxlu)p0Y!BkaOS>x7o>Hp^{}8k>IY>$>!HZt3)*J=Flj5aN4<4*~@dp+3=0T|FK@fyQkDdet4{6r-'
    '-tKBrD>R^m%6!XvGxKJ?nYZ)v_UH9{qB3*8yNX2^!Wz__2to}uMH2A~7O38FIP0e-iKDTq5HV>XLqR-ge--96<n^w?z`ei=(!fWO'
    '<2ZxS$zndWg4iQIj4SqGkhH>0vc%9OUUi5*C3>CcyVCNh=v`vDB6^V8R@5=f+oS27-Y!03^h#X}-0wr-ycf%MbmArN;tN-m+ct>Z'
    'rPJdRtE{3Y(1uyif{x^i`4X4oxP>TilrWIV3=9ufkfg<)#WyDfeDzQD^OUx)tX+ZZ-<$2>KiExL#Krb&MgW+Cb5agT8Ee4?Q25?I'
    'k*i@NZ3&3b4k?fnNpd7Ll5CVCx<ml0DFU?1$!H^;LtOF+IUg3eP`mx*O(r{LpAgHGM1A+!ut`RCaFH2Aj=^=r*J)vF6Mac~-5~jH'
    '(Mj@>(!Q}yFSBo2+FX{}J{o6-;H|y6A-{$4<<AEm^^`x^TPZ&`QazuXduPv}m!4HQ;`23)e$}sTTxUGC{Zx5z<b&w0-(resSf1~W'
    '_W+Dzflm=3A=)kR?5Lk5!<#E+t0mY<*gPN4XnZB?ki@h@cMM`O&yaqad4}+KhJ%Lbtw~x9869}QRTTApAqou*4Gj$q4Gj&ArJ&?Z'
    '(|tb=cwY+qHX8Q+>nxDe^>32@76&m&*ID|g+>0WmC7f$%|Exz)`F*Kna{T{=jKef~2?b=uk3!4)m%iXs<NYj~X#Kq-)av;4R{Z?O'
    '<NpB1EzRB'
))  # fmt: skip
"""An .xls file by xlwt: a header, a row, and a row whose second cell is #N/A and whose third is empty."""


def test_a_workbook_of_the_old_kind(engine, tmp_path):
    (tmp_path / "t.xls").write_bytes(OLD)
    rows = run(tmp_path, ", error_cells: 'null', sheet: Old", engine=engine, name="t.xls")
    assert rows == [{"k": "ü", "n": 1, "d": dt.date(2020, 1, 31)}, {"k": "b", "n": None, "d": None}]
    assert "sheet 'Old', cell B3 has the error #N/A" in failure(tmp_path, engine=engine, name="t.xls")
    rows = run(tmp_path, ", range: 'A1:C2'", engine=engine, name="t.xls")
    assert rows == [{"k": "ü", "n": 1, "d": dt.date(2020, 1, 31)}]


def test_damaged_workbooks_of_the_old_kind_are_errors(tmp_path):
    for start in range(0, len(OLD), 97):
        (tmp_path / "t.xls").write_bytes(OLD[:start] + b"\xff" * 7 + OLD[start + 7 :])
        with suppress(ge.GpuetlError):
            assert len(run(tmp_path, name="t.xls")) <= 3


def test_damaged_and_other_files(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"no workbook")
    assert "t.xlsx is not a valid workbook" in failure(tmp_path)
    for name in ("t.xls", "t.xlsb"):
        (tmp_path / name).write_bytes(b"no workbook")
        assert f"{name} is not a valid workbook" in failure(tmp_path, name=name)


def test_without_the_package_the_message_has_the_command(tmp_path, monkeypatch):
    write(tmp_path / "t.xlsx", ("S", [["a"], [1]]))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert 'Install it: pip install "gpuetl[excel]".' in failure(tmp_path)


def test_options_are_written_as_they_are_read(tmp_path):
    write(tmp_path / "t.xlsx", *TWO)
    pipeline = ge.Pipeline("p", root=tmp_path)
    pipeline.read_excel("t", "t.xlsx", sheet="Two", range="B3:C5", nulls=["-"]).stage("s")
    assert pipeline.run(engine="pandas")["s"].to_arrow().to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    again = ge.loads(pipeline.to_yaml(), tmp_path)
    assert again.spec.sources == pipeline.spec.sources
