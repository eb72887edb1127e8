"""Rows and runs: which runs read the same rows again, and which rows no run reads again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpuetl.errors import listing
from gpuetl.expressions.ir import Literal, Parameter, walk
from gpuetl.formats.rejected import without_rejected
from gpuetl.messages import coded
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.incremental import Incremental
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import KeptWindow, Read, Write
from gpuetl.spec.binding.reporter import Reporter
from gpuetl.spec.model import FrameSpec, SourceSpec
from gpuetl.spec.places import place_of


def warn_of_repeated_rows(reporter: Reporter, stages: Mapping[str, Node]) -> None:
    """Warn of a window that keeps its state, and whose sources give each run the same rows: they would count twice.

    What tells runs apart is a source that is incremental or in memory, a path with a value in it, or a parameter
    in a step above.
    """
    for node in walk_graph(*stages.values()):
        if not isinstance(node, KeptWindow):
            continue
        above = [*walk_graph(node.source)]
        names = {one.dataset.name for one in above if isinstance(one, Read)}
        sources = [reporter.spec.sources[name] for name in names if name in reporter.spec.sources]
        varies = any(isinstance(one, FrameSpec) or "$" in one.path or differs_by_run(one) for one in sources)
        if sources and not varies and not any(map(has_parameter, above)):
            listed = listing([f"'{name}'" for name in sorted(names)])
            message = f"{node.origin} keeps its state, and each run reads the same rows of source {listed}"
            hint = "Make a source incremental, or put a parameter into its path or filter: rows would count twice."
            reporter.problems.warn(coded("GE1556", message), hint, place_of(reporter.spec, node.origin))


def report_replaced_rows(
    reporter: Reporter, sinks: Mapping[str, Write], incremental: Mapping[str, Incremental]
) -> None:
    """Report sinks that would replace rows of an incremental source, which no run reads again."""
    for name, node in sinks.items():
        spec, read = reporter.spec.sinks[name], sources_below(node).intersection(incremental)
        if not read or not (spec.run_key or spec.mode == "replace_partitions"):
            continue
        what = f"source '{min(read)}' gives each run only what is new"
        if spec.run_key:
            message = f"{what}: a second run with the same run_key would replace rows that no run reads again"
            hint = "Take run_key out: with incremental sources, a run that is started again doubles no row."
            reporter.add(coded("GE1546", message), hint, spec.run_key[0], "sink", name)
        else:
            message = f"{what}: where a partition is there already, its rows are replaced by the new ones alone"
            hint = "Take mode: append, unless each run gets whole partitions."
            reporter.problems.warn(coded("GE1546", message), hint, reporter.place_of(spec.path), f"sink '{name}'")


def with_sinks(incremental: Mapping[str, Incremental], sinks: Mapping[str, Write]) -> dict[str, Incremental]:
    """Return the incremental sources, each with the sinks that read it, or its quarantine."""
    read = {name: sources_below(node) for name, node in sinks.items() if incremental}
    return {
        name: replace(one, sinks=frozenset(sink for sink, names in read.items() if name in names))
        for name, one in incremental.items()
    }


def sources_below(node: Node) -> frozenset[str]:
    """Return the sources whose rows, or rows in quarantine, a node is made of."""
    return frozenset(without_rejected(one.dataset.name) for one in walk_graph(node) if isinstance(one, Read))


def differs_by_run(source: SourceSpec) -> bool:
    """Return whether a source gives each run other rows."""
    return source.incremental is not None


def has_parameter(node: Node) -> bool:
    """Return whether a step has a parameter in one of its expressions."""
    parts = (part for expr in node.expressions for part in walk(expr))
    return any(isinstance(part, Parameter) or (isinstance(part, Literal) and part.declared) for part in parts)
