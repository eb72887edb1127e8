"""Pipelines that a program may make: each shape has one thing very often."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import gpuetl as ge
from gpuetl import Pipeline, col
from gpuetl.expressions.expression import apply

HEAD = "gpuetl: 1\nname: p\nsources:\n  t: {parquet: t.parquet}\n"
Made = str | Pipeline | Callable[[], Pipeline]
"""The text of a pipeline, a pipeline, or what declares one."""


@dataclass(frozen=True)
class Shape:
    """What there is very often, how often at most, and what makes the pipeline from `t.parquet` (x int64, y string)."""

    what: str
    size: int
    make: Callable[[int, Path], Made]


def stages(lines: Iterable[str], rest: str = "") -> str:
    """Return the text of a pipeline with these stages."""
    return HEAD + "stages:\n" + "\n".join(lines) + "\n" + rest


def chain(count: int, folder: Path, step: str = "with_columns: {x: x + 1}") -> str:
    """Stages that each read the one before."""
    lines = (f"  s{i}: {{from: {f's{i - 1}' if i else 't'}, steps: [{step}]}}" for i in range(count))
    return stages(lines, f"sinks:\n  o: {{from: s{count - 1}, parquet: o.parquet}}\n")


def side_by_side(count: int, folder: Path) -> str:
    """Stages that all read the source, each its own filter."""
    return stages(f"  s{i}: {{from: t, steps: [filter: x > {i}]}}" for i in range(count))


def unions(count: int, folder: Path) -> str:
    """Unions one after the other."""
    lines = (f"  s{i}: {{from: {f's{i - 1}' if i else 't'}, steps: [union: {{with: t}}]}}" for i in range(count))
    return stages(lines, f"sinks:\n  o: {{from: s{count - 1}, parquet: o.parquet}}\n")


def joins(count: int, folder: Path) -> str:
    """Joins one after the other, by the same key."""
    step = "join: {with: t, on: x, how: semi}"
    return chain(count, folder, step)


def grouped(count: int, folder: Path) -> str:
    """Aggregates that are joined to what they are made of: shared rows, and keys that could be reduced."""
    lines = []
    for i in range(count):
        lines += [
            f"  a{i}: {{from: {f's{i - 1}' if i else 't'}, steps: [aggregate: {{by: x, columns: {{y: min(y)}}}}]}}",
            f"  s{i}: {{from: {f's{i - 1}' if i else 't'}, steps: [filter: x > {i}, join: {{with: a{i}, on: x, how: semi}}]}}",
        ]
    return stages(lines, f"sinks:\n  o: {{from: s{count - 1}, parquet: o.parquet}}\n")


def steps(count: int, folder: Path) -> str:
    """One stage of many filters."""
    lines = ["  s:", "    from: t", "    steps:", *(f"      - filter: x > {i}" for i in range(count))]
    return stages(lines)


def sinks(count: int, folder: Path) -> str:
    """Sinks of one stage."""
    lines = [f"  o{i}: {{from: s, parquet: out/o{i}.parquet}}" for i in range(count)]
    return stages(["  s: {from: t, steps: [limit: 5]}"], "sinks:\n" + "\n".join(lines) + "\n")


def parameters(count: int, folder: Path) -> str:
    """Parameters, which one list of conditions reads."""
    lines = [f"  p{i}: {{type: int64, default: {i}}}" for i in range(count)]
    used = [f"  s{i}: {{from: t, steps: [filter: x > $p{i}]}}" for i in range(count)]
    return stages(used, "params:\n" + "\n".join(lines) + "\n")


def rules(count: int, folder: Path) -> str:
    """Rules of one stage."""
    expect = [f"      - that: x > {-i}" for i in range(count)]
    return stages(["  s:", "    from: t", "    steps: [limit: 5]", "    expect:", *expect])


def wide(count: int, folder: Path) -> Callable[[], Pipeline]:
    """A source of many columns, all of them keys: grouped, sorted, joined, made distinct."""
    names = [f"c{i}" for i in range(count)]
    pq.write_table(pa.table({name: pa.array([1], pa.int64()) for name in names}), folder / "wide.parquet")

    def declare() -> Pipeline:
        pipeline = Pipeline("p", root=folder)
        rows = pipeline.read_parquet("wide", "wide.parquet").stage("rows")
        rows.aggregate(names, n=ge.expr("count(*)")).stage("groups")
        rows.sort(names).stage("sorted")
        rows.join(rows, on=names, how="semi").stage("joined")
        rows.distinct(names).stage("distinct")
        return pipeline

    return declare


def wide_steps(count: int, folder: Path) -> Callable[[], Pipeline]:
    """A source of many columns that are computed, renamed, dropped, cast and filled."""
    names = [f"c{i}" for i in range(count)]
    pq.write_table(pa.table({name: pa.array([1], pa.int64()) for name in names}), folder / "wide.parquet")

    def declare() -> Pipeline:
        pipeline = Pipeline("p", root=folder)
        rows = pipeline.read_parquet("wide", "wide.parquet").with_columns(**{name: col(name) + 1 for name in names})
        rows = rows.rename({name: f"d{name}" for name in names}).drop([f"d{name}" for name in names[1::2]])
        kept = [f"d{name}" for name in names[::2]]
        rows = rows.cast(**dict.fromkeys(kept, "float64")).fill_null(**dict.fromkeys(kept, 0.0))
        rows.select(*kept).stage("rows")
        return pipeline

    return declare


def aggregates(count: int, folder: Path) -> Pipeline:
    """One aggregate of many calls."""
    pipeline = Pipeline("p", root=folder)
    calls: dict[str, Any] = {f"a{i}": ge.expr(f"sum(x + {i})") for i in range(count)}
    pipeline.read_parquet("t", "t.parquet").aggregate("y", **calls).stage("rows")
    return pipeline


def windows(count: int, folder: Path) -> Pipeline:
    """One window step of many calls."""
    pipeline = Pipeline("p", root=folder)
    calls = {f"w{i}": ge.expr(f"cum_sum(x + {i})") for i in range(count)}
    pipeline.read_parquet("t", "t.parquet").window(by="y", order_by="x", **calls).stage("rows")
    return pipeline


def files(count: int, folder: Path) -> Pipeline:
    """A source of many files."""
    (folder / "files").mkdir()
    first = folder / "files" / "0.parquet"
    pq.write_table(pa.table({"x": pa.array(range(10), pa.int64()), "y": pa.array(["a"] * 10)}), first)
    for i in range(1, count):
        (folder / "files" / f"{i}.parquet").write_bytes(first.read_bytes())
    pipeline = Pipeline("p", root=folder)
    pipeline.read_parquet("f", "files").filter(col("x") > 5).aggregate("y", n=ge.expr("count(*)")).stage("counts")
    return pipeline


def in_list(count: int, folder: Path) -> Pipeline:
    """A condition with a long list of constants."""
    pipeline = Pipeline("p", root=folder)
    pipeline.read_parquet("t", "t.parquet").filter(col("x").is_in(range(count))).stage("rows")
    return pipeline


def conditions(count: int, folder: Path) -> Pipeline:
    """Conditions that one AND holds, as Python may write it."""
    pipeline = Pipeline("p", root=folder)
    all_of = apply("and", *(col("x") > number for number in range(count)))
    pipeline.read_parquet("t", "t.parquet").filter(all_of).stage("rows")
    return pipeline


def declared(count: int, folder: Path) -> Callable[[], Pipeline]:
    """Stages that Python declares one by one, with names that gpuetl chooses."""

    def declare() -> Pipeline:
        pipeline = Pipeline("p", root=folder)
        rows = pipeline.read_parquet("t", "t.parquet")
        for i in range(count):
            rows = rows.filter(col("x") > i).stage(f"s{i}")
        return pipeline

    return declare


def mistakes(count: int, folder: Path, step: str = "filter: wrong{i} > 1") -> str:
    """Stages with a mistake each."""
    return stages(f"  s{i}: {{from: t, steps: [{step.replace('{i}', str(i))}]}}" for i in range(count))


SHAPES = {
    "chain": Shape("stages in a chain", 10_000, chain),
    "side by side": Shape("stages side by side", 10_000, side_by_side),
    "steps": Shape("filters in one stage", 10_000, steps),
    "unions": Shape("unions in a chain", 10_000, unions),
    "joins": Shape("semi joins in a chain", 10_000, joins),
    "grouped": Shape("aggregates joined to their source, in a chain", 2_000, grouped),
    "declared": Shape("stages declared in Python", 10_000, declared),
    "keys": Shape("keys of a group-by, a sort, a join and a distinct", 100_000, wide),
    "columns": Shape("columns computed, renamed, dropped, cast and filled", 100_000, wide_steps),
    "aggregates": Shape("calls in one aggregate", 10_000, aggregates),
    "windows": Shape("calls in one window step", 10_000, windows),
    "sinks": Shape("sinks", 10_000, sinks),
    "parameters": Shape("parameters", 10_000, parameters),
    "rules": Shape("rules in expect", 10_000, rules),
    "files": Shape("files of a source", 20_000, files),
    "in list": Shape("constants in an IN list", 100_000, in_list),
    "conditions": Shape("conditions in one AND (refused)", 100_000, conditions),
    "mistakes": Shape("stages with a mistake each", 10_000, mistakes),
    "unknown stages": Shape("stages that name an unknown one", 10_000, partial(mistakes, step="union: {with: u{i}}")),
    "unknown keys": Shape("steps with an unknown verb", 10_000, partial(mistakes, step="wrong{i}: 1")),
}  # fmt: skip
