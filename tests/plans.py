"""Plans as lists of lines, for tests of the optimizer and of lowering."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from gpuetl import Pipeline, RunOptions
from gpuetl.optimize import optimize
from gpuetl.physical.layout import Layout
from gpuetl.physical.lower import PhysicalPlan, lower
from gpuetl.physical.nodes import Boundaries, Concat, Exchange, Map, Physical, RangeExchange, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.plan import Plan
from gpuetl.testing import LAYOUTS, assert_same, assert_tables_equal
from left_to_full import is_full


def described(plan: Plan) -> list[str]:
    """Return one line for each node, inputs first."""
    return [node.describe() for node in walk_graph(*plan.roots)]


def kept_plan(pipeline: Pipeline, *stages: str, params: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan as written, which keeps these stages, or the last ones."""
    plan = pipeline.plan(params)
    return plan.keeping(stages or plan.last_stages())


def lowered(pipeline: Pipeline, options: RunOptions | None = None, optimized: bool = True) -> PhysicalPlan:
    """Return the physical plan of a run that keeps the last stages; by default of partitions of 2 rows."""
    options, plan = options or RunOptions(partition_rows=2), kept_plan(pipeline)
    if optimized:
        plan = optimize(plan).plan
    return lower(plan, Layout(options.rows_a_partition("pandas"), options.broadcast_bytes))


def physical_lines(plan: PhysicalPlan) -> list[str]:
    """Return one line for each physical node, inputs first: what it does, and on how many partitions."""
    return [f"{physical_line(node)} [{node.partitions}]" for node in walk_graph(*plan.roots)]


def physical_line(node: Physical) -> str:
    if isinstance(node, Boundaries | RangeExchange):
        return " ".join([node.route, *map(str, node.by)])
    if isinstance(node, Exchange):
        return " ".join([node.route, *node.keys])
    assert isinstance(node, Scan | Map | Concat)
    return type(node.read if isinstance(node, Scan) else node.operation).__name__


def assert_optimized_same(pipeline: Pipeline, ordered: bool = False) -> dict[str, pa.Table]:
    """Raise `AssertionError` unless a plan gives the rows of the plan as it is written; return these by stage.

    In one partition, and with every exchange.  With --full it is `assert_same`, which runs more layouts, and the plan as it
    is written in each of them.
    """
    if is_full():
        return assert_same(pipeline, ordered=ordered)
    kept = pipeline.plan().last_stages()

    def rows(options: RunOptions) -> dict[str, pa.Table]:
        run = pipeline.run(engine="pandas", keep=kept, write=False, options=options)
        return {name: run[name].to_arrow() for name in kept}

    written = rows(RunOptions(optimize=False))
    for layout in ("one partition", "2 rows a partition, no broadcast"):
        for name, table in rows(LAYOUTS[layout]).items():
            assert_tables_equal(table, written[name], ordered, what=f"stage '{name}', {layout}")
    return written
