"""Rows gathered on the device: the engine's closed kernel beside libcudf's gather, in the same run.

    python tests/benchmarks/gather.py [--rows 100000000] [--runs 7] [--columns 1,4,8] [--results FILE]

Columns are of 8 bytes, or of mixed widths, or of 8 bytes with 2 % nulls.  Rows come in random order, or as runs of 1,000
rows in random order, as after a join of sorted rows.  Answers are compared first.  Prints the least time of some runs
after a first one, and the share of the device's copy that the bytes come to: row numbers, what is read and what is
written, each once.  In random order memory moves whole sectors, so the share is low however good a kernel is.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cupy
import pyarrow as pa
import pylibcudf as plc
from environment import described
from operations import best_ms, copy_of
from suites.results import gpu, installed

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take_rows
from gpuetl.engines.cudf.columns.validity import words_of
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.runtime.gpu_machine import machine
from gpuetl.engines.cudf.runtime.libcudf import from_libcudf, to_libcudf

RUN_ROWS = 1_000
MIXED = [
    pa.int64(), pa.int32(), pa.float64(), pa.int8(), pa.timestamp("us"), pa.float32(), pa.int16(), pa.date32(),
]  # fmt: skip
NULLS = 0.02


@dataclass
class Measured:
    """Milliseconds of both ways to gather the same rows; `bytes` are those that have to be moved."""

    order: str
    kinds: str
    columns: int
    ms: float
    libcudf_ms: float
    bytes: int


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=7)
    numbers = lambda text: [int(each) for each in text.split(",")]  # noqa: E731
    parser.add_argument("--columns", type=numbers, default=[1, 4, 8])
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    machine()  # sets CuPy's allocator
    rate = 2 * 8 * given.rows / best_ms(copy_of(given.rows), given.runs) / 1e6
    print(f"copy {rate:,.0f} GB/s", flush=True)
    examine = []
    for found in measurements(given.rows, given.columns, given.runs):
        examine.append(found)
        print(line(found, rate), flush=True)
    if given.results:
        kept = {"benchmark": "gather", **described(installed()), "rows": given.rows, "copy_gb_a_s": rate}
        kept["hardware"] |= gpu()
        kept["gathers"] = [asdict(each) for each in examine]
        given.results.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def measurements(rows: int, counts: list[int], runs: int) -> Iterator[Measured]:
    """Compare and measure each order, kind and number of columns; the device holds one frame at a time."""
    for kinds, columns in KINDS.items():
        frame = columns(rows, max(counts))
        for order, numbers in ORDERS.items():
            wanted = numbers(rows)
            for count in counts:
                some = frame.select(tuple(frame.columns)[:count])
                yield measured(some, wanted, order, kinds, runs)


def measured(frame: Frame, rows: Any, order: str, kinds: str, runs: int) -> Measured:
    """Compare the answers, then measure both ways."""
    ours, theirs = partial(take_rows, frame, rows, machine()), partial(gathered, frame, rows)
    made = ours()
    compare(made, theirs())
    size = rows.nbytes + frame.nbytes + made.nbytes
    del made
    return Measured(order, kinds, len(frame.columns), best_ms(ours, runs), best_ms(theirs, runs), size)


def line(found: Measured, rate: float) -> str:
    """Return a line for people."""
    share = found.bytes / found.ms / 1e6 / rate
    name = f"{found.order}, {found.columns} {found.kinds}"
    ratio = found.ms / found.libcudf_ms
    return (
        f"{name:44} {found.ms:8.2f} ms, {share:4.0%} of the copy, libcudf {found.libcudf_ms:8.2f} ms, {ratio:.2f} of it"
    )


def gathered(frame: Frame, rows: Any) -> Any:
    """Gather by libcudf, which is told that all rows are there."""
    table = plc.Table([to_libcudf(vector, machine()) for vector in frame.columns.values()])
    numbers = to_libcudf(Vector(pa.int32(), len(rows), rows), machine())
    return plc.copying.gather(table, numbers, plc.copying.OutOfBoundsPolicy.DONT_CHECK)


def compare(ours: Frame, theirs: Any) -> None:
    """Raise `SystemExit` where values that are not null, or which ones are, differ."""
    for (name, made), column in zip(ours.columns.items(), theirs.columns(), strict=True):
        other = from_libcudf(column, made.dtype)
        valid = [bits(each) for each in (made, other)]
        same = (made.data == other.data) | ~valid[0]
        if made.nulls != other.nulls or not bool((valid[0] == valid[1]).all()) or not bool(same.all()):
            raise SystemExit(f"column {name}: the answers differ")


def bits(vector: Vector) -> Any:
    """Return which rows are valid."""
    if vector.valid is None:
        return cupy.ones(vector.rows, bool)
    return cupy.unpackbits(vector.valid.view("uint8"), bitorder="little")[: vector.rows].astype(bool)


def wide(rows: int, count: int) -> Frame:
    """Return columns of 8 bytes."""
    draws = cupy.random.default_rng(1)
    columns = {f"x{place}": Vector(pa.float64(), rows, draws.random(rows)) for place in range(count)}
    return Frame(columns, rows)


def mixed(rows: int, count: int) -> Frame:
    """Return columns of 1 to 8 bytes."""
    draws = cupy.random.default_rng(1)
    columns = {}
    for place in range(count):
        dtype = MIXED[place % len(MIXED)]
        storage = {"timestamp[us]": "int64", "date32[day]": "int32", "float": "float32", "double": "float64"}
        numbers = draws.integers(0, 100, rows, "int64")
        columns[f"x{place}"] = Vector(dtype, rows, numbers.astype(storage.get(str(dtype), str(dtype))))
    return Frame(columns, rows)


def nullable(rows: int, count: int) -> Frame:
    """Return columns of 8 bytes of which some values are null."""
    draws = cupy.random.default_rng(2)
    columns = {}
    for name, vector in wide(rows, count).columns.items():
        flags = (draws.random(rows) >= NULLS).astype("uint8")
        nulls = rows - int(flags.sum(dtype="int64"))
        columns[name] = Vector(vector.dtype, rows, vector.data, words_of(flags, machine()), nulls)
    return Frame(columns, rows)


def in_random_order(rows: int) -> Any:
    """Return all rows in random order."""
    return cupy.random.permutation(rows).astype("int32")


def in_runs(rows: int) -> Any:
    """Return all rows as runs of neighbours, these in random order."""
    starts = cupy.random.permutation(-(-rows // RUN_ROWS)).astype("int32") * RUN_ROWS
    numbers = (starts[:, None] + cupy.arange(RUN_ROWS, dtype="int32")).ravel()
    return cupy.ascontiguousarray(numbers[numbers < rows])


KINDS: dict[str, Callable[[int, int], Frame]] = {"of 8 bytes": wide, "mixed": mixed, "of 8 bytes with nulls": nullable}
ORDERS: dict[str, Callable[[int], Any]] = {"random": in_random_order, f"runs of {RUN_ROWS:,}": in_runs}


if __name__ == "__main__":
    main()
