"""What is known of each node's rows: how precise their columns are, and what tells them apart."""

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

from fuzz.precision import Precision, precision_of
from gpuetl.expressions.ir import Column, Literal
from gpuetl.plan import nodes
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes.vocabulary import VALUE
from gpuetl.types.data_types import is_floating

LONGEST_LIST, MOST_MADE = 4, 24
"""About how many elements a list has, and rows that fill a gap, so that such rows are not joined without bound."""


@dataclass(frozen=True)
class Facts:
    """What is known of a node's rows beside their types.

    `unique` are columns that tell rows apart, or None; `most_rows` bounds their number; `sorted` says that they come
    in the order of the node's `ordering`, on any number of partitions.
    """

    precision: dict[str, Precision]
    unique: frozenset[str] | None
    most_rows: int
    sorted: bool = False


def facts_of(node: Node, known: dict[int, tuple[Node, Facts]]) -> Facts:
    """Return the facts of a node; those of its sources are `known`, and so are, after the call, those of all nodes."""
    for each in walk_graph(node):
        if id(each) not in known:
            known[id(each)] = each, facts(each, *(known[id(child)][1] for child in each.inputs))
    return known[id(node)][1]


@singledispatch
def facts(node: Any, *inputs: Facts) -> Facts:
    """Return a node's facts; by default its columns are those of its first input, or exact where they are new."""
    kept = {name: inputs[0].precision.get(name, Precision.EXACT) for name in node.schema}
    return Facts(kept, None, sum(each.most_rows for each in inputs))


@facts.register
def filter_facts(node: nodes.Filter, source: Facts) -> Facts:
    """Fewer rows, in order."""
    return source


@facts.register
def limit_facts(node: nodes.Limit, source: Facts) -> Facts:
    """Fewer rows, in order."""
    return Facts(
        source.precision,
        source.unique,
        source.most_rows if node.count is None else min(node.count, source.most_rows),
        source.sorted,
    )


@facts.register
def sort_facts(node: nodes.Sort, source: Facts) -> Facts:
    """The same rows, in an order that is total where its keys tell rows apart."""
    total = source.unique is not None and source.unique <= {key.column for key in node.by}
    return Facts(source.precision, source.unique, source.most_rows, total)


@facts.register
def project_facts(node: nodes.Project, source: Facts) -> Facts:
    """Rows keep their order and what tells them apart, as far as those columns are kept."""
    names = {old: new for new, old in node.passed.items()}
    unique = None
    if source.unique is not None and source.unique <= names.keys():
        unique = frozenset(names[name] for name in source.unique)
    precision = {name: precision_of(expr, source.precision) for name, expr in node.columns.items()}
    total = unique is not None and unique <= {key.column for key in node.ordering}
    return Facts(precision, unique, source.most_rows, source.sorted and total)


@facts.register
def join_facts(node: nodes.Join, left: Facts, right: Facts) -> Facts:
    """What tells pairs of rows apart is what tells both rows apart."""
    if node.how in ("semi", "anti"):
        return replace(left, sorted=False)
    both = {**right.precision, **left.precision}
    precision = {name: both[name] for name in node.schema}
    for a, b in zip(node.left_on, node.right_on, strict=True):
        precision[a] = min(left.precision[a], right.precision[b])
    unique: frozenset[str] | None = None
    if left.unique is not None and right.unique is not None:
        unique = left.unique | (right.unique - set(node.right_on))
    most_rows = left.most_rows * max(right.most_rows, 1)
    if node.how == "full":  # rows of one side alone
        most_rows += right.most_rows
        # a key with a null matches nothing: the same one may stand alone on both sides
        distinct = node.nulls_equal or all(never_null(node.left, name) for name in node.left_on)
        distinct = distinct and any(never_null(node.left, name) for name in left.unique or ())
        unique = unique | set(node.left_on) if unique and distinct else None
    return Facts(precision, unique or None, most_rows)


@facts.register
def asof_join_facts(node: nodes.AsofJoin, left: Facts, right: Facts) -> Facts:
    """What tells left rows apart does so still: each of them has one match at most."""
    both = {**right.precision, **left.precision}
    return Facts({name: both[name] for name in node.schema}, left.unique, left.most_rows)


@facts.register
def scalar_join_facts(node: nodes.ScalarJoin, left: Facts, right: Facts) -> Facts:
    """The left rows, in order."""
    return replace(left, precision={**left.precision, node.value: right.precision[node.value]})


@facts.register
def vocabulary_facts(node: nodes.Vocabulary, source: Facts) -> Facts:
    """A row for each value."""
    exact = dict.fromkeys(node.schema, Precision.EXACT)
    return Facts(exact | {VALUE: source.precision[node.column]}, frozenset([VALUE]), source.most_rows)


@facts.register
def vocabulary_lookup_facts(node: nodes.VocabularyLookup, left: Facts, right: Facts) -> Facts:
    """The left rows."""
    return replace(left, precision={**left.precision, node.output: Precision.EXACT}, sorted=False)


def never_null(node: Node, name: str) -> bool:
    """Tell whether a column is the first of a source, its numbers, and no join has put null among them."""
    if isinstance(node, nodes.Read):
        return name == node.dataset.schema.names[0]
    if isinstance(node, nodes.Project):
        column = node.columns[name]
        return isinstance(column, Column) and never_null(node.source, column.name)
    if isinstance(node, nodes.Join):
        of_left = name in node.left.schema
        kept = node.how in (("inner", "cross", "left", "semi", "anti") if of_left else ("inner", "cross"))
        return kept and never_null(node.left if of_left else node.right, name)
    if isinstance(node, nodes.AsofJoin):
        return name in node.left.schema and never_null(node.left, name)
    return all(name in child.schema and never_null(child, name) for child in node.inputs)


@facts.register
def union_facts(node: nodes.Union, left: Facts, right: Facts) -> Facts:
    """What tells rows of either input apart does so where a column says which input they are from."""
    precision = {name: min(left.precision[name], right.precision[name]) for name in node.schema}
    tags = [
        name
        for name in node.schema
        if (a := constants_in(node.left, name)) and (b := constants_in(node.right, name)) and not a & b
    ]
    unique = None
    if tags and left.unique is not None and right.unique is not None:
        unique = left.unique | right.unique | {tags[0]}
    return Facts(precision, unique, left.most_rows + right.most_rows)


def constants_in(node: Node, name: str) -> frozenset[Any]:
    """Return the only values that a column can have; nothing where that is not known."""
    if isinstance(node, nodes.Union):
        left, right = (constants_in(each, name) for each in node.inputs)
        return left | right if left and right else frozenset()
    if isinstance(node, nodes.Project):
        expr = node.columns[name]
        if isinstance(expr, Column):
            return constants_in(node.source, expr.name)
        if isinstance(expr, Literal) and not is_floating(expr.dtype):  # NaN is not equal to itself
            return frozenset([expr.value])
    return frozenset()


@facts.register
def explode_facts(node: nodes.Explode, source: Facts) -> Facts:
    """The index tells the elements of a list apart."""
    unique = None
    if node.index and source.unique is not None:
        unique = source.unique | {node.index}
    precision = {**source.precision, **dict.fromkeys({node.index} & node.new_columns, Precision.EXACT)}
    return Facts(precision, unique, source.most_rows * LONGEST_LIST)


@facts.register
def insert_facts(node: nodes.InsertRows, source: Facts) -> Facts:
    """The place tells the rows apart that are made for one row."""
    unique = None if source.unique is None else source.unique | {node.place}
    unique = unique if unique and unique <= {node.place, *node.repeated} else None
    return Facts({**source.precision, node.place: Precision.EXACT}, unique, source.most_rows * MOST_MADE)


@facts.register
def aggregate_facts(node: nodes.Aggregate, source: Facts) -> Facts:
    """The keys tell groups apart."""
    results = {name: precision_of(call, source.precision) for name, call in node.calls.items()}
    keys = {name: source.precision[name] for name in node.by}
    return Facts({**keys, **results}, frozenset(node.by), source.most_rows if node.by else 1)


@facts.register
def window_facts(node: nodes.Window, source: Facts) -> Facts:
    """Rows with more columns, in another order."""
    results = {name: precision_of(call, source.precision) for name, call in node.calls.items()}
    unique = None if source.unique is None or source.unique & results.keys() else source.unique
    return Facts({**source.precision, **results}, unique, source.most_rows)


@facts.register
def distinct_facts(node: nodes.Distinct, source: Facts) -> Facts:
    """The keys tell rows apart."""
    return Facts(source.precision, frozenset(node.on), source.most_rows)
