"""Distinct values counted: as bits of a table where they range narrowly, else sorted within their groups."""

from __future__ import annotations

from gpuetl.backends.cudf.aggregates.edges import group_sizes
from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.aggregates.runs import Runs
from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.columns.arrays import pick
from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.columns.keys import Keys
from gpuetl.backends.cudf.columns.words import Layout, layout_arguments, layout_parameters, measured, word_text
from gpuetl.backends.cudf.machine import Array
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.ir import Call
from gpuetl.expressions.types import NULL

BITS_A_ROW = 256
"""A table of bits may have so many for each row: no more memory than sorting takes."""
FEW_BITS = 1 << 23


def count_distinct(groups: Groups, call: Call) -> Vector:
    """Count each group's distinct values that are not null; NaN is one, and -0.0 is 0.0."""
    (x,) = call.args
    if x.dtype == NULL:
        return Vector(call.dtype, groups.count, groups.machine.arrays.zeros(groups.count, "int64"))
    counts = None
    if chosen("count_by_bits") and groups.frame.rows:
        keys = Keys((groups.key(x),), groups.frame.rows)
        counts = counted_by_bits(groups, keys, measured(keys, groups.machine))
    if counts is None:
        counts = counted_by_sorting(groups, call)
    return Vector(call.dtype, groups.count, counts)


def counted_by_sorting(groups: Groups, call: Call) -> Array:
    """Return each group's number (int64) of distinct values: the places where they begin, sorted."""
    (x,) = call.args
    runs = Runs.of(groups, groups.valid(x), [groups.key(x)])
    codes = pick(runs.codes, numbers_where(runs.new, groups.machine), groups.machine)
    return group_sizes(codes, groups.count, groups.machine)


def counted_by_bits(groups: Groups, keys: Keys, layout: Layout) -> Array | None:
    """Return each group's number (int64) of distinct values, None where their range is too wide for a table."""
    value = [digit for word in layout.words for digit in word if not (keys.keys[0].flagged and digit == 0)]
    words_a_group = -(-(1 << layout.width(value)) // 32)
    total = words_a_group * groups.count
    if total * 32 > max(FEW_BITS, BITS_A_ROW * groups.frame.rows):
        return None
    machine, arrays = groups.machine, groups.machine.arrays
    table, counts = arrays.zeros(total, "uint32"), arrays.zeros(groups.count, "uint64")
    module = machine.compiled(bits_source(keys, value))
    arguments = [groups.frame.rows, words_a_group, groups.codes, table]
    placed = layout_arguments(layout, [value])
    machine.launch(module, "set_bits", groups.frame.rows, [*arguments, *placed, *keys.arguments])
    machine.launch(module, "count_bits", total // 32 + 32, [total, words_a_group, table, counts])
    return counts.view("int64")


def bits_source(keys: Keys, value: list[int]) -> str:
    """Return the kernels: each row sets the bit of its value in its group, then each group's are counted."""
    last = keys.digits - 1
    parameters = ["int64_t rows, int64_t words, const int32_t* groups, uint32_t* table"]
    return f"""{keys.text}
#ifdef GPUETL_HOST
DEVICE void set_bit(uint32_t* word, uint32_t bit) {{ *word |= bit; }}
DEVICE int bits_in(uint32_t word) {{ return __builtin_popcount(word); }}
#else
DEVICE void set_bit(uint32_t* word, uint32_t bit) {{
    if (!(*(volatile uint32_t*)word & bit)) atomicOr(word, bit);
}}
DEVICE int bits_in(uint32_t word) {{ return __popc(word); }}
#endif
KERNEL set_bits({", ".join([*parameters, *layout_parameters([value]), *keys.parameters])}) {{
    const Keys keys = {keys.made()};
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = keys[row];
        if (!digits.known[{last}]) continue;
        const uint64_t value = {word_text(value) or "0"};
        set_bit(table + groups[row] * words + (value >> 5), 1u << (value & 31));
    }}
}}
constexpr int TILE = 1024;  // words that a warp counts
KERNEL count_bits(int64_t total, int64_t words, const uint32_t* table, uint64_t* counts) {{
    FOR_EACH_WARP(tile, (total + TILE - 1) / TILE) {{
        const int64_t end = tile * TILE + TILE < total ? tile * TILE + TILE : total;
        int64_t group = -1;
        uint64_t count = 0;
        for (int64_t at = tile * TILE + LANE; at < end; at += LANES) {{
            if (at / words != group) {{
                if (count) add_to(counts + group, count);
                group = at / words, count = 0;
            }}
            count += bits_in(table[at]);
        }}
        if (count) add_to(counts + group, count);
    }}
}}
"""
