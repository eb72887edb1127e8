"""The cells of one sheet of a workbook, by python-calamine, and those cells that it reads as empty and that are not."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

from gpuetl.errors import have_hint
from gpuetl.formats.excel_options import CellRange, ExcelOptions, letters, number_of
from gpuetl.formats.extra_packages import extra_package
from gpuetl.formats.xls_errors import xls_errors
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass

Cell = Any
"""A string, a number, a boolean, a date, a time, a timestamp or a duration; an empty string where there is none."""
XLSX, ODS = (".xlsx", ".xlsm"), (".ods",)
CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.DOTALL)
PLACE = re.compile(rb'\br="([A-Z]+)([0-9]+)"')
VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>([^<]+)</")
FORMULA = re.compile(rb"<(?:\w+:)?f\b")
ODS_ERRORS = re.compile(r"#(?:N/A|DIV/0!|REF!|NAME\?|NULL!|NUM!|VALUE!)|Err:[0-9]+")
NO_VALUE = "a formula without a value"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class Place(NamedTuple):
    """Where a cell is in its sheet, counted from 0."""

    row: int
    column: int

    def __str__(self) -> str:
        """Return it as spreadsheets write it: B7."""
        return f"{letters(self.column)}{self.row + 1}"


@dataclass(frozen=True)
class Grid:
    """The cells of a range, row by row from `first` on, without empty rows at the end; and those with an error.

    Errors are by place, with what they are.
    """

    path: FilePath
    sheet: str
    first: Place
    rows: list[list[Cell]]
    errors: Mapping[Place, str]

    def place(self, row: int, column: int) -> Place:
        """Return where a cell of the range is."""
        return Place(self.first.row + row, self.first.column + column)

    def named(self, row: int, column: int) -> str:
        """Name a cell of the range with its file and sheet."""
        return f"{self.path}: sheet '{self.sheet}', cell {self.place(row, column)}"


def read_grid(source: OpenFile, options: ExcelOptions) -> Grid:
    """Read the cells of the table.

    Raises
    ------
    DatasetError
        For a workbook that cannot be read, a sheet that is not there, a formula whose value was never saved, and for an
        error in a cell, where the source does not allow them.
    """
    calamine = extra_package("python_calamine", "python-calamine", "excel", "workbooks")
    data, path = source.read_bytes(), source.path
    name = path.name.lower()
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheet = sheet_name(workbook.sheet_names, options, path)
        cells = workbook.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
        errors = xlsx_errors(data, sheet) if name.endswith(XLSX) else {}
        if not name.endswith((*XLSX, *ODS)) and options.error_cells == "fail":
            errors = old_errors(data, sheet, path)
    except calamine.PasswordError:
        raise DatasetError(coded("GE1403", f"{path} has a password"), "Save it without one.") from None
    except (calamine.CalamineError, zipfile.BadZipFile, ElementTree.ParseError, KeyError, ValueError) as error:
        if isinstance(error, DatasetError):
            raise
        reason = " ".join(str(error).split())
        raise DatasetError(
            coded("GE1403", f"{path} is not a valid workbook: {reason}"), "Save it again, or take it out of the path."
        ) from None
    if name.endswith(ODS):
        errors = ods_errors(cells)
    return cut(Grid(path, sheet, Place(0, 0), cells, errors), options)


def sheet_name(names: list[str], options: ExcelOptions, path: FilePath) -> str:
    """Return the name of the sheet."""
    if isinstance(options.sheet, int):
        if options.sheet <= len(names):
            return names[options.sheet - 1]
        count = "1 sheet" if len(names) == 1 else f"{len(names)} sheets"
        raise DatasetError(coded("GE1434", f"{path} has {count}, and the source reads number {options.sheet}"))
    if options.sheet not in names:
        message = coded("GE1434", f"{path} has no sheet '{options.sheet}'")
        raise DatasetError(message, have_hint(options.sheet, names, noun="Sheets"))
    return options.sheet


def cut(grid: Grid, options: ExcelOptions) -> Grid:
    """Return the cells of the range, after the rows that are skipped, without empty rows at the end."""
    area = options.range
    top, left = area.first_row + options.skip_rows, area.first_column
    bottom = None if area.last_row is None else area.last_row + 1
    right = None if area.last_column is None else area.last_column + 1
    rows = [row[left:right] for row in grid.rows[top:bottom]]
    first, inside = Place(top, left), {p: text for p, text in grid.errors.items() if holds(area, top, p)}
    last = max((place.row - top + 1 for place in inside), default=0)
    rows += [[] for _ in range(last - len(rows))]
    while len(rows) > last and not any(cell != "" for cell in rows[-1]):
        rows.pop()
    found = Grid(grid.path, grid.sheet, first, rows, inside)
    for place, text in sorted(inside.items()):
        if text == NO_VALUE or options.error_cells == "fail":
            hint = "Correct the cell, or set error_cells: null."
            if text == NO_VALUE:
                hint = "Open the workbook in a spreadsheet program, which computes its formulas, and save it."
            what = f"has {text}" if text == NO_VALUE else f"has the error {text}"
            raise DatasetError(coded("GE1434", f"{grid.path}: sheet '{grid.sheet}', cell {place} {what}"), hint)
    return found


def holds(area: CellRange, top: int, place: Place) -> bool:
    """Tell whether a range has a cell, from a row on."""
    last_row = area.last_row is None or place.row <= area.last_row
    last_column = area.last_column is None or place.column <= area.last_column
    return place.row >= top and place.column >= area.first_column and last_row and last_column


def xlsx_errors(data: bytes, sheet: str) -> dict[Place, str]:
    """Return the cells with an error, and formulas without a value: calamine reads both as empty."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        text = file.read(part_of(file, sheet))
    errors = dict[Place, str]()
    for cell in CELL.finditer(text):
        attributes, content = cell[1], cell[2] or b""
        value, place = VALUE.search(content), PLACE.search(attributes)
        where = Place(int(place[2]) - 1, number_of(place[1].decode())) if place else Place(0, 0)
        if b't="e"' in attributes:
            errors[where] = value[1].decode() if value else "#N/A"
        elif FORMULA.search(content) and value is None and b't="str"' not in attributes:
            errors[where] = NO_VALUE
    return errors


def old_errors(data: bytes, sheet: str, path: FilePath) -> dict[Place, str]:
    """Return the cells with an error of an .xls workbook.

    Raises
    ------
    DatasetError
        For .xlsb, and for an .xls workbook of another layout.
    """
    try:
        return {Place(*place): error for place, error in xls_errors(data, sheet).items()}
    except ValueError:
        hint = "Set error_cells: null, or save the workbook as .xlsx."
        message = f"{path}: errors in cells of this workbook, such as #N/A, cannot be told from empty cells"
        raise DatasetError(coded("GE1434", message), hint) from None


def part_of(file: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of the part of a workbook that holds a sheet."""
    sheets = ElementTree.fromstring(file.read("xl/workbook.xml")).iter()
    relation = next(each.get(RELATION) for each in sheets if each.tag.endswith("}sheet") and each.get("name") == sheet)
    relations = ElementTree.fromstring(file.read("xl/_rels/workbook.xml.rels"))
    target = next(str(each.get("Target")) for each in relations if each.get("Id") == relation)
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def ods_errors(cells: list[list[Cell]]) -> dict[Place, str]:
    """Return the cells whose text is that of an error, which OpenDocument stores as strings."""
    return {
        Place(row, column): cell
        for row, own in enumerate(cells)
        for column, cell in enumerate(own)
        if isinstance(cell, str) and ODS_ERRORS.fullmatch(cell)
    }
