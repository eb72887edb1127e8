"""The options of workbooks: which cells of which sheet are the table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from gpuetl.format_options import (
    BOOLEAN,
    COUNT,
    STRINGS,
    BadOption,
    Form,
    FormatOptions,
    Plain,
    choice,
    option,
    scalar,
)
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

RANGE = re.compile(r"([A-Z]{1,3})([1-9][0-9]*)?:([A-Z]{1,3})([1-9][0-9]*)?")
MOST_ROWS = 1 << 20


class CellRange(NamedTuple):
    """Rows and columns of a sheet, counted from 0; the last ones are among them, None is the last of the sheet."""

    first_row: int = 0
    first_column: int = 0
    last_row: int | None = None
    last_column: int | None = None

    def __str__(self) -> str:
        """Return it as users write it."""
        if self == ALL_CELLS:
            return ""
        rows = (
            ("", "")
            if self.last_row is None and not self.first_row
            else (self.first_row + 1, (self.last_row or -1) + 1)
        )
        first, last = (str(row or "") for row in rows)
        return f"{letters(self.first_column)}{first}:{letters(self.last_column or 0)}{last}"


ALL_CELLS = CellRange()


def letters(column: int) -> str:
    """Return the letters of a column, counted from 0: A, B, … AA."""
    text, left = "", column + 1
    while left:
        left, letter = divmod(left - 1, 26)
        text = chr(ord("A") + letter) + text
    return text


def number_of(text: str) -> int:
    """Return the column of letters, counted from 0."""
    number = 0
    for letter in text:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def read_range(value: Plain) -> CellRange:
    """Read a range of cells, such as B3:F20, B3:F, or B:F."""
    text = str(scalar(value, str, "a range such as B3:F20")).upper().replace("$", "")
    found = RANGE.fullmatch(text)
    if not found:
        raise BadOption(f"takes a range such as B3:F20 or B:F, got '{value}'")
    first_row, last_row = int(found[2] or 1) - 1, int(found[4]) - 1 if found[4] else None
    first, last = number_of(found[1]), number_of(found[3])
    if last < first or (last_row is not None and last_row < first_row):
        raise BadOption(f"takes a range whose end follows its beginning, got '{value}'")
    return CellRange(first_row, first, last_row, last)


def read_sheet(value: Plain) -> str | int:
    """Read the name of a sheet, or its number from 1."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise BadOption(f"takes the name of a sheet, or its number from 1, got {value}")
        return value
    return str(scalar(value, str, "the name of a sheet, or its number from 1"))


SHEET: Form[str | int] = Form(
    "the name of a sheet, or its number from 1", read_sheet, schema={"type": ["string", "integer"], "minimum": 1}
)
RANGE_FORM: Form[CellRange] = Form("a range such as B3:F20", read_range, str, {"type": "string"})


@dataclass(frozen=True)
class ExcelOptions(FormatOptions):
    """Which cells are the table, and what cells mean that have no value."""

    sheet: str | int = option(SHEET, 1, "the name of the sheet, or its number from 1")
    range: CellRange = option(RANGE_FORM, ALL_CELLS, "the cells of the table, such as B3:F20 or B:F; by default all")
    skip_rows: int = option(COUNT, 0, "rows of the range before the header")
    header: bool = option(BOOLEAN, True, "the first row has the names of the columns; else they are A, B, …")
    nulls: tuple[str, ...] = option(STRINGS, (), "strings that stand for null, besides empty cells")
    error_cells: Literal["fail", "null"] = option(
        choice("fail", "null", null="null"), "fail", "what becomes of cells with an error, such as #N/A"
    )


def excel_options(dataset: Dataset) -> ExcelOptions:
    """Return the options of a source of workbooks."""
    return ExcelOptions.of(dataset.options)
