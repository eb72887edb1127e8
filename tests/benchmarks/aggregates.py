"""Aggregates of the cudf engine on rows in device memory: groups of many shapes, and states of all kinds.

    python tests/benchmarks/aggregates.py [--rows 100000000] [--runs 5] [--only TEXT] [--results FILE]

Prints the least time of some runs after a first one.  It uses nothing of the package but `backend.run`, so the source of
an earlier version may be measured by it: set PYTHONPATH to that.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import cupy
import pyarrow as pa
from environment import described
from operations import best_ms, planned
from suites.results import gpu, installed

from gpuetl import expr
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.plan.nodes import Project

USERS, CATEGORIES = 1_000_000, 20


class Case(NamedTuple):
    """Keys, and calls by name."""

    name: str
    keys: tuple[str, ...]
    calls: tuple[str, ...]


CASES = (
    Case("no keys: sum", (), ("sum(x)",)),
    Case("no keys: 8 calls of 4 columns", (), (
        "sum(x)", "mean(x)", "sum(y)", "mean(y)", "min(i)", "max(i)", "sum(n)", "count(*)",
    )),
    Case("20 groups: sum, mean, count", ("few",), ("sum(x)", "mean(x)", "count(*)")),
    Case("20 groups: 8 calls of 5 columns", ("few",), (
        "sum(x)", "sum(y)", "sum(z)", "sum(n)", "mean(x)", "mean(y)", "mean(z)", "count(*)",
    )),
    Case("20 groups: least and greatest of 3 columns", ("few",), ("min(x)", "max(x)", "min(i)", "max(i)", "min(n)", "max(n)")),
    Case("a million groups: sum, mean, count", ("user",), ("sum(x)", "mean(x)", "count(*)")),
    Case("a million groups: 3 sums", ("user",), ("sum(n)", "sum(i)", "sum(y)")),
    Case("a million groups: 3 means of float64", ("user",), ("mean(x)", "mean(y)", "mean(z)")),
    Case("a million groups: 6 calls of 6 columns", ("user",), (
        "sum(x)", "sum(y)", "sum(z)", "sum(n)", "sum(i)", "max(m)",
    )),
    Case("a million groups: greatest less least", ("user",), ("max(n)", "min(i)")),
    Case("a million groups: variance", ("user",), ("var(x)",)),
    Case("a million groups: correlation", ("user",), ("corr(x, y)",)),
    Case("a million groups: sums of decimals", ("user",), ("sum(short)", "sum(long)")),
    Case("a million groups in order: sum, mean, count", ("sorted",), ("sum(x)", "mean(x)", "count(*)")),
    Case("a group a row: sum, count", ("unique",), ("sum(x)", "count(*)")),
    Case("a group a row: 3 sums, count", ("unique",), ("sum(x)", "sum(y)", "sum(i)", "count(*)")),
)  # fmt: skip


def main() -> None:
    """Measure all, and keep the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    backend = CudfBackend()
    columns = table(given.rows)
    found: dict[str, Any] = {
        "benchmark": "aggregates", **described(installed()), "rows": given.rows, "runs": given.runs, "cases": {},
    }  # fmt: skip
    found["hardware"] |= gpu()
    for case, milliseconds in measured(backend, columns, given.runs, given.only):
        print(f"{case.name:50} {milliseconds:8.2f} ms", flush=True)
        found["cases"][case.name] = milliseconds
    if given.results:
        given.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def measured(backend: CudfBackend, columns: Frame, runs: int, only: str) -> Iterator[tuple[Case, float]]:
    """Yield each case with its milliseconds."""
    for case in CASES:
        if only in case.name:
            names = (name for name in columns.columns if any(f"({name}" in c or f" {name})" in c for c in case.calls))
            frame = columns.select((*case.keys, *names))
            exprs = {f"c{place}": expr(text) for place, text in enumerate(case.calls)}
            node = planned(frame, lambda t, exprs=exprs, case=case: t.aggregate(*case.keys, **exprs))
            (below,) = node.inputs
            if isinstance(below, Project):  # sums of narrow integers are of their int64
                frame = backend.run(below, frame)
            yield case, best_ms(partial(backend.run, node, frame), runs)


def table(rows: int) -> Frame:
    """Return random columns: float64 x (5 % null), y, z; int32 n, m; int64 i; decimals; and keys."""
    draw = cupy.random.default_rng(1)
    made = {name: column(pa.float64(), draw.random(rows)) for name in "xyz"}
    words = cupy.zeros((rows + 511) // 512 * 16, "uint32")
    packed = cupy.packbits(draw.random(rows, dtype="float32") >= 0.05, bitorder="little")
    words.view("uint8")[: len(packed)] = packed
    valid = int(cupy.unpackbits(packed)[:rows].sum())
    made["x"] = replace(made["x"], valid=words, nulls=rows - valid)
    made["n"] = column(pa.int32(), draw.integers(1, 16, rows).astype("int32"))
    made["m"] = column(pa.int32(), draw.integers(1, 6, rows).astype("int32"))
    made["i"] = column(pa.int64(), draw.integers(-(10**12), 10**12, rows))
    made["short"] = column(pa.decimal128(12, 2), draw.integers(-(10**9), 10**9, rows))
    long = cupy.empty((rows, 2), "int64")
    long[:, 0] = draw.integers(0, 2**62, rows)
    long[:, 1] = 3
    made["long"] = column(pa.decimal128(30, 2), long)
    made["few"] = column(pa.int32(), draw.integers(0, CATEGORIES, rows).astype("int32"))
    user = draw.integers(0, USERS, rows)
    made["user"], made["sorted"] = column(pa.int64(), user), column(pa.int64(), cupy.sort(user))
    made["unique"] = column(pa.int64(), cupy.random.permutation(rows).astype("int64") * 7)
    return Frame(made, rows)


def column(dtype: pa.DataType, data: Any) -> Vector:
    """Return a column without nulls."""
    return Vector(dtype, len(data), data)


if __name__ == "__main__":
    main()
