"""Keys measured, packed, marked and looked up on the device: closed kernels beside those generated for their columns.

    python tests/benchmarks/keys.py [--rows 100000000] [--runs 10] [--results FILE]

Both ways run in one process on the same arrays, and what they write is compared first.  Times are those of single
launches, by CUDA events: the least of some runs after a first one.  Bytes are those of the columns that are read and of
what is written, each once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import generated_keys
import numpy as np
import pyarrow as pa
from environment import described
from generated_keys import Kind
from suites.results import gpu, installed

from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns import packed_keys as key_words
from gpuetl.engines.cudf.columns.arrays import fill
from gpuetl.engines.cudf.columns.keys import Key, Keys, Layout
from gpuetl.engines.cudf.columns.packed_keys import mark_words, measured, packed
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.join_lookup import JoinKeys, code_places, lookup_of

TYPES = {"int32": pa.int32(), "int64": pa.int64(), "float64": pa.float64()}
STORED = {"int32": "int32_t", "int64": "int64_t", "float64": "double"}
SMALL_SIDE = 100
"""A row of the side that is looked up in stands for so many of the other side."""
Launch = tuple[Any, str, int, list[Any]]
Clock = Callable[[Callable[[], None], Callable[[], None]], float]
"""Gives the least milliseconds of some work, each time after something else that does not count."""


@dataclass
class Measured:
    """Milliseconds of a launch of either kernel; `bytes` are those that have to be moved."""

    name: str
    generated_ms: float
    closed_ms: float
    bytes: int


class RecordingMachine:
    """A machine that keeps its launches by the names of kernels, without their numbers of digits."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.launches = machine, dict[str, Launch]()

    def __getattr__(self, name: str) -> Any:
        """Do all else as the machine does."""
        return getattr(self.machine, name)

    def launch(self, module: Any, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Keep the launch."""
        self.launches[entry.rstrip("0123456789").rstrip("_")] = (module, entry, rows, list(arguments))
        self.machine.launch(module, entry, rows, arguments)


class Comparison:
    """Compares kernels on one machine, whose module `xp` makes random numbers."""

    def __init__(self, machine: Machine, xp: Any, clock: Clock, rows: int) -> None:
        self.machine, self.xp, self.clock, self.rows = machine, xp, clock, rows

    def all(self) -> Iterator[Measured]:
        """Yield what is found, case by case."""
        for in_order in (False, True):
            for name in TYPES:
                for count in (1, 2):
                    for nullable in (False, True):
                        yield from self.of_keys([self.column(name, nullable, in_order)] * count, name, in_order)
        for count in (1, 2):
            yield self.of_marks(count)
        for name in TYPES:
            for by in ("code", "hash"):
                if (name, by) != ("float64", "code"):
                    yield from self.of_lookup(name, by)

    def column(self, name: str, nullable: bool, in_order: bool = False, limit: int | None = None) -> Vector:
        """Return a column of random values below a limit, or of all rows' numbers; some are null."""
        xp, rows = self.xp, self.rows
        values = xp.arange(rows, dtype=name) if in_order else xp.random.randint(0, limit or rows, rows).astype(name)
        if not nullable:
            return Vector(TYPES[name], rows, values)
        words = xp.random.randint(0, 1 << 31, -(-rows // 32)).astype("uint32")
        words |= np.uint32((1 << 32) - 1 if in_order else 1 << 31)
        return Vector(TYPES[name], rows, values, words, 0)

    def of_keys(self, columns: list[Vector], name: str, in_order: bool) -> Iterator[Measured]:
        """Measure and pack keys as a sort does: a digit says where the nulls are.  Two keys have a column each."""
        columns = [columns[0], *(copied(column) for column in columns[1:])]
        nullable = columns[0].valid is not None
        kinds = [Kind(STORED[name], nullable, nullable) for _ in columns]
        keys = Keys(tuple(Key(column, nullable) for column in columns), self.rows)
        buffers = [each for column in columns for each in (column.data, column.valid) if each is not None]
        read = sum(each.nbytes for each in buffers)
        title = f"{len(columns)} {name}{' with nulls' if nullable else ''}{', in order' if in_order else ''}"
        recording = RecordingMachine(self.machine)
        layout = measured(keys, recording)
        closed = recording.launches["measure_keys"]
        ranges = self.machine.arrays.zeros(2 * keys.components + 1, "uint64")
        old = self.generated(generated_keys.measure_text(kinds), "measure", [ranges, *buffers])
        yield self.both(f"measure {title}", old, closed, ranges, closed[3][2], 0, read)
        if in_order:
            return
        words = packed(keys, layout, recording)
        outputs = [self.machine.arrays.empty(self.rows, word.dtype) for word in words]
        placed = [
            number
            for word in layout.packed_integers
            for d in word
            for number in (signed(layout.least[d]), layout.shift(word, d))
        ]
        old = self.generated(generated_keys.pack_text(kinds, layout), "pack", [*outputs, *placed, *buffers])
        written = sum(word.nbytes for word in words)
        yield self.both(f"pack {title}", old, recording.launches["pack_keys"], outputs, words, None, read + written)

    def of_marks(self, count: int) -> Measured:
        """Mark rows by words in random order, as after a sort."""
        arrays, xp = self.machine.arrays, self.xp
        words = [xp.random.randint(0, 1 << 31, self.rows).astype("uint64") for _ in range(count)]
        order = xp.random.permutation(self.rows).astype("int32")
        keys = Keys(tuple(Key(Vector(pa.uint64(), self.rows, word), False) for word in words), self.rows)
        layout = Layout((0,) * count, (64,) * count, in_order=False)
        recording = RecordingMachine(self.machine)
        found = mark_words(words, keys, count, layout, order, [], recording)
        marks, ties = arrays.empty(self.rows, "uint8"), arrays.zeros(1, "uint64")
        text = generated_keys.mark_text(["uint64_t"] * count)
        old = self.generated(text, "mark", [ties, marks, order, *words])
        size = self.rows * (8 * count + 4 + 1)
        closed = recording.launches["mark_keys"]
        return self.both(f"mark {count} words in random order", old, closed, marks, found.values, None, size)

    def of_lookup(self, name: str, by: str) -> Iterator[Measured]:
        """Build a table of distinct keys, and look rows up in it, of which half are there."""
        few = max(1, self.rows // SMALL_SIDE)
        arrays = self.machine.arrays
        own = Vector(TYPES[name], few, self.xp.random.permutation(few).astype(name))
        other = self.column(name, nullable=False, limit=2 * few)
        left, right = (Keys((Key(each, False),), each.rows) for each in (other, own))
        recording = RecordingMachine(self.machine)
        with skipping(["join_by_table"] if by == "hash" else []):
            lookup = lookup_of(JoinKeys(left, right, nulls_equal=False), recording)
        found, _ = lookup.find(left, slots=False)
        layout = measured(right, self.machine) if by == "code" else None
        placed = [
            value for least, _, bits in (code_places(layout) if layout else ())
            for value in (signed(least), bits & 0xFF, bits >> 8)
        ]  # fmt: skip
        kinds = [Kind(STORED[name])]
        owners, slots = arrays.empty(lookup.size, "int32"), arrays.empty(few, "int32")
        repeated = arrays.zeros(1, "uint64")
        text = generated_keys.build_text(kinds, layout)
        old = self.generated(text, "build", [lookup.size, owners, slots, repeated, *placed, own.data], few)
        closed = recording.launches[f"build_by_{by}"]
        title = f"{name} by {by}"
        clear = [owners, lookup.owners]
        build = self.both(f"build {title}", old, closed, repeated, closed[3][-2], None, own.nbytes + 4 * few, clear)
        yield build
        others, count = arrays.empty(self.rows, "int32"), arrays.zeros(1, "uint64")
        text = generated_keys.find_text(kinds, kinds, layout)
        columns = [other.data] if layout else [other.data, own.data]
        old = self.generated(text, "find", [lookup.size, 0, owners, others, count, *placed, *columns])
        closed = recording.launches[f"find_by_{by}"]
        yield self.both(f"find {title}", old, closed, others, found, None, other.nbytes + 4 * self.rows)

    def generated(self, text: str, entry: str, arguments: list[Any], rows: int | None = None) -> Launch:
        """Return a launch of a generated text."""
        rows = self.rows if rows is None else rows
        return self.machine.compiled(text), entry, rows, [rows, *arguments]

    def both(
        self, name: str, old: Launch, new: Launch, theirs: Any, ours: Any, reset: int | None, size: int,
        tables: Sequence[Array] = (),
    ) -> Measured:  # fmt: skip
        """Run both, compare what they write, and measure them; before each run tables, or what they write, are reset."""
        clears: list[Callable[[], None]] = []
        for place, written in enumerate((theirs, ours)):
            wiped = [(tables[place], -1)] if tables else [] if reset is None else [(written, reset)]
            clears.append(partial(wipe, wiped, self.machine))
        times = []
        for clear, launch in zip(clears, (old, new), strict=True):
            times.append(self.clock(clear, partial(self.machine.launch, *launch)))
        for mine, other in zip(listed(ours), listed(theirs), strict=True):
            if not np.array_equal(self.machine.host(mine), self.machine.host(other)):
                raise SystemExit(f"{name}: the kernels differ")
        return Measured(name, times[0], times[1], size)


def wipe(places: Sequence[tuple[Array, int]], machine: Machine) -> None:
    """Fill arrays."""
    for array, value in places:
        fill(array, value, machine)


def listed(written: Any) -> list[Any]:
    """Return arrays as a list."""
    return written if isinstance(written, list) else [written]


def signed(value: int) -> int:
    """Return an unsigned 64-bit number as kernels take it."""
    return value - (1 << 64) if value >> 63 else value


def copied(column: Vector) -> Vector:
    """Return the column in memory of its own."""
    valid = None if column.valid is None else column.valid.copy()
    return Vector(column.dtype, column.rows, column.data.copy(), valid, column.nulls)


def least_ms(runs: int, clear: Callable[[], None], work: Callable[[], None]) -> float:
    """Return the least milliseconds between two events around some runs, after a first one."""
    import cupy

    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    times = []
    for _ in range(runs + 1):
        clear()
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(float(cupy.cuda.get_elapsed_time(start, end)))
    return min(times[1:])


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    import cupy

    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    key_words.MANY_ROWS = given.rows + 1  # kernels of any number of digits are compared, each in one launch
    comparison = Comparison(machine(), cupy, partial(least_ms, given.runs), given.rows)
    examine = []
    print(f"{'':44} generated       closed       ratio")
    for found in comparison.all():
        examine.append(found)
        old, new = (found.bytes / ms / 1e6 for ms in (found.generated_ms, found.closed_ms))
        ratio = found.closed_ms / found.generated_ms
        print(
            f"{found.name:40} {found.generated_ms:7.3f} ms {old:5,.0f} GB/s {found.closed_ms:7.3f} ms {new:5,.0f} GB/s"
            f" {ratio:6.2f}",
            flush=True,
        )
    if given.results:
        kept = {"benchmark": "keys", **described(installed()), "rows": given.rows}
        kept["hardware"] |= gpu()
        kept["kernels"] = [asdict(each) for each in examine]
        given.results.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
