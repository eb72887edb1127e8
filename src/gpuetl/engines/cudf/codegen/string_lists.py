"""Lists of strings: a kernel counts the parts of each row and their bytes, and another one writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpuetl.engines.cudf.columns.arrays import filled, scan
from gpuetl.engines.cudf.columns.validity import list_offsets, text_offsets, with_valid
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.types.data_types import STRING

MEASURED = """int64_t count = 0, size = 0;
                for (Maybe<String> part; parts.next(part); ++count) {
                    if (part.valid) size += part.value.size;
                    else ++missing_parts.count;
                }
                counts[row] = count;
                sizes[row] = size;"""
"""How a kernel measures the `parts` of a row; `missing_parts` is a `Tally` of those that are null."""
WRITTEN = """Bytes out{bytes + starts[row]};
        int64_t place = first_parts[row];
        for (Maybe<String> part; parts.next(part); ++place) {
            offsets[place] = out.at - bytes;
            if (part.valid) out.put(part.value);
            if (valid_parts) valid_parts[place] = part.valid;
        }"""
"""How a kernel writes the `parts` of a row, given what `TO_WRITE` names."""
TO_WRITE = """const int64_t* first_parts, const int64_t* starts, uint8_t* valid_parts, int64_t* offsets,
             char* bytes"""
"""The last parameters of that kernel, in the order of what `written_parts` passes."""


def written_parts(
    counts: Array, sizes: Array, missing: bool, write: Callable[[Sequence[Any]], None], machine: Machine
) -> tuple[Array, Vector]:
    """Return the offsets of lists, and the strings in them.

    Parameters
    ----------
    counts, sizes
        0, then the number of each row's parts, and of their bytes (int64).
    missing
        Whether a part is null.
    write
        Launches the kernel that writes, given its last arguments.
    machine
        The machine on which the counts are.

    Raises
    ------
    EvaluationError
        Where there are 2^31 strings or more.
    """
    first_parts, starts = scan(counts, machine), scan(sizes, machine)
    parts, total = int(first_parts[-1]), int(starts[-1])
    lists = list_offsets(first_parts, parts, machine)
    offsets, data = filled(parts + 1, total, "int64", machine), machine.arrays.empty(total, "uint8")
    valid = machine.arrays.empty(parts, "uint8") if missing else None
    write([first_parts, starts, 0 if valid is None else valid, offsets, data])
    elements = Vector(STRING, parts, data, offsets=text_offsets(offsets, total, machine))
    return lists, elements if valid is None else with_valid(elements, valid, machine)
