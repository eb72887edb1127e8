"""Samples of sources in which the rows that meet stay together: rows are kept by a hash of the keys by which they do.

A *choice* gives sources a column each.  A source's rows are kept where the hash of that column is below a limit, the
same for all: equal keys are kept in every source or in none.  All choices that begin at a key of the largest source
are tried; the best splits the fewest joins and windows, then the fewest other groups, then leaves fewest rows whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gpuetl.errors import InvalidPipeline
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.messages import coded
from gpuetl.physical.size_estimates import CSV_ROW_BYTES
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Locality, Node
from gpuetl.plan.nodes import AsofJoin, Explode, Filter, Grouped, InsertRows, Join, Project, Read, Union
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, INT64

LEAST, HASHES = -(1 << 63), 1 << 64
Choice = Mapping[int, str]
"""The column by which a source is sampled, by the identity of its node; the other sources are whole."""
Traced = Mapping[str, frozenset[tuple[int, str]]]
"""The columns of sources whose values a relation's columns have, unchanged."""


@dataclass(frozen=True)
class Cost:
    """The steps at which a choice splits groups, and the rows that stay whole."""

    split: tuple[tuple[Node, bool], ...]
    whole_rows: int

    @property
    def order(self) -> tuple[int, int, int]:
        """Joins and windows first, then other groups, then rows."""
        binding = sum(binds for _, binds in self.split)
        return binding, len(self.split) - binding, self.whole_rows


def sampled(plan: Plan, rows: int) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan on about `rows` rows of its largest source, and a sentence a source, and a stage that is split.

    Raises
    ------
    InvalidPipeline
        For fewer than one row.
    """
    filters, notes = sample_filters(plan, rows)
    return plan.rewrite(lambda node: filters.get(id(node), node)), notes


def sample_filters(plan: Plan, rows: int) -> tuple[dict[int, Filter], tuple[str, ...]]:
    """Return the filters of a sample, by the identity of the sources above which they stand, and what `sampled` says.

    Raises
    ------
    InvalidPipeline
        For fewer than one row.
    """
    if rows < 1:
        raise InvalidPipeline.because(coded("GE3004", f"a sample takes a whole number of rows from 1, got {rows}"))
    sizes = {node: source_rows(node) for node in walk_graph(*plan.roots) if isinstance(node, Read)}
    largest = max(sizes.values(), default=0)
    if largest <= rows:
        return {}, tuple(f"source '{node.origin.name}': whole" for node in sizes)
    choice = best_choice(plan, sizes)
    limit = LEAST + HASHES * rows // largest
    filters = {id(node): kept_by_hash(node, choice[id(node)], limit) for node in sizes if id(node) in choice}
    return filters, (*source_notes(sizes, choice, rows, largest), *split_notes(plan, sizes, choice))


def source_rows(node: Read) -> int:
    """Return the rows of a source by its footers; those of CSV files by their size."""
    groups = node.dataset.row_groups
    return sum(g.rows if g.rows >= 0 else sum(g.file_bytes.values()) // CSV_ROW_BYTES for g in groups)


def kept_by_hash(node: Node, name: str, limit: int) -> Filter:
    """Return the rows whose key has a hash below the limit."""
    hashed = Call(FUNCTIONS["scalar", "hash"], (Column(name, node.schema[name]),), INT64)
    kept = Call(FUNCTIONS["scalar", "less"], (hashed, Literal(limit, INT64)), BOOL)
    return Filter(source=node, predicate=kept, origin=node.origin)


def best_choice(plan: Plan, sizes: Mapping[Read, int]) -> Choice:
    """Return the choice that splits least; each begins at the largest source and grows while it splits no more."""
    sources = sorted(sizes, key=lambda node: -sizes[node])
    keys = key_columns(plan)
    found: list[tuple[tuple[int, int, int], Choice]] = []
    for seed in keys.get(id(sources[0]), ()):
        choice: dict[int, str] = {id(sources[0]): seed}
        least = cost(plan, sizes, choice)
        for source in sources[1:]:
            for name in keys.get(id(source), ()):
                more = {**choice, id(source): name}
                grown = cost(plan, sizes, more)
                if grown.order < least.order:
                    choice, least = more, grown
        found.append((least.order, choice))
    return min(found, key=lambda pair: pair[0])[1] if found else {}


def key_columns(plan: Plan) -> dict[int, list[str]]:
    """Return, for each source by identity, the columns that lead to keys of groups and joins, in their order there."""
    found: dict[int, list[str]] = {}
    traced: dict[int, Traced] = {}
    for node in walk_graph(*plan.roots):
        inputs = [traced[id(child)] for child in node.inputs]
        for column in (column for columns in keys_of_inputs(node, inputs) for column in columns):
            names = found.setdefault(column[0], [])
            names += [column[1]] if column[1] not in names else []
        traced[id(node)] = traced_columns(node, inputs)
    return found


def keys_of_inputs(node: Node, inputs: list[Traced]) -> Iterator[frozenset[tuple[int, str]]]:
    """Yield where the keys of an operation come from."""
    if isinstance(node, Join | AsofJoin):
        sides: Iterable[tuple[Traced, tuple[str, ...]]] = zip(inputs, (node.left_on, node.right_on), strict=True)
        for side, names in sides:
            yield from (side.get(name, frozenset()) for name in names)
    elif node.locality is Locality.KEY:
        yield from (inputs[0].get(name, frozenset()) for name in node.keys)


def traced_columns(node: Node, inputs: list[Traced]) -> Traced:
    """Return where the columns of a node come from."""
    if isinstance(node, Read):
        return {name: frozenset([(id(node), name)]) for name in node.columns}
    if isinstance(node, Project):
        return {name: inputs[0].get(source, frozenset()) for name, source in node.passed.items()}
    if isinstance(node, Union):
        left, right = inputs
        return {name: left.get(name, frozenset()) | right.get(name, frozenset()) for name in node.schema}
    new_columns = node.new_columns if isinstance(node, Grouped | Explode | InsertRows) else frozenset[str]()
    known = {**(inputs[1] if len(inputs) > 1 else {}), **inputs[0]}
    return {name: known[name] for name in node.schema if name in known and name not in new_columns}


def cost(plan: Plan, sizes: Mapping[Read, int], choice: Choice) -> Cost:
    """Follow the columns by which rows were chosen through the plan, and count what they split.

    A relation is whole (None), or sampled by the columns named: each holds the key that was hashed.  It may be sampled
    and have no such column any more; then whatever brings rows together is split.
    """
    by: dict[int, frozenset[str] | None] = {}
    split: list[tuple[Node, bool]] = []
    for node in walk_graph(*plan.roots):
        inputs = [by[id(child)] for child in node.inputs]
        if is_split(node, inputs):
            split.append((node, isinstance(node, Join | AsofJoin | Grouped)))
        by[id(node)] = frozenset([choice[id(node)]]) if id(node) in choice else sampled_by(node, inputs)
    return Cost(tuple(split), sum(rows for node, rows in sizes.items() if id(node) not in choice))


def is_split(node: Node, inputs: list[frozenset[str] | None]) -> bool:
    """Return whether rows that an operation brings together were chosen apart."""
    if isinstance(node, Join | AsofJoin):
        left, right = inputs
        if left is not None and right is not None:
            return not any(a in left and b in right for a, b in zip(node.left_on, node.right_on, strict=True))
        # where only one side was sampled, a row of the other may have lost its partner
        return (node.how == "full" and left is not right) or (
            right is not None and (node.how in ("left", "anti") or isinstance(node, AsofJoin))
        )
    if node.locality is Locality.KEY:
        names = inputs[0]
        return names is not None and not names & frozenset(node.keys)
    return isinstance(node, Union) and inputs[0] != inputs[1] and not (inputs[0] and inputs[1])


def sampled_by(node: Node, inputs: list[frozenset[str] | None]) -> frozenset[str] | None:
    """Return the columns of a node that hold the key by which its rows were chosen; None where they are whole."""
    if all(names is None for names in inputs):
        return None
    left, right = (*inputs, None)[:2]
    names: frozenset[str] = left or frozenset()
    if isinstance(node, Project):
        return frozenset(name for name, source in node.passed.items() if source in names)
    if isinstance(node, Union):
        return names & (right or frozenset())
    if isinstance(node, Join | AsofJoin) and right is not None and node.how not in ("semi", "anti"):
        keys = frozenset(a for a, b in zip(node.left_on, node.right_on, strict=True) if b in right)
        names = (names | keys | right) if left is None or names & keys else frozenset()
    new_columns = node.new_columns if isinstance(node, Grouped | Explode | InsertRows) else frozenset[str]()
    return frozenset(name for name in names if name in node.schema and name not in new_columns)


def source_notes(sizes: Mapping[Read, int], choice: Choice, rows: int, largest: int) -> Iterator[str]:
    """Say of each source what was taken."""
    reason = "the key of the sample does not reach it" if choice else "no column of the largest source leads to a key"
    for node in sizes:
        name = choice.get(id(node))
        how = f"about {rows / largest:.1%} of the values of '{name}'" if name else f"whole, {reason}"
        yield f"source '{node.origin.name}': {how}"


def split_notes(plan: Plan, sizes: Mapping[Read, int], choice: Choice) -> Iterator[str]:
    """Say at which steps groups are not whole."""
    origins: dict[Origin, None] = dict.fromkeys(node.origin for node, _ in cost(plan, sizes, choice).split)
    yield from (f"{origin}: its groups are parts of the whole ones" for origin in origins)
