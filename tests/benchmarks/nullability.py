"""Expression kernels over columns with and without nulls, beside the kernels generated for either case before.

    python tests/benchmarks/nullability.py [--rows 100000000] [--runs 10] [--results FILE]

A kernel is told at run time which columns have nulls.  The kernels before, in nullability_before.cu, were told when they
were compiled.  Both run in one process on the same columns, and their results are compared first.  Times are those of
single launches, by CUDA events: the least of some runs after a first one.  Bytes are those of the columns that are read,
their validity, and what is written, each once.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from environment import described
from keys import least_ms
from suites.results import gpu, installed

from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.row_kernels import headers, prepared
from gpuetl.engines.cudf.columns.arrays import fill
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.expressions.ir import Expr, columns_of
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import SCALARS, Scope
from gpuetl.types.schema import Schema

BEFORE = Path(__file__).with_name("nullability_before.cu")
TYPES = {
    "f": pa.float64(), "g": pa.float64(), "h": pa.float64(), "i": pa.int64(), "j": pa.int64(), "k": pa.int64(),
    "s": pa.int32(), "d": pa.date32(),
}  # fmt: skip
STORED = {pa.float64(): "float64", pa.int64(): "int64", pa.int32(): "int32", pa.date32(): "int32"}
CASES = {
    "number": ["f * 2 + 1"],
    "floats": ["f * (1 - g) * (1 + h)"],
    "integers": ["i + j * k"],
    "filter": ["f > 0.5 AND i < 700 AND s = 3"],
    "choice": ["CASE WHEN f > g THEN f ELSE g END"],
    "year": ["year(d)"],
    "six": ["i + 1", "j + 1", "k + 1", "f + 1", "g + 1", "h + 1"],
}
"""By the names of the kernels in nullability_before.cu, each once more with `_nulls` behind it."""
LIMIT = 1000
"""Values are below this, so that no sum or product leaves its type."""
Clock = Callable[[Callable[[], None], Callable[[], None]], float]
"""Gives the least milliseconds of some work, each time after something else that does not count."""


@dataclass
class Measured:
    """Milliseconds of a launch of either kernel; `bytes` are those that have to be moved."""

    name: str
    compiled_ms: float
    run_time_ms: float
    bytes: int


class RecordingMachine:
    """A machine that keeps the last text that it compiled, and the last launch of `compute`."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.source, self.arguments = "", list[Any]()

    def __getattr__(self, name: str) -> Any:
        """Do all else as the machine does."""
        return getattr(self.machine, name)

    def compiled(self, source: str) -> Any:
        """Keep the text."""
        self.source = source
        return self.machine.compiled(source)

    def launch(self, module: Any, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Keep the arguments."""
        if entry == "compute":
            self.arguments = list(arguments)
        self.machine.launch(module, entry, rows, arguments)


class Comparison:
    """Compares kernels on one machine, whose module `xp` makes random numbers."""

    def __init__(self, machine: Machine, xp: Any, clock: Clock, rows: int) -> None:
        self.machine, self.xp, self.clock, self.rows = machine, xp, clock, rows
        scope = Scope(Schema(TYPES), {}, SCALARS)
        typed = {name: [resolve(parse_expression(sql), scope) for sql in case] for name, case in CASES.items()}
        self.exprs = {name: dict(enumerate(case)) for name, case in typed.items()}
        made = [expr for case in typed.values() for expr in prepared(named(case))[1].values()]
        self.before = headers(made, "words.cuh") + BEFORE.read_text(encoding="utf-8")

    def all(self) -> Iterator[Measured]:
        """Yield what is found, case by case: without nulls, and with nulls in all columns."""
        for name in CASES:
            for nullable in (False, True):
                yield self.compared(name, nullable)

    def compared(self, name: str, nullable: bool) -> Measured:
        """Run both kernels, compare what they write, and measure them."""
        exprs = list(self.exprs[name].values())
        columns = {each: self.column(TYPES[each], nullable) for each in TYPES if each in columns_of(*exprs)}
        recording = RecordingMachine(self.machine)
        evaluate(named(exprs), columns, self.rows, recording)
        ours = by_name(recording.source, "compute", recording.arguments)
        module = self.machine.compiled(recording.source)
        title = f"{name} with nulls" if nullable else name
        entry = f"{name}_nulls" if nullable else name
        theirs = {**ours, **{each: self.like(each, ours[each]) for each in ours if each[0] in "rs" and each != "rows"}}
        wanted = parameters(self.before, entry)
        launch, before = self.machine.launch, self.machine.compiled(self.before)
        old = partial(launch, before, entry, self.rows, [theirs[each] for each in wanted])
        new = partial(launch, module, "compute", self.rows, recording.arguments)
        times = [self.clock(lambda: None, work) for work in (old, new)]
        for each in wanted:
            if each[0] in "rs" and each != "rows" and not isinstance(ours[each], int):
                self.same(title, ours[each], theirs[each])
        buffers = [each for each in recording.arguments if not isinstance(each, int)]
        return Measured(title, times[0], times[1], sum(each.nbytes for each in buffers))

    def column(self, dtype: pa.DataType, nullable: bool) -> Vector:
        """Return a column of random values; half of the rows are null, or none."""
        xp, rows = self.xp, self.rows
        values = xp.random.randint(0, LIMIT, rows).astype(STORED[dtype])
        if not nullable:
            return Vector(dtype, rows, values)
        words = xp.random.randint(0, 1 << 32, -(-rows // 512) * 16, dtype="uint32")
        return Vector(dtype, rows, values, words, 1)

    def like(self, name: str, array: Array | int) -> Array:
        """Return memory for values or validity words: those before wrote words also where nothing is null."""
        if isinstance(array, int):
            return self.machine.arrays.zeros(-(-self.rows // 512) * 16, "uint32")
        made = self.machine.arrays.empty(array.shape, array.dtype)
        if name[0] == "s":
            fill(made, 0, self.machine)
        return made

    def same(self, title: str, ours: Array, theirs: Array) -> None:
        """Raise `SystemExit` where results differ."""
        if not np.array_equal(self.machine.host(ours), self.machine.host(theirs)):
            raise SystemExit(f"{title}: the kernels differ")


def named(exprs: Sequence[Expr]) -> dict[str, Expr]:
    """Return expressions under names."""
    return {str(place): expr for place, expr in enumerate(exprs)}


def parameters(source: str, entry: str) -> list[str]:
    """Return the names of a kernel's parameters."""
    start = source.index(f"\nKERNEL {entry}(")
    listed = source[source.index("(", start) + 1 : source.index(")", start)]
    return [re.split(r"[\s*]", each.strip())[-1] for each in listed.split(",")]


def by_name(source: str, entry: str, arguments: Sequence[Any]) -> Mapping[str, Any]:
    """Return the arguments of a launch by the names of the kernel's parameters."""
    return dict(zip(parameters(source, entry), arguments, strict=True))


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    import cupy

    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    comparison = Comparison(machine(), cupy, partial(least_ms, given.runs), given.rows)
    examine = []
    print(f"{'':24} known to the compiler   known at run time   ratio")
    for found in comparison.all():
        examine.append(found)
        old, new = (found.bytes / ms / 1e6 for ms in (found.compiled_ms, found.run_time_ms))
        ratio = found.run_time_ms / found.compiled_ms
        print(
            f"{found.name:24} {found.compiled_ms:7.3f} ms {old:5,.0f} GB/s {found.run_time_ms:7.3f} ms"
            f" {new:5,.0f} GB/s {ratio:6.2f}",
            flush=True,
        )
    if given.results:
        kept = {"benchmark": "nullability", **described(installed()), "rows": given.rows}
        kept["hardware"] |= gpu()
        kept["kernels"] = [asdict(each) for each in examine]
        given.results.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
