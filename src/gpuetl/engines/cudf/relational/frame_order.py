"""Quantiles and counts of distinct values over the frames of windows.

Short frames are sorted one by one.  Long frames use a wavelet matrix, which is built once for a column.  For quantiles,
it holds the places of rows in the order of values, and for distinct counts the previous row with the same value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import count_numbers, scan
from gpuetl.engines.cudf.columns.keys import Key, Keys, key_of
from gpuetl.engines.cudf.columns.order import SortedRows, sort_keys
from gpuetl.engines.cudf.columns.validity import empty_bits, valid_rows
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.window_frames import KernelOutput, WindowRows
from gpuetl.engines.cudf.relational.window_steps import FrameOrder, Values
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass

PROGRAM = "frame_order"
SHORT = 32
"""The rows of a frame that one thread puts in order, as in device/closed/frame_order.cu."""


@dataclass(frozen=True, eq=False)
class Wavelet:
    """The bits of keys, level by level, as device/wavelet.cuh says."""

    levels: int
    words: int
    memory: Array

    @classmethod
    def of(cls, keys: Array, machine: Machine) -> Wavelet:
        """Take keys (int32) from 0 on; the host waits for the greatest one."""
        module, rows = machine.closed(PROGRAM), len(keys)
        levels, words = max(count_numbers(keys, machine) - 1, 0).bit_length(), rows // 32 + 1
        memory = machine.arrays.empty(levels * words, "uint64")
        for place in range(levels):
            bit, level = levels - 1 - place, memory[place * words : (place + 1) * words]
            bits, counts = empty_bits(rows + 1, machine), machine.arrays.empty(words, "int32")
            machine.launch(module, "mark_key_bits", rows, [rows, bit, keys, bits])
            machine.launch(module, "count_level_bits", words, [words, bits, counts])
            before = scan(counts, machine, "int32", before=True)
            machine.launch(module, "join_level_words", words, [words, bits, before, level])
            if bit:
                split = machine.arrays.empty_like(keys)
                machine.launch(module, "split_level_keys", rows, [rows, bit, level, keys, split])
                keys = split
        return cls(levels, words, memory)

    @property
    def arguments(self) -> list[Array | int]:
        """What kernels take."""
        return [self.words, self.levels, self.memory]


@dataclass(frozen=True, eq=False)
class OrderedColumn:
    """A column by group and value, nulls last in their group; `first` (int32) has the first row of each row's group."""

    column: Vector
    first: Array
    machine: Machine

    @cached_property
    def order(self) -> SortedRows:
        """The rows in that order; equal ones in their own."""
        rows = self.column.rows
        keys = Key(Vector(pa.int32(), rows, self.first), False), key_of(self.column, SortKey("x"), self.machine)
        return sort_keys(Keys(keys, rows), 1, False, self.machine)

    @property
    def order_rows(self) -> Array | int:
        """The rows' numbers as kernels take them, which is 0 where they are in order."""
        return 0 if self.order.rows is None else self.order.rows

    @cached_property
    def places(self) -> Wavelet:
        """The place of each row in its group's order."""
        rows, keys = self.column.rows, self.machine.arrays.empty(self.column.rows, "int32")
        module = self.machine.closed(PROGRAM)
        self.machine.launch(module, "number_frame_places", rows, [rows, self.order_rows, self.first, keys])
        return Wavelet.of(keys, self.machine)

    @cached_property
    def previous(self) -> Array:
        """The place (int32) in the group of the row before that has the same value; see `find_previous_values`."""
        rows, keys = self.column.rows, self.machine.arrays.empty(self.column.rows, "int32")
        arguments = [rows, self.order_rows, self.order.new_value, words_of(self.column), self.first, keys]
        self.machine.launch(self.machine.closed(PROGRAM), "find_previous_values", rows, arguments)
        return keys

    @cached_property
    def previous_order(self) -> Wavelet:
        """These places, as a wavelet matrix."""
        return Wavelet.of(self.previous, self.machine)

    @cached_property
    def through(self) -> Array | int:
        """How many rows (int32) up to each one have a value; 0 where all have."""
        if self.column.valid is None:
            return 0
        return scan(valid_rows(self.column, self.machine), self.machine, "int32")


def words_of(column: Vector) -> Array | int:
    """Return validity words as kernels take them, which is 0 where there are none."""
    return 0 if column.valid is None else column.valid


def run_frame_order(output: Values, bounds: Sequence[Array], ordered: OrderedColumn, rows: WindowRows) -> KernelOutput:
    """Write what a call gives for each row's frame; `bounds` as those of `run_frames`."""
    assert isinstance(output.step, FrameOrder)
    written = KernelOutput.empty([output.step], [output], rows)
    if rows.rows:
        start, stop = bounds[0], bounds[1] if len(bounds) > 1 else 0
        run = find_quantiles if output.step.q is not None else count_values
        run(output.step, [start, stop], ordered, written)
    return written


def find_quantiles(
    step: FrameOrder, bounds: Sequence[Array | int], ordered: OrderedColumn, written: KernelOutput
) -> None:
    """Write quantiles, null of no values."""
    machine, column = ordered.machine, ordered.column
    _, found, valid = written.arguments
    nulls, q = written.state[1:], step.q or 0
    if step.longest <= SHORT:
        arguments = [column.rows, q, *bounds, column.data, words_of(column), nulls, found, valid]
        machine.launch(machine.closed(PROGRAM), "find_short_quantiles", column.rows, arguments)
        return
    given = [ordered.first, ordered.through, ordered.order_rows, column.data]
    arguments = [column.rows, *ordered.places.arguments, q, *bounds, *given, nulls, found, valid]
    machine.launch(machine.closed(PROGRAM), "find_frame_quantiles", column.rows, arguments)


def count_values(
    step: FrameOrder, bounds: Sequence[Array | int], ordered: OrderedColumn, written: KernelOutput
) -> None:
    """Write how many distinct values there are, which is never null."""
    machine, rows, counts = ordered.machine, ordered.column.rows, written.arguments[1]
    if step.longest <= SHORT:
        arguments = [rows, ordered.previous, *bounds, ordered.first, counts]
        machine.launch(machine.closed(PROGRAM), "count_short_values", rows, arguments)
        return
    arguments = [rows, *ordered.previous_order.arguments, *bounds, ordered.first, counts]
    machine.launch(machine.closed(PROGRAM), "count_frame_values", rows, arguments)
