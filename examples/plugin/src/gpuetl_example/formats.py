"""A format: text files with columns of fixed width, as mainframes write them.

The first line has the names of the columns.  A column begins where its name does:

    id   city
    1    Paris
    22   New York
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from gpuetl.plugins import DataFile, DatasetError, Format, FormatOptions, Piece, opened


class FixedWidthFormat(Format):
    """Reads and writes such files.  All columns are strings, and a field of spaces is null."""

    name = "fixed_width"
    title = "fixed-width"
    suffixes = (".fixed",)
    holds_lists = False

    def stored(self, dataset: Any, file: DataFile) -> Mapping[str, pa.DataType]:
        """Return the columns of the header."""
        return dict.fromkeys(self.columns(self.lines(file)), pa.string())

    def pieces(self, dataset: Any, file: DataFile) -> Sequence[Piece]:
        """Return the file as one piece."""
        lines = self.lines(file)
        return [Piece(len(lines) - 1, {"": sum(map(len, lines))})]

    def read(self, dataset: Any, file: DataFile, pieces: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Cut the lines at the columns' places."""
        header, *lines = self.lines(file)
        places = self.columns([header])
        texts = {name: [line[places[name]].strip() or None for line in lines] for name in columns if name in places}
        return pa.table({name: pa.array(values, pa.string()) for name, values in texts.items()})

    def holds(self, dtype: pa.DataType) -> bool:
        """Write strings only."""
        return bool(pa.types.is_string(dtype))

    def write(self, table: pa.Table, path: Path, options: FormatOptions = FormatOptions()) -> None:  # noqa: B008
        """Write each column as wide as its longest value."""
        columns = {name: [name, *(value or "" for value in table[name].to_pylist())] for name in table.column_names}
        widths = {name: max(map(len, values)) + 1 for name, values in columns.items()}
        lines = ("".join(columns[name][row].ljust(widths[name]) for name in columns) for row in range(len(table) + 1))
        path.write_text("".join(f"{line.rstrip()}\n" for line in lines), encoding="utf-8")

    def columns_of(self, file: Any) -> list[str]:
        """Return the names in a written file's header."""
        return str(file.read_bytes().decode("utf-8").split("\n", 1)[0]).split()

    def lines(self, file: DataFile) -> list[str]:
        """Return the lines of a file."""
        with opened(file.path, file.state) as stream:  # on this machine or in a store; refused if it has changed
            lines = stream.read_bytes().decode("utf-8").splitlines()
        if not lines:
            raise DatasetError(f"{file.path} is empty", "The first line has the names of the columns.")
        return lines

    def columns(self, lines: list[str]) -> dict[str, slice]:
        """Return where each column stands in a line."""
        starts = [(found[0], found.start()) for found in re.finditer(r"\S+", lines[0])]
        ends = [*(start for _, start in starts[1:]), None]
        return {name: slice(start, end) for (name, start), end in zip(starts, ends, strict=True)}
