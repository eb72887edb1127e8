"""What the engine asks of arrays beyond memory, by kernels of the closed set: CuPy would compile each of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpuetl.engines.cudf.columns.kernel_arguments import integer_name
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine, Struct
from gpuetl.types.data_types import is_floating

# What the engine asks of arrays beyond memory, by kernels of the closed set: CuPy would compile each of its calls.
#
# NumPy and CuPy are asked for memory alone: `empty`, `zeros`, `asarray` of host memory, views, slices, and copies of
# contiguous arrays into slices of their type.  tests/gpu_engine/test_array_calls.py refuses all other calls.
# Arrays are contiguous, and lie on the device.


PROGRAM = "arrays"
ROUND = 256
"""Rows that a warp picks, or adds up, before it goes on: as in device/rounds.cuh."""
PART, MOST_PARTS, BLOCK_PARTS = 4 * ROUND, 8192, 8
"""Of a scan: the rows of a part, or more where there were more parts than these, and the parts of a block."""

MOST_JOINED, ALIGNMENT = 64, 64
"""The arrays that one launch copies, as in device/closed/arrays.cu, and the bytes to which their places are aligned."""


def launch(entry: str, rows: int, arguments: Sequence[object], machine: Machine) -> None:
    """Run a kernel of device/closed/arrays.cu over rows, which are its first argument."""
    machine.launch(machine.closed(PROGRAM), entry, rows, [rows, *arguments])


def width_name(array: Array) -> str:
    """Return the unsigned integer type of an array's width, as names of kernels have it."""
    return f"u{integer_name(array)}"


def scan(values: Array, machine: Machine, dtype: str = "int64", before: bool = False, first: int = 0) -> Array:
    """Return the sums of the values up to each one, or `before` it, and of `first`.

    Values are uint8, int32 or int64, and sums int32 or int64; those of uint8 are int32.  Values are read twice and sums
    are written once, in two launches; of few values, one warp does all.
    """
    rows = len(values)
    part = -(-max(PART, -(-rows // MOST_PARTS)) // ROUND) * ROUND
    parts = -(-rows // part)
    module, kind = machine.closed("scan"), str(values.dtype)
    sums = machine.arrays.empty(rows, dtype)
    totals = machine.arrays.empty(parts, "uint64") if parts > 1 else 0
    if parts > 1:
        machine.launch(module, f"add_parts_{kind}", parts * 32, [rows, part, parts, values, totals])
    arguments = [rows, part, parts, int(before), first, values, totals, sums]
    threads = 32 * min(parts, BLOCK_PARTS)
    if rows:
        machine.launch_blocks(module, f"scan_{kind}_{dtype}", -(-parts // BLOCK_PARTS), threads, arguments)
    return sums


def iota(count: int, machine: Machine, dtype: str = "int32", step: int = 1) -> Array:
    """Return 0, `step`, 2 `step` and so on (int32 or int64)."""
    numbers = machine.arrays.empty(count, dtype)
    launch(f"iota_{dtype}", count, [step, numbers], machine)
    return numbers


def fill(array: Array, value: int, machine: Machine) -> None:
    """Set all items, integers, to a value."""
    launch(f"fill_{width_name(array)}", len(array), [value, array], machine)


def filled(count: int, value: int, dtype: str, machine: Machine) -> Array:
    """Return so many items of an integer type, all of them a value."""
    output = machine.arrays.empty(count, dtype)
    fill(output, value, machine)
    return output


def pick(values: Array, rows: Array, machine: Machine, missing: int = 0) -> Array:
    """Return the values at these numbers (int32), and `missing` at negative ones.

    Values of 4 bytes may also be picked by int64, uint8 and uint16.
    """
    if not len(values):
        return filled(len(rows), missing, str(values.dtype), machine)
    output = machine.arrays.empty(len(rows), values.dtype)
    threads = -(-len(rows) // ROUND) * 32
    arguments = [len(rows), rows, values, missing, output]
    machine.launch(machine.closed(PROGRAM), f"pick_{width_name(values)}_{rows.dtype}", threads, arguments)
    return output


def scatter(output: Array, places: Array, machine: Machine, values: Array | None = None) -> None:
    """Set items (int32) at places (int32 or int64) to values, or to the places' own numbers; negative ones are none.

    Where a place comes more than once, any of its values stays.
    """
    arguments = [places, 0 if values is None else values, output]
    launch(f"scatter_{places.dtype}", len(places), arguments, machine)


def set_marks(marks: Array, places: Array, machine: Machine) -> None:
    """Set marks (uint8) at places (int32 or int64) to 1; negative ones are none."""
    launch(f"set_marks_{places.dtype}", len(places), [places, marks], machine)


def choose(words: Array | None, values: Array, others: int, machine: Machine) -> Array:
    """Return values where their bit is set in validity words, all where there are none, and elsewhere a constant."""
    output = machine.arrays.empty_like(values)
    launch(
        f"choose_{width_name(values)}", len(values), [0 if words is None else words, values, others, output], machine
    )
    return output


def shifted(values: Array, plus: int, output: Array, machine: Machine) -> None:
    """Write numbers and a number added to each (both int32 or int64); it may only convert them."""
    launch(f"shift_{values.dtype}_{output.dtype}", len(values), [0, 1, len(values) - 1, plus, values, output], machine)


def converted(values: Array, dtype: str, machine: Machine) -> Array:
    """Return int32 or int64 as one of the two; where it is that already, the array itself."""
    if str(values.dtype) == dtype:
        return values
    output = machine.arrays.empty(len(values), dtype)
    shifted(values, 0, output, machine)
    return output


def every(values: Array, first: int, step: int, count: int, machine: Machine) -> Array:
    """Return (int64) every `step`-th of some numbers (int32 or int64), `count` of them; behind the last, the last."""
    output = machine.arrays.empty(count, "int64")
    launch(f"shift_{values.dtype}_int64", count, [first, step, len(values) - 1, 0, values, output], machine)
    return output


def joined(arrays: Sequence[Array], machine: Machine) -> Array:
    """Return one or more arrays of a type one behind another, by copies."""
    if len(arrays) == 1:
        return arrays[0]
    output, start = machine.arrays.empty(sum(map(len, arrays)), arrays[0].dtype), 0
    for array in arrays:
        output[start : start + len(array)] = array
        start += len(array)
    return output


def with_last(array: Array, last: int, machine: Machine) -> Array:
    """Return integers with one more behind them."""
    output = machine.arrays.empty(len(array) + 1, array.dtype)
    output[: len(array)] = array
    fill(output[len(array) :], last, machine)
    return output


def unpack(masks: Array | None, flags: Array, machine: Machine) -> None:
    """Write the bits of validity words as bytes; without words all are set."""
    launch("unpack", len(flags), [0 if masks is None else masks, flags], machine)


def mark_both(left: Array, right: Array, machine: Machine) -> Array:
    """Return where two marks of rows (uint8) are set."""
    output = machine.arrays.empty_like(left)
    launch("mark_both", len(left), [left, right, output], machine)
    return output


def mark_not_negative(values: Array, machine: Machine) -> Array:
    """Mark (uint8) numbers (int32) that are not negative."""
    marks = machine.arrays.empty(len(values), "uint8")
    launch("mark_not_negative", len(values), [values, marks], machine)
    return marks


def mark_changes(values: Array, machine: Machine) -> Array:
    """Mark (uint8) numbers (int32) that differ from the one before; the first does."""
    marks = machine.arrays.empty(len(values), "uint8")
    launch("mark_changes", len(values), [values, marks], machine)
    return marks


def join_valid(masks: Sequence[Array | None], rows: int, output: Array, nulls: Array, machine: Machine) -> None:
    """Write the validity words of rows that are valid in all of some, without bits behind the last row.

    Adds how many are null to a count (uint64).  Without words all rows are valid.
    """
    first, *others = masks or [None]
    unused = machine.arrays.zeros(1, "uint64") if len(others) > 1 else nulls
    for place, other in enumerate(others or [None]):
        left, right = (0 if each is None else each for each in (output if place else first, other))
        count = nulls if place + 1 >= len(others) else unused
        launch("join_valid", rows, [left, right, output, count], machine)


def count_not_negative(values: Array, machine: Machine) -> int:
    """Return how many numbers (int32) are not negative; the host waits."""
    count = machine.arrays.zeros(1, "uint64")
    launch("count_not_negative", len(values), [values, count], machine)
    return int(count[0])


def count_numbers(numbers: Array, machine: Machine) -> int:
    """Return one more than the greatest of numbers (int32) from 0 on, 0 for none; the host waits."""
    count = machine.arrays.zeros(1, "uint64")
    launch("count_numbers", len(numbers), [numbers, count], machine)
    return int(count[0])


def host_numbers(arrays: Sequence[Array], machine: Machine) -> list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Copy contiguous arrays of 64-bit numbers to the host, flat and as int64: all in one copy, for which it waits."""
    if not arrays:
        return []
    flat = machine.host(joined([array.reshape(-1).view("int64") for array in arrays], machine))
    return np.split(flat, np.cumsum([array.size for array in arrays])[:-1])


def host_copies(arrays: Sequence[Array], machine: Machine) -> list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """Copy arrays to the host, all in one copy, for which it waits: for arrays that are small together."""
    places, total = list[int](), 0
    for array in arrays:
        places.append(total)
        total += -(-int(array.nbytes) // ALIGNMENT) * ALIGNMENT
    memory = machine.arrays.empty(total, "uint8")
    for first in range(0, len(arrays), MOST_JOINED):
        words, some = np.zeros(1 + 3 * MOST_JOINED, np.int64), slice(first, first + MOST_JOINED)
        parts = [
            (machine.address(array), place, place + int(array.nbytes))
            for array, place in zip(arrays[some], places[some], strict=True)
        ]
        words[: 1 + 3 * len(parts)] = [len(parts), *(word for part in parts for word in part)]
        launch("join_bytes", total, [memory, Struct(words)], machine)
    host = machine.host(memory)
    return [
        host[place : place + int(array.nbytes)].view(array.dtype).reshape(array.shape)
        for array, place in zip(arrays, places, strict=True)
    ]


# The numbers of rows that pass a test.


TILE = 1024
"""As in device/compact.cuh."""
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1


class ValueRange(NamedTuple):
    """Whether a value lies between two others, both included; with `inside` False whether it does not."""

    least: int
    greatest: int
    inside: bool = True


NOT_ZERO, ZERO = ValueRange(0, 0, inside=False), ValueRange(0, 0)
NEGATIVE, NOT_NEGATIVE = ValueRange(LEAST, -1), ValueRange(0, GREATEST)


def above(limit: int) -> ValueRange:
    """Test whether a value is greater."""
    return ValueRange(limit + 1, GREATEST)


def numbers_where(values: Array, machine: Machine, test: ValueRange = NOT_ZERO) -> Array:
    """Return the numbers (int32), ascending, of the rows whose value (uint8, int32 or int64) passes a test.

    Two passes over them, and one wait.
    """
    return numbered(values, test, "int32", 0, machine)


def bounds_where(marks: Array, machine: Machine) -> Array:
    """Return the numbers (int64) of marked rows, and that of all rows: where groups begin, and where the last ends."""
    return numbered(marks, NOT_ZERO, "int64", 1, machine)


def numbered(values: Array, test: ValueRange, dtype: str, more: int, machine: Machine) -> Array:
    """Return the numbers of the rows that pass, and in `more` elements after them how many rows there are."""
    arrays, rows = machine.arrays, len(values)
    tiles = -(-rows // TILE)
    if not tiles:
        return arrays.zeros(more, dtype)
    module, kind = machine.closed("compact"), str(values.dtype)
    given = [rows, tiles, values, test.least, test.greatest, int(test.inside)]
    ends = arrays.empty(tiles, "int64")
    machine.launch(module, f"count_{kind}", tiles * 32, [*given, ends])
    ends = scan(ends, machine)
    numbers = arrays.empty(int(ends[-1]) + more, dtype)
    machine.launch(module, f"number_{kind}_{dtype}", tiles * 32, [*given, ends, more, numbers])
    return numbers


# Floats with one zero and one NaN, as keys and picked values leave.


def canonical(vector: Vector, machine: Machine) -> Vector:
    """Return a column of floats with 0.0 for -0.0 and the one NaN; other columns as they are."""
    if not is_floating(vector.dtype):
        return vector
    data = machine.arrays.empty_like(vector.data)
    entry = f"make_canonical_{data.dtype}"
    machine.launch(machine.closed("numbers"), entry, vector.rows, [vector.rows, vector.data, data])
    return replace(vector, data=data)
