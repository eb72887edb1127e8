"""Workbooks: one sheet, or a range of it, is a table; the types of its cells must be those of their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gpuetl.errors import system_reason
from gpuetl.formats.excel_cells import Cell, Grid, read_grid
from gpuetl.formats.excel_options import ExcelOptions, excel_options, letters
from gpuetl.formats.format import Format, Piece
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.open_file import opened
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    TIMESTAMP,
    DataType,
    integer_fits,
    is_floating,
    is_integer,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

TIME = pa.time64("us")
EXACT_INTEGERS = 1 << 53
"""Up to which the numbers of a workbook, which are floats, hold every integer."""


@dataclass(frozen=True)
class SheetTable:
    """The columns of a sheet by name, with their place in the grid; rows begin at `start`, counted from 0."""

    grid: Grid
    columns: Mapping[str, int]
    start: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return max(0, len(self.grid.rows) - self.start)

    def cells(self, name: str, nulls: Sequence[str]) -> list[Cell]:
        """Return the cells of a column; None where one is empty, has an error, or stands for null."""
        column, grid, missing = self.columns[name], self.grid, ("", *nulls)
        found = [row[column] if column < len(row) else "" for row in grid.rows[self.start :]]
        values = [None if isinstance(cell, str) and cell in missing else cell for cell in found]
        for place in grid.errors:
            if place.column == grid.first.column + column and place.row >= grid.first.row + self.start:
                values[place.row - grid.first.row - self.start] = None
        return values


class Sheets(dict[FilePath, Mapping[str, DataType]]):
    """The columns of workbooks, and the table that was read last: planning and reading parse a workbook once."""

    last: tuple[FilePath, SheetTable] | None = None


class ExcelFormat(Format):
    """Workbooks of Excel and of OpenDocument.  gpuetl does not write them."""

    name = "excel"
    title = "Excel"
    suffixes = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
    read_options = ExcelOptions
    infers_columns = True
    holds_lists = False
    writes = False

    def metadata(self) -> Sheets:
        """Return the columns."""
        return Sheets()

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the columns of the header; a declared type is that in which cells are read."""
        known = sheets_of(dataset)
        if file.path not in known:
            table, nulls = sheet_table(dataset, file), excel_options(dataset).nulls
            declared = dataset.declared
            known[file.path] = {
                name: declared[name] if name in declared else column_type(table, name, table.cells(name, nulls))
                for name in table.columns
                if not declared or name in declared or dataset.refuses_extra or dataset.extra_columns == "add"
            }
        return known[file.path]

    def inferred_from(self, dataset: Dataset) -> str:
        """Return which cells were looked at."""
        return "" if dataset.declared or not dataset.files else f"the cells of {dataset.files[0].path}"

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the sheet as one piece."""
        return [Piece(sheet_table(dataset, file).rows, {"": file.state.size if file.state else 0})]

    def row_name(self, dataset: Dataset, group: RowGroup, row: int) -> str:
        """Name a row as the spreadsheet numbers it."""
        table = sheet_table(dataset, group.file)
        number = table.grid.first.row + table.start + row
        return f"Row {number} of sheet '{table.grid.sheet}' of {group.file.path}"

    def read(self, dataset: Dataset, file: DataFile, pieces: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Read columns of the sheet in the types that they have in the source.

        Raises
        ------
        DatasetError
            For a cell of another type, with its place.
        """
        table, options, types = sheet_table(dataset, file), excel_options(dataset), dataset.own_schema
        names = [name for name in columns if name in table.columns]
        if not names:
            return pa.table({":row": pa.nulls(table.rows)})
        return pa.table({name: read_column(table, name, types[name], options.nulls) for name in names})


def sheets_of(dataset: Dataset) -> Sheets:
    """Return what is known of the workbooks of a source."""
    known = dataset.metadata
    assert isinstance(known, Sheets)
    return known


def sheet_table(dataset: Dataset, file: DataFile) -> SheetTable:
    """Return the table of a workbook, which is read unless it was the last one.

    Raises
    ------
    DatasetError
        For a workbook that cannot be read, and for a header without names.
    """
    known, options = sheets_of(dataset), excel_options(dataset)
    if known.last is None or known.last[0] != file.path:
        try:
            with opened(file.path, file.state) as source:
                grid = read_grid(source, options)
        except OSError as error:
            reason = system_reason(error) or error
            raise DatasetError(coded("GE1403", f"cannot read {file.path}: {reason}")) from None
        known.last = (file.path, headed(grid, options.header))
    return known.last[1]


def headed(grid: Grid, header: bool) -> SheetTable:
    """Return a grid with the names of its columns: those of its first row, or letters.

    Columns without a name and without a cell are left out.

    Raises
    ------
    DatasetError
        For a column without a name that has cells, and for names that stand twice or are no strings.
    """
    width = max(map(len, grid.rows), default=0)
    if not header:
        return SheetTable(grid, {letters(grid.first.column + column): column for column in range(width)}, 0)
    if not grid.rows:
        message = f"{grid.path}: sheet '{grid.sheet}' has no row where the header is to be"
        raise DatasetError(coded("GE1414", message), "Correct sheet, range or skip_rows.")
    names = dict[str, int]()
    for column in range(width):
        cell = grid.rows[0][column] if column < len(grid.rows[0]) else ""
        if cell == "":
            if any(column < len(row) and row[column] != "" for row in grid.rows[1:]):
                hint = "Name it, or leave it out by a range."
                raise DatasetError(coded("GE1414", f"{grid.named(0, column)}: the column has no name"), hint)
            continue
        name = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else cell
        if not isinstance(name, str):
            hint = "Name it, or set header: false."
            raise DatasetError(coded("GE1414", f"{grid.named(0, column)}: {worded(cell)} is not a column's name"), hint)
        if name in names:
            message = f"{grid.named(0, column)}: two columns are named '{name}'"
            raise DatasetError(coded("GE1412", message), "Rename one in the header.")
        names[name] = column
    return SheetTable(grid, names, 1)


# Types of cells.


def kind_of(cell: Cell) -> DataType:
    """Return the type of a cell; that of all numbers is float64."""
    kinds = ((bool, BOOL), (datetime, TIMESTAMP), (date, DATE), (time, TIME), (timedelta, DURATION), (str, STRING))
    return next((dtype for kind, dtype in kinds if isinstance(cell, kind)), FLOAT64)


def worded(cell: Cell) -> str:
    """Return a cell in words, such as "the string 'n/a'"."""
    nouns = {BOOL: "boolean", TIMESTAMP: "time", DATE: "date", TIME: "time of day", DURATION: "duration"}
    if isinstance(cell, str):
        return f"the string '{cell}'"
    shown = f"{cell:g}" if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e6 else str(cell)
    return f"the {nouns.get(kind_of(cell), 'number')} {shown}"


def column_type(table: SheetTable, name: str, cells: Sequence[Cell]) -> DataType:
    """Return the type of a column without a declared one.

    Numbers are int64 where all of them are whole.  Dates next to timestamps are timestamps.

    Raises
    ------
    DatasetError
        For cells of several types, with one of each.
    """
    first = dict[DataType, int]()
    for row, cell in enumerate(cells):
        if cell is not None:
            first.setdefault(kind_of(cell), row)
    kinds = list(first)
    if set(kinds) == {DATE, TIMESTAMP}:
        return TIMESTAMP
    if len(kinds) > 1:
        one, other = (first[kind] for kind in kinds[:2])
        where = table.grid.named(other + table.start, table.columns[name])
        before = table.grid.place(one + table.start, table.columns[name])
        message = f"{where}: {worded(cells[other])} in column '{name}', and cell {before} has {worded(cells[one])}"
        strings = [cells[row] for kind, row in first.items() if kind == STRING]
        hint = f"If '{strings[0]}' stands for null, add it to the source's nulls.  " if strings else ""
        raise DatasetError(coded("GE1406", message), f"{hint}Give all cells of the column one type.")
    if kinds == [FLOAT64]:
        return INT64 if all(cell is None or whole(cell) for cell in cells) else FLOAT64
    return kinds[0] if kinds else NULL


def whole(cell: Cell) -> bool:
    """Tell whether a number is an integer, so small that no other one is stored as the same float."""
    return float(cell).is_integer() and abs(cell) <= EXACT_INTEGERS


def read_column(table: SheetTable, name: str, dtype: DataType, nulls: Sequence[str]) -> pa.Array:
    """Return the cells of a column in a type.

    Raises
    ------
    DatasetError
        For a cell of another type.
    """
    convert, values = converter(dtype), list[Any]()
    for row, cell in enumerate(table.cells(name, nulls)):
        value = None if cell is None else convert(cell)
        if cell is not None and value is None:
            where = table.grid.named(row + table.start, table.columns[name])
            message = f"{where}: {worded(cell)} in column '{name}' is not a valid {type_name(dtype)}"
            strings = "If it stands for null, add it to the source's nulls.  " if isinstance(cell, str) else ""
            hint = f"{strings}Change the cell, or the type in the source's schema."
            raise DatasetError(coded("GE1410", message), hint)
        values.append(value)
    return pa.array(values, dtype)


def converter(dtype: DataType) -> Callable[[Cell], Any]:
    """Return what gives the value of a cell in a type, None where it is none."""
    if is_integer(dtype):
        return lambda cell: int(cell) if is_number(cell) and whole(cell) and integer_fits(int(cell), dtype) else None
    if is_floating(dtype):
        return lambda cell: float(cell) if is_number(cell) else None
    if is_decimal(dtype):
        return lambda cell: decimal_of(cell, dtype) if is_number(cell) else None
    if pa.types.is_timestamp(dtype) and dtype.tz is None:
        return lambda cell: datetime(*cell.timetuple()[:6]) if kind_of(cell) == DATE else only(cell, TIMESTAMP)
    return lambda cell: only(cell, dtype)


def only(cell: Cell, dtype: DataType) -> Cell | None:
    """Return a cell of a type; None for any other."""
    return cell if kind_of(cell) == dtype else None


def is_number(cell: Cell) -> bool:
    """Tell whether a cell is a number."""
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def decimal_of(cell: float, dtype: DataType) -> Decimal | None:
    """Return the decimal that a spreadsheet shows for a number; None where the type has fewer digits."""
    number = Decimal(repr(cell)) if isinstance(cell, float) else Decimal(cell)
    sign, digits, exponent = number.as_tuple()
    shift = int(exponent) + dtype.scale
    unscaled = int("".join(map(str, digits)))
    unscaled, rest = (unscaled * 10**shift, 0) if shift >= 0 else divmod(unscaled, 10**-shift)
    if rest or unscaled >= 10**dtype.precision:
        return None
    return Decimal((sign, tuple(map(int, str(unscaled))), -dtype.scale))
