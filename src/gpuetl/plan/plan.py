"""A logical plan: the nodes that a run computes, by the names of the sinks and stages that they stand for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gpuetl.errors import InvalidPipeline, Problem, have_hint
from gpuetl.io.dataset import Dataset
from gpuetl.io.target import Target
from gpuetl.kernels.contract import KernelContract
from gpuetl.kernels.texts import KernelTexts
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node


@dataclass(frozen=True, eq=False)
class Plan:
    """A graph of nodes with several roots: the sinks, and the stages whose rows a run keeps in memory.

    `warnings` are what the user should look at before the rows are trusted; they change nothing of the plan.
    """

    name: str
    sources: Mapping[str, Node]
    stages: Mapping[str, Node]
    sinks: Mapping[str, Node]
    kept: Mapping[str, Node] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()

    @property
    def roots(self) -> tuple[Node, ...]:
        """The nodes that a run computes: sinks, then kept stages."""
        return (*self.sinks.values(), *self.kept.values())

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes that a run computes, inputs before the nodes that read them."""
        return tuple(walk_graph(*self.roots))

    def keeping(self, names: Iterable[str]) -> Plan:
        """Return the plan of a run that keeps the rows of these stages or sources.

        Raises
        ------
        InvalidPipeline
            For a name that is neither.
        """
        have = {**self.sources, **self.stages}
        for name in names:
            if name not in have:
                raise InvalidPipeline.because(
                    f"unknown stage '{name}'", have_hint(name, have, noun="Sources and stages")
                )
        return replace(self, kept={name: have[name] for name in names})

    def with_results(self) -> Plan:
        """Return the plan of a run that computes something: without sinks, it keeps the last stages."""
        return self if self.roots else self.keeping(self.last_stages())

    def last_stages(self) -> tuple[str, ...]:
        """Return the stages that no other stage reads."""
        inner = {id(child) for stage in self.stages.values() for node in walk_graph(stage) for child in node.inputs}
        return tuple(name for name, node in self.stages.items() if id(node) not in inner)

    def with_roots(self, roots: Iterable[Node]) -> Plan:
        """Return the plan with other nodes for its roots, in the order of `roots`; itself where they are the same."""
        nodes = list(roots)
        if all(new is old for new, old in zip(nodes, self.roots, strict=True)):
            return self
        sinks, kept = nodes[: len(self.sinks)], nodes[len(self.sinks) :]
        return replace(
            self, sinks=dict(zip(self.sinks, sinks, strict=True)), kept=dict(zip(self.kept, kept, strict=True))
        )

    def rewrite(self, rule: Callable[[Node], Node]) -> Plan:
        """Apply `rule` to every node once, inputs first; shared nodes stay shared."""
        done: dict[int, Node] = {}
        for node in self.nodes:
            done[id(node)] = rule(node.with_inputs([done[id(child)] for child in node.inputs]))
        return self.with_roots(done[id(root)] for root in self.roots)

    def consumers(self) -> dict[int, int]:
        """Return how many nodes or roots read each node, by identity."""
        counts: dict[int, int] = {id(root): 1 for root in self.roots}
        for node in self.nodes:
            for child in node.inputs:
                counts[id(child)] = counts.get(id(child), 0) + 1
        return counts

    @property
    def fingerprint(self) -> str:
        """A digest of what the plan computes: equal for equal plans, whatever their text or their stages' names."""
        digests: dict[int, str] = {}
        roots = self.sinks or self.stages
        for node in walk_graph(*roots.values()):
            parts = [type(node).__name__, *map(repr, _content(node)), *(digests[id(child)] for child in node.inputs)]
            digests[id(node)] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        whole = "\0".join(f"{name}={digests[id(node)]}" for name, node in sorted(roots.items()))
        return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _content(node: Node) -> list[tuple[str, Any]]:
    """Return a node's own fields, without its inputs and its origin."""
    own = ((name, getattr(node, name)) for name in node.__dataclass_fields__ if name != "origin")
    return [(name, _plain(value)) for name, value in own if not isinstance(value, Node)]


def _plain(value: Any) -> Any:
    """Return a field's value as plain data: paths are whole, wherever the pipeline's folder was given from."""
    if isinstance(value, Mapping):
        return [(name, _plain(item)) for name, item in value.items()]
    if isinstance(value, Path):
        return os.path.abspath(value)  # noqa: PTH100  Path.absolute keeps the dots
    if isinstance(value, Dataset):
        return _plain(value.path), value.format, list(value.schema.items()), value.delimiter, value.nulls
    if isinstance(value, Target | KernelContract | KernelTexts):
        return [_plain(getattr(value, name)) for name in value.__dataclass_fields__]
    return value
