"""Where groups begin and end among rows in their order, found by a binary search for each group."""

from __future__ import annotations

from functools import cache

from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.machine import Array, Machine


def edges(codes: Array, groups: int, last: bool, machine: Machine) -> Array:
    """Return the place (int64) of each group's first or last row by the rows' codes in order, -1 where it has none."""
    places = machine.arrays.empty(groups, "int64")
    arguments = [groups, len(codes), int(last), codes, places]
    machine.launch(machine.compiled(edges_source()), "find_edges", groups, arguments)
    return places


def group_sizes(codes: Array, groups: int, machine: Machine) -> Array:
    """Return how many rows (int64) each group has by the rows' codes in order."""
    sizes = machine.arrays.empty(groups, "int64")
    machine.launch(machine.compiled(edges_source()), "measure_groups", groups, [groups, len(codes), codes, sizes])
    return sizes


def rows_at(places: Array, rows: Array, machine: Machine) -> Array:
    """Return the rows' numbers (int32) at these places, -1 at -1."""
    found = machine.arrays.empty(len(places), "int32")
    machine.launch(machine.compiled(edges_source()), "find_rows", len(places), [len(places), places, rows, found])
    return found


def ties_at(places: Array, starts: Array, rows: int, machine: Machine) -> int:
    """Return how many others equal the ones at these places: runs of equal rows `start` (int32) in order."""
    ties = machine.arrays.zeros(1, "uint64")
    arguments = [len(places), rows, len(starts), places, starts, ties]
    machine.launch(machine.compiled(edges_source()), "count_ties", len(places), arguments)
    return int(ties[0])


@cache
def edges_source() -> str:
    """Return the kernels; they are few lines, and stand together since they are used together."""
    return f"""{headers_text(["groups.cuh", "reduce.cuh"])}
KERNEL find_edges(int64_t groups, int64_t rows, int64_t last, const int32_t* codes, int64_t* places) {{
    FOR_EACH_ROW(group, groups) {{
        if (group >= groups) continue;
        const int64_t start = first_of(codes, rows, group), end = first_of(codes, rows, group + 1);
        places[group] = start == end ? -1 : last ? end - 1 : start;
    }}
}}
KERNEL measure_groups(int64_t groups, int64_t rows, const int32_t* codes, int64_t* sizes) {{
    FOR_EACH_ROW(group, groups)
        if (group < groups) sizes[group] = first_of(codes, rows, group + 1) - first_of(codes, rows, group);
}}
KERNEL find_rows(int64_t items, const int64_t* places, const int32_t* rows, int32_t* found) {{
    FOR_EACH_ROW(item, items)
        if (item < items) found[item] = places[item] < 0 ? -1 : rows[places[item]];
}}
KERNEL count_ties(int64_t items, int64_t rows, int64_t runs, const int64_t* places, const int32_t* starts,
                  uint64_t* ties) {{
    Tally others;
    FOR_EACH_ROW(item, items) {{
        if (item >= items || places[item] < 0) continue;
        const int64_t after = first_of(starts, runs, places[item] + 1);
        others.count += (after < runs ? starts[after] : rows) - starts[after - 1] - 1;
    }}
    others.store(ties);
}}
"""
