"""Fields of CSV text in device memory, and their values as they are written.

Whether a separator stands in quotes is known by the number of quotes before it.  So quotes are counted first, tile by
tile, as simdjson and DuckDB's parallel reader of CSV files do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuetl.engines.cudf.columns.arrays import iota, scan
from gpuetl.engines.cudf.columns.validity import with_valid
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.formats.csv_options import CsvOptions
from gpuetl.types.data_types import STRING

PROGRAM = "csv"
TILE = 64
"""Bytes that a thread looks at, as in device/closed/csv.cu."""


class DeviceText(NamedTuple):
    r"""Text in device memory that begins where a record does.

    `is_last` says that its last record ends with it; else the last record may go on in what follows the text.  A last
    text ends with \n.
    """

    data: Array
    is_last: bool


class Fields(NamedTuple):
    """The fields of the whole records of a text: where they end (int32); all records have as many.

    `size` counts the bytes of these records.
    """

    text: Array
    ends: Array
    columns: int
    rows: int
    quote: int
    size: int

    @classmethod
    def of(cls, text: DeviceText, options: CsvOptions, columns: int, machine: Machine) -> Fields | None:
        r"""Find the fields of a text.

        Return None where records have other numbers of fields, where a quote or a \r stands at an irregular place, and
        for a text without a whole record.
        """
        data, size, arrays, module = text.data, len(text.data), machine.arrays, machine.closed(PROGRAM)
        tiles = size // TILE + 2  # the first one may have a single byte
        quote, before = ord(options.quote) if options.quote else -1, None
        counts = arrays.empty(tiles, "uint8")
        if quote >= 0:
            total = arrays.zeros(1, "uint64")
            machine.launch(module, "count_quotes", tiles, [tiles, size, quote, data, counts, total])
            quotes = int(total[0])
            if text.is_last and quotes % 2:
                return None
            quote, before = (quote, scan(counts, machine, "int32", before=True)) if quotes else (-1, None)
        dialect = [tiles, size, ord(options.delimiter), quote, int(columns > 1), data, 0 if before is None else before]
        irregular = arrays.zeros(1, "uint64")
        machine.launch(module, "count_ends", tiles, [*dialect, counts, irregular])
        places = scan(counts, machine, "int32", before=True)
        count = int(places[tiles - 1]) + int(counts[tiles - 1])
        rows, rest = divmod(count, columns)
        if int(irregular[0]) or not rows or (rest and text.is_last):
            return None
        ends, uneven = arrays.empty(count, "int32"), arrays.zeros(1, "uint64")
        machine.launch(module, "write_ends", tiles, [*dialect, places, ends])
        machine.launch(module, "count_uneven_rows", rows * columns, [rows * columns, columns, data, ends, uneven])
        if int(uneven[0]):
            return None
        return cls(data, ends, columns, rows, quote, size if text.is_last else int(ends[rows * columns - 1]) + 1)

    def strings(self, column: int, nulls: Sequence[str], machine: Machine) -> Vector:
        """Return the values of a column as they are written, with nulls."""
        rows, arrays, module = self.rows, machine.arrays, machine.closed(PROGRAM)
        names = [name.encode() for name in nulls]
        places = arrays.asarray(np.cumsum([0, *map(len, names)], dtype=np.int32))
        null_bytes = arrays.asarray(np.frombuffer(b"".join(names) or b"\0", np.uint8))
        starts, sizes = arrays.empty(rows, "int32"), arrays.empty(rows + 1, "int32")
        valid, doubled = arrays.empty(rows, "uint8"), arrays.zeros(1, "uint64")
        machine.launch(
            module,
            "place_fields",
            rows,
            [
                rows, self.columns, column, self.quote, self.text, self.ends, len(names), places, null_bytes, starts,
                sizes, valid, doubled,
            ],
        )  # fmt: skip
        offsets = scan(sizes, machine, "int32")
        total = int(offsets[rows])
        data = arrays.empty(total, "uint8")
        if total and int(doubled[0]):
            arguments = [rows, self.quote, self.text, starts, offsets, data]
            machine.launch(module, "copy_quoted", rows, arguments)
        elif total:
            arguments = [rows, iota(rows, machine), self.text, starts, data, offsets]
            machine.launch(machine.closed("copy_strings"), "copy_strings_int32_int32_int32", rows, arguments)
        return with_valid(Vector(STRING, rows, data, None, 0, offsets), valid, machine)
