"""Floats: codes of a dictionary in row groups of few distinct ones, such as prices, else as they lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.sinks.delta import WORTH
from gpuetl.backends.cudf.sinks.encoded import Dictionary, Encoded
from gpuetl.backends.cudf.sinks.footer import PLAIN
from gpuetl.backends.cudf.sinks.levels import Levels
from gpuetl.backends.cudf.sinks.pieces import Piece, Span
from gpuetl.backends.cudf.sinks.statistics import limits_of, ranges_found
from gpuetl.backends.cudf.sinks.texts import code_page
from gpuetl.backends.cudf.sinks.values import (
    BLOCK,
    blocks_a_page,
    packed_pages,
    plain_pages,
    ranges_of,
    valid_values,
)
from gpuetl.backends.cudf.vector import Vector

MOST_VALUES = 1 << 17
"""Of a dictionary: float64 then takes a MiB of it, as much as readers expect."""
SAMPLE = 1 << 12
MOST_SAMPLED = SAMPLE - SAMPLE**2 // (2 * MOST_VALUES)
"""Rows of a group that are looked at first, and the distinct values among them of one that may have few in all.

Of n values that are equally frequent, s rows repeat about s² / 2n.
"""


class Numbers:
    """Floats; a NaN keeps its bits, and zeros their signs."""

    def __init__(self, vector: Vector, levels: Levels, machine: Machine) -> None:
        self.dtype, self.levels = vector.dtype, levels
        self.values = valid_values(vector, levels, machine)
        self.distinct = DistinctValues(self.values, levels, machine)
        self.measures = [ranges_of(self.values, stored_c_type(vector.dtype), levels, machine), *self.distinct.measures]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> Encoded:
        """Take codes for the pages of row groups where that is worth it, for others the values themselves."""
        ranges, *distinct = measures
        counts = self.distinct.worthwhile(*(each.tolist() for each in distinct))
        pages, dictionaries = plain_pages(self.values, self.levels), list[Dictionary | None]()
        if any(counts):
            dictionaries = self.distinct.dictionaries(counts)
            for page, codes in self.distinct.pages(counts).items():
                pages[page] = codes
        return Encoded(PLAIN, pages, ranges_found(ranges), limits_of(self.dtype), dictionaries)


class DistinctValues:
    """The distinct values of each row group by their bits: 32 or 64, without nulls.

    A group has a table of `places`, half of which may be taken; those that are, are listed in `taken`.
    """

    def __init__(self, values: Array, levels: Levels, machine: Machine) -> None:
        arrays, groups, width = machine.arrays, levels.groups, values.dtype.itemsize
        self.values, self.levels, self.machine = values.view(f"uint{8 * width}"), levels, machine
        self.places = min(2 * MOST_VALUES, 1 << (2 * levels.group_rows - 1).bit_length())
        self.blocks = len(levels.counts) * blocks_a_page(levels)
        self.table = arrays.full(groups * self.places, -1, "int64").view("uint64")
        self.taken = arrays.empty((groups, self.places // 2), "int32")
        self.counts = arrays.zeros(groups, "uint64")
        self.launch("sample", groups * SAMPLE, groups * SAMPLE, [self.taken])
        self.sampled = self.counts.copy()
        self.launch("insert", self.blocks, self.blocks * 32, [self.taken, self.sampled])

    @property
    def measures(self) -> list[Array]:
        """How many distinct values a sample of each group has, and its rows; a count above half the places is any."""
        return [self.sampled, self.counts]

    def launch(self, entry: str, items: int, threads: int, arguments: Sequence[Any]) -> None:
        """Run a kernel."""
        levels, module = self.levels, self.machine.compiled(values_source(8 * self.values.dtype.itemsize))
        layout = [items, blocks_a_page(levels), len(levels.counts), levels.group_pages, self.places]
        given = [*layout, self.values, levels.d_starts, self.table, self.counts, *arguments]
        self.machine.launch(module, entry, threads, given)

    def worthwhile(self, sampled: Sequence[int], counts: Sequence[int]) -> list[int]:
        """Return the distinct values of each group that is to have a dictionary, zero for others."""
        width, found = self.values.dtype.itemsize, []
        for group, (few, count) in enumerate(zip(sampled, counts, strict=True)):
            rows = self.levels.valid_rows_of(group)
            size = count * width + rows * code_bits(count) // 8
            known = few <= MOST_SAMPLED and count <= self.places // 2
            found.append(count if known and size < WORTH * rows * width else 0)
        return found

    def dictionaries(self, counts: Sequence[int]) -> list[Dictionary | None]:
        """Sort the values of each group by their bits, that files may be the same in each run, and number them."""
        arrays, width = self.machine.arrays, self.values.dtype.itemsize
        own = [self.taken[group, :count].astype("int64") + group * self.places for group, count in enumerate(counts)]
        places = arrays.concatenate(own)
        groups = places // self.places
        order = self.machine.sorted_order([groups.astype("uint32"), self.table[places]])
        places, first = places[order], [0, *accumulate(counts)]
        self.ranks = arrays.empty(len(self.table), "int32")
        self.ranks[places] = arrays.arange(len(places)) - arrays.asarray(np.array(first))[groups]
        data = self.table[places].astype(self.values.dtype)
        return [
            Dictionary(Span(data, start * width, count * width), count) if count else None
            for start, count in zip(first, counts, strict=False)
        ]

    def pages(self, counts: Sequence[int]) -> dict[int, list[Piece]]:
        """Return the pages of the groups that have a dictionary: each value's number in it."""
        arrays, levels = self.machine.arrays, self.levels
        codes, chosen = arrays.empty(len(self.values), "int32"), arrays.asarray(np.array(counts, np.int64))
        self.launch("number", self.blocks, self.blocks * 32, [self.ranks, chosen, codes])
        of_pages = [counts[page // levels.group_pages] for page in range(len(levels.counts))]
        widths = [code_bits(count) for count in of_pages]
        packed = packed_pages(codes, "int32_t", levels, np.array(widths), self.machine)
        return {
            page: code_page(levels.counts[page], count - 1, widths[page], packed[page])
            for page, count in enumerate(of_pages)
            if count
        }


def code_bits(count: int) -> int:
    """Return the bits of codes of so many values, none for one value."""
    return max(count - 1, 0).bit_length()


def values_source(bits: int) -> str:
    """Return the kernels `sample`, `insert` and `number` for values of so many bits."""
    parameters = f"""int64_t items, int64_t blocks_a_page, int64_t pages, int64_t group_pages, int64_t places,
               const uint{bits}_t* values, const int64_t* starts, uint64_t* table, uint64_t* counts"""
    block = f"""
        const int64_t page = item / blocks_a_page, group = page / group_pages;
        const int64_t first = starts[page] + item % blocks_a_page * {BLOCK}, last = starts[page + 1];
        const int64_t end = first + {BLOCK} < last ? first + {BLOCK} : last;"""
    own = "const value_table::Values own{table + group * places, places, counts + group, taken + group * (places / 2)};"
    return f"""{headers_text(["value_table.cuh", "reduce.cuh"])}
KERNEL sample({parameters}, int32_t* taken) {{
    FOR_EACH_ROW(item, items) {{
        if (item >= items) break;
        const int64_t group = item / {SAMPLE}, after = (group + 1) * group_pages;
        const int64_t first = starts[group * group_pages], rows = starts[after < pages ? after : pages] - first;
        {own}
        if (rows) own.insert(values[first + item % {SAMPLE} * rows / {SAMPLE}]);
    }}
}}
KERNEL insert({parameters}, int32_t* taken, const uint64_t* sampled) {{
    FOR_EACH_WARP(item, items) {{{block}
        {own}
        if (sampled[group] > {MOST_SAMPLED} || own.full()) continue;
        for (int64_t at = first + LANE; at < end; at += LANES) own.insert(values[at]);
    }}
}}
KERNEL number({parameters}, const int32_t* ranks, const int64_t* chosen, int32_t* codes) {{
    FOR_EACH_WARP(item, items) {{{block}
        if (!chosen[group]) continue;
        const uint64_t* const own = table + group * places;
        for (int64_t at = first + LANE; at < end; at += LANES)
            codes[at] = ranks[group * places + value_table::place_of(own, places, values[at])];
    }}
}}
"""
