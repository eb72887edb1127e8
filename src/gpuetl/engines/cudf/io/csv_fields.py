"""Fields of CSV text in device memory, and their values as they are written.

Whether a separator stands in quotes is known by the number of quotes before it.  So quotes are counted first, tile by
tile, as simdjson and DuckDB's parallel reader of CSV files do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuetl.engines.cudf.columns.arrays import every, scan
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.formats.csv_options import CsvOptions
from gpuetl.types.data_types import STRING

PROGRAM = "csv"
TILE = 64
"""Bytes that a thread looks at, as in device/closed/csv.cu."""
ALIGNED_ROWS, ALIGNED_BYTES = 512, 64
"""Validity words and values of a column begin at 64 bytes: see device/closed/csv.cu."""


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

    def strings(self, wanted: WantedFields, machine: Machine) -> list[Vector]:
        """Return the values of some columns as they are written, with nulls; the host waits once.

        All columns are made together, since a launch takes longer than a column of a part: the columns share memory.
        Each has room for `places` rows, a multiple of what keeps validity words aligned as libcudf wants them.
        """
        rows, columns, arrays, module = self.rows, wanted.columns, machine.arrays, machine.closed(PROGRAM)
        places = rows // ALIGNED_ROWS * ALIGNED_ROWS + ALIGNED_ROWS
        total = columns * places
        starts, sizes = arrays.empty(total, "int32"), arrays.empty(total, "int32")
        words, counts = arrays.zeros(total // 32, "uint32"), arrays.zeros(2 * columns, "uint64")
        fields = [columns, places, rows, self.columns, self.quote, self.text, self.ends, *wanted.arrays]
        machine.launch(module, "place_fields", total, [*fields, starts, sizes, words, counts])
        sums = scan(sizes, machine, "int32")
        ends = [0, *every(sums, places - 1, places, columns, machine).tolist()]
        nulls = counts.tolist()[::2]
        bases = [-(-end // ALIGNED_BYTES) * ALIGNED_BYTES + place * ALIGNED_BYTES for place, end in enumerate(ends)]
        data, offsets = arrays.empty(bases[-1], "uint8"), sizes
        values = [columns, places, rows, self.quote, self.text, starts, sums, counts, offsets, data]
        machine.launch(module, "copy_fields", total, values)
        return [
            Vector(
                STRING, rows, data[base : base + end - start],
                words[place * places // 32 : (place + 1) * places // 32] if nulls[place] else None,
                int(nulls[place]), offsets[place * places : place * places + rows + 1],
            )
            for place, (base, start, end) in enumerate(zip(bases, ends, ends[1:], strict=False))
        ]  # fmt: skip


class WantedFields(NamedTuple):
    """Columns of a text, in device memory: their numbers, whether they are trimmed, and which strings are null."""

    columns: int
    arrays: tuple[Array, ...]

    @classmethod
    def of(
        cls, columns: Sequence[int], trims: Sequence[bool], nulls: Sequence[Sequence[str]], machine: Machine
    ) -> WantedFields:
        """Copy them to the device."""
        names = [name.encode() for own in nulls for name in own]
        firsts, places = np.cumsum([0, *map(len, nulls)]), np.cumsum([0, *map(len, names)])
        bytes_ = np.frombuffer(b"".join(names) or b"\0", np.uint8)
        numbers = (np.array(numbers, np.int32) for numbers in (columns, trims, firsts, places))
        return cls(len(columns), tuple(map(machine.arrays.asarray, (*numbers, bytes_))))
