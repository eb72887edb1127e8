"""A logical plan: the nodes that a run computes, what it promises of their rows, its text and its value."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gpuetl.errors import InvalidPipeline, Place, Problem, StepError, have_hint
from gpuetl.expressions.ir import Call, Cast, Column, Literal, Parameter
from gpuetl.format_options import FormatOptions
from gpuetl.formats.dataset import Dataset
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath, StorePath
from gpuetl.places.target import Target
from gpuetl.plan.graph import draw, walk_graph
from gpuetl.plan.incremental import Incremental, Selection
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Explode, Filter, Kernel, Limit, NewRows, Project, ScalarJoin, Sort
from gpuetl.records import dataclass
from gpuetl.state.pipeline_state import PipelineState
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import DataType
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.user_kernels.kernel_code import KernelCode
from gpuetl.user_kernels.python_function import PythonFunction

# What a plan promises of a stage's rows, and where a run finds how many rows break it.


ROWS, REMOVED = ":rows", ":removed"
"""Columns of a stage's own counts: its rows, and those that a rule drops or puts in quarantine."""


@dataclass(frozen=True)
class Check:
    """One rule of a stage.

    The column of its name in the relation `counts`, one of `Plan.checks`, has the number of rows that break it; that
    named as the stage has the number of its rows.  A rule for the number of rows has `bounds` instead.  `shown` are the
    rows that break it, which only a run computes that needs them.
    """

    stage: str
    rule: str
    on_fail: str
    counts: str
    max_fraction: float = 0.0
    bounds: tuple[int | None, int | None] | None = None
    shown: Node | None = field(default=None, repr=False, compare=False)
    place: Place | None = field(default=None, compare=False)

    @property
    def content(self) -> tuple[object, ...]:
        """What makes rules differ, besides what is counted."""
        return self.on_fail, self.max_fraction, self.bounds


# A logical plan: the nodes that a run computes, by the names of the sinks and stages that they stand for.


NOT_DIGESTED = ("mark", "file_suffix", "twin", "text", "kind", "flops_per_row")
"""Fields that are left out of digests: what follows from others, files that are named by their path, and remarks."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A graph of nodes with several roots: the sinks, the stages whose rows a run keeps in memory, and its checks.

    `checkpoints` write the rows of stages to the state folder, by stage.

    `checks` are what a run counts before it commits: of rules one row each, by names that `rules` use.
    `rejected` are the rows in quarantine, by names such as `clean.rejected`.  `warnings` are what the user should look
    at before the rows are trusted; they change nothing of the plan.  `notes` say what was
    inferred.  `unused` are warnings of sources, stages and
    parameters that nothing uses.
    `state` is the folder of what the pipeline remembers between runs, None where it can have none.  `remembered` is
    what that held when the plan was made, None where the plan has nothing to remember.  `moves_state` is whether a
    run changes it: that of a part reads the same rows, and leaves the state as it is.
    `place_of` returns where the user has written what an origin names, and the expression of an output column of it.
    `streams` is how many partitions of kept stages are in use at once where these are handed over one by one; 0 keeps
    them whole.
    `incremental` are the sources of which a run reads only what is new, and `selections` what that is, once it was
    chosen.
    """

    name: str
    sources: Mapping[str, Node]
    stages: Mapping[str, Node]
    sinks: Mapping[str, Node]
    kept: Mapping[str, Node] = field(default_factory=dict)
    checks: Mapping[str, Node] = field(default_factory=dict)
    rules: tuple[Check, ...] = ()
    rejected: Mapping[str, Node] = field(default_factory=dict)
    checkpoints: Mapping[str, Node] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    unused: tuple[Problem, ...] = ()
    state: FilePath | None = None
    remembered: PipelineState | None = None
    moves_state: bool = True
    place_of: Callable[[object, str], Place | None] = lambda origin, output: None
    streams: int = 0
    incremental: Mapping[str, Incremental] = field(default_factory=dict)
    selections: Mapping[str, Selection] = field(default_factory=dict)

    @property
    def roots(self) -> tuple[Node, ...]:
        """The nodes that a run computes: sinks, then kept stages, then checks, then checkpoints."""
        return tuple(node for named in self._named_roots for node in named.values())

    @property
    def _named_roots(self) -> tuple[Mapping[str, Node], ...]:
        return self.sinks, self.kept, self.checks, self.checkpoints

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
        have = {**self.sources, **self.stages, **self.rejected}
        for name in names:
            if name not in have:
                raise InvalidPipeline.because(
                    coded("GE1020", f"unknown stage '{name}'"), have_hint(name, have, noun="Sources and stages")
                )
        return replace(self, kept={name: have[name] for name in names})

    def with_results(self) -> Plan:
        """Return the plan of a run that computes something: without sinks, it keeps the last stages."""
        return self if self.sinks or self.kept else self.keeping(self.last_stages())

    def last_stages(self) -> tuple[str, ...]:
        """Return the stages that no other stage reads."""
        inner = {id(child) for node in walk_graph(*self.stages.values()) for child in node.inputs}
        return tuple(name for name, node in self.stages.items() if id(node) not in inner)

    def with_roots(self, roots: Iterable[Node]) -> Plan:
        """Return the plan with other nodes for its roots, in the order of `roots`; itself where they are the same."""
        nodes = list(roots)
        if all(new is old for new, old in zip(nodes, self.roots, strict=True)):
            return self
        rest = iter(nodes)
        sinks, kept, checks, checkpoints = ({name: next(rest) for name in names} for names in self._named_roots)
        return replace(self, sinks=sinks, kept=kept, checks=checks, checkpoints=checkpoints)

    def replacing(self, replaced: Mapping[int, Node]) -> Plan:
        """Return the plan with other nodes in the place of some, by identity; what only those read is not computed."""
        if not replaced:
            return self
        done: dict[int, Node] = {}
        for node in self.nodes:
            done[id(node)] = replaced.get(id(node)) or node.with_inputs([done[id(child)] for child in node.inputs])
        return self.with_roots(done[id(root)] for root in self.roots)

    def rewrite(self, rule: Callable[[Node], Node]) -> Plan:
        """Apply `rule` to every node once, inputs first; shared nodes stay shared."""
        done: dict[int, Node] = {}
        for node in self.nodes:
            done[id(node)] = rule(node.with_inputs([done[id(child)] for child in node.inputs]))
        return self.with_roots(done[id(root)] for root in self.roots)

    def rewrite_all(self, rule: Callable[[Node], Node]) -> Plan:
        """Apply `rule` once to every node of sources, stages, quarantines and rules, and of what a run computes."""
        rules = [rule.shown for rule in self.rules if rule.shown is not None]
        named = (self.sources, self.stages, self.sinks, self.kept, self.checks, self.rejected)
        done: dict[int, Node] = {}
        for node in walk_graph(*(one for nodes in named for one in nodes.values()), *rules):
            done[id(node)] = rule(node.with_inputs([done[id(child)] for child in node.inputs]))

        def of(nodes: Mapping[str, Node]) -> dict[str, Node]:
            return {name: done[id(node)] for name, node in nodes.items()}

        return replace(
            self, sources=of(self.sources), stages=of(self.stages), sinks=of(self.sinks), kept=of(self.kept),
            checks=of(self.checks), rejected=of(self.rejected),
            rules=tuple(one if one.shown is None else replace(one, shown=done[id(one.shown)]) for one in self.rules),
        )  # fmt: skip

    def consumers(self) -> dict[int, int]:
        """Return how many nodes or roots read each node, by identity."""
        counts: dict[int, int] = {id(root): 1 for root in self.roots}
        for node in self.nodes:
            for child in node.inputs:
                counts[id(child)] = counts.get(id(child), 0) + 1
        return counts

    @contextmanager
    def pointing(self) -> Iterator[None]:
        """Let errors of steps that leave the block point at the user's text."""
        try:
            yield
        except StepError as error:
            error.pointed(self.place_of(error.origin, error.output))
            raise

    @property
    def fingerprint(self) -> str:
        """A digest of what the plan computes: equal for equal plans, whatever their text or their stages' names."""
        roots = self.sinks or self.stages
        digests = digests_of([*roots.values(), *self.checks.values()], choices=False)
        parts = [f"{name}={digests[id(node)]}" for name, node in sorted(roots.items())]
        parts += sorted(f"{digests[id(self.checks[rule.counts])]} {rule.rule} {rule.content}" for rule in self.rules)
        whole = "\0".join(parts)
        return hashlib.sha256(whole.encode()).hexdigest()[:16]


def digests_of(roots: Iterable[Node], choices: bool = True) -> dict[int, str]:
    """Return a digest of what each node computes, of the roots and all below them, by identity.

    Without `choices`, those of two runs are equal that read other rows of an incremental source.
    """
    digests: dict[int, str] = {}
    for node in walk_graph(*roots):
        if isinstance(node, NewRows) and not choices:
            digests[id(node)] = digests[id(node.source)]
            continue
        parts = [type(node).__name__, *map(repr, content_of(node)), *(digests[id(child)] for child in node.inputs)]
        digests[id(node)] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return digests


def content_of(node: Node) -> list[tuple[str, Any]]:
    """Return a node's own fields, without its inputs and its origin."""
    own = ((name, getattr(node, name)) for name in node.__dataclass_fields__ if name != "origin")
    return [(name, _plain(value)) for name, value in own if not isinstance(value, Node)]


def _plain(value: Any) -> Any:
    """Return a field's value as plain data: paths are whole, wherever the pipeline's folder was given from."""
    if isinstance(value, Mapping):
        return [(name, _plain(item)) for name, item in value.items()]
    if isinstance(value, Path):
        return os.path.abspath(value)  # noqa: PTH100  Path.absolute keeps the dots
    if isinstance(value, StorePath):
        return str(value) if not value.storage.place else (str(value), value.storage.place)
    if isinstance(value, Dataset):
        allowed = (value.extra_columns, value.missing_columns, value.filename)
        return _plain(value.path), value.format, list(value.schema.items()), value.options.changed, allowed
    if isinstance(value, FormatOptions):
        return value.changed
    if isinstance(value, Target | KernelContract | KernelCode | PythonFunction):
        return [_plain(getattr(value, name)) for name in value.__dataclass_fields__ if name not in NOT_DIGESTED]
    return value


# A logical plan as an indented tree, sinks first.


def explain_plan(plan: Plan) -> str:
    """Return the tree of every root."""
    counts = plan.consumers()
    return "\n".join(draw(plan.roots, lambda node: node.describe(), lambda node: counts[id(node)] > 1))


# The order that a relation's rows leave in, on every engine and in any number of partitions.


def promised_order(node: Node) -> tuple[str, ...]:
    """Return the columns in whose order a stage's rows leave on every engine: a sort's, as far as they are still there.

    Windows leave an order too, in each partition; across partitions none is promised.
    """
    below = node
    while passes_order(below):
        below = below.inputs[0]
    return tuple(key.column for key in node.ordering) if isinstance(below, Sort) else ()


def passes_order(node: Node) -> bool:
    """Return whether an operation leaves the rows of its first input in their order."""
    is_row_kernel = isinstance(node, Kernel) and not node.grouped
    return is_row_kernel or isinstance(node, Filter | Project | Limit | Explode | ScalarJoin)


# A plan as a value: equal for plans that are the same in all that a run of them can tell, names and origins too.


DATA = (
    str,
    bool,
    int,
    type(None),
    DataType,
    Call,
    Cast,
    Column,
    Literal,
    Parameter,
    Origin,
    SortKey,
    Target,
    FormatOptions,
)
"""What is compared by value and never changes."""
MOST_FILES = 256
"""Of a source, beyond which its footers take much memory to keep them with a plan."""


class NoValue(Exception):
    """Of a plan with what may change while it looks the same: kernels' files, rows in memory, files just written."""


def value_of(plan: Plan) -> Hashable:
    """Return a plan's value, with the state in which its sources' files are.

    Raises
    ------
    NoValue
        Where it has none.
    DatasetError
        For a source's file that cannot be read.
    """
    roots = (plan.sinks, plan.kept, plan.checks, plan.checkpoints)
    named = [item for names in (plan.stages, *roots) for item in names.items()]
    numbers: dict[int, int] = {}
    nodes: list[Hashable] = []
    for node in walk_graph(*(node for _, node in named)):
        numbers[id(node)] = len(nodes)
        nodes.append((type(node).__name__, tuple(numbers[id(child)] for child in node.inputs), *own_fields(node)))
    names = tuple((name, numbers[id(node)]) for name, node in named)
    return tuple(nodes), names, plan.streams, *map(len, roots)


def own_fields(node: Node) -> Iterator[Hashable]:
    """Yield the values of a node's fields, without its inputs, and what follows from them."""
    for name in node.__dataclass_fields__:
        if name not in node.input_names and name != "locality":
            yield frozen(getattr(node, name))


def frozen(value: Any) -> Hashable:
    """Return a field's value as one that can be a key."""
    if isinstance(value, DATA):
        return type(value), value
    if isinstance(value, tuple):
        return tuple(map(frozen, value))
    if isinstance(value, Mapping):
        return tuple((name, frozen(item)) for name, item in value.items())
    if isinstance(value, Dataset) and value.file_format.keeps_plans:
        allowed = (value.extra_columns, value.missing_columns, value.filename, value.options)
        declared = (value.declared, value.partitions, allowed)
        return value.name, value.path, *map(frozen, declared), value.wanted, value.excluded, tuple(file_states(value))
    raise NoValue


def file_states(dataset: Dataset) -> Iterator[Hashable]:
    """Yield the states of the files."""
    if len(dataset.files) > MOST_FILES:
        raise NoValue
    for file in dataset.files:
        state = dataset.file_format.planned_state(dataset, file)
        if state is None:
            raise NoValue
        yield file.path, frozen(file.partition), state
