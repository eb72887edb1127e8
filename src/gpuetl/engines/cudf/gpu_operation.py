"""The operations of the cudf backend: for each node of the plan a handler, and what lists its programs, by its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch
from typing import NamedTuple

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.machine import KernelSource, Machine
from gpuetl.plan.node import Node


class Needed(NamedTuple):
    """The programs that are asked for, in order, and the kinds of the columns that are given."""

    sources: list[KernelSource]
    columns: Mapping[str, Kind]


@singledispatch
def run_operation(operation: Node, machine: Machine, *frames: Frame) -> Frame:
    """Run `operation` on one partition of each input."""
    raise NotImplementedError(f"the cudf backend has no handler for {type(operation).__name__}")


@singledispatch
def programs(operation: Node, *frames: Kinds) -> Needed:
    """List the programs that `run_operation` compiles for `operation`, given the kinds of each input's columns.

    Programs of the closed set are not among them.  By default there are none, and columns pass as they are.
    """
    return Needed([], passed(operation.schema, *(frame.columns for frame in frames)))


def passed(schema: Iterable[str], *columns: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return the kinds of columns that pass, from the first frame that has each."""
    known = {name: kind for each in reversed(columns) for name, kind in each.items()}
    return {name: known[name] for name in schema}
