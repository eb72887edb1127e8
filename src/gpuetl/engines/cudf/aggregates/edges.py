"""Where groups begin and end among rows in their order, found by a binary search for each group."""

from __future__ import annotations

from gpuetl.engines.cudf.machine import Array, Machine


def edges(codes: Array, groups: int, last: bool, machine: Machine) -> Array:
    """Return the place (int64) of each group's first or last row by the rows' codes in order, -1 where it has none."""
    places = machine.arrays.empty(groups, "int64")
    arguments = [groups, len(codes), int(last), codes, places]
    machine.launch(machine.closed("groups"), "find_edges", groups, arguments)
    return places


def group_sizes(codes: Array, groups: int, machine: Machine) -> Array:
    """Return how many rows (int64) each group has by the rows' codes in order."""
    sizes = machine.arrays.empty(groups, "int64")
    machine.launch(machine.closed("groups"), "measure_groups", groups, [groups, len(codes), codes, sizes])
    return sizes


def ties_at(places: Array, starts: Array, rows: int, machine: Machine) -> int:
    """Return how many others equal the ones at these places: runs of equal rows `start` (int32) in order."""
    ties = machine.arrays.zeros(1, "uint64")
    arguments = [len(places), rows, len(starts), places, starts, ties]
    machine.launch(machine.closed("groups"), "count_ties", len(places), arguments)
    return int(ties[0])
