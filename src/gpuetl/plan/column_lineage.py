"""Column lineage: for each column of a relation, the columns of sources that it is made from, and how.

    total of   aggregate: {by: [shop], columns: {total: sum(price * amount)}}
    is made of sales.price and sales.amount, DIRECT AGGREGATION; all rows depend on sales.shop, INDIRECT GROUP_BY

It follows the logical plan, before the optimizer, from sources down.  The words are those of OpenLineage's column
lineage facet.  A DIRECT input is a part of the value; an INDIRECT one only decides which value it is, or which rows
there are.  Where one transformation follows another, the one that changes more counts: AGGREGATION before
TRANSFORMATION before IDENTITY, and INDIRECT before DIRECT.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch
from typing import Literal, NamedTuple, get_args

from gpuetl.expressions.ir import Call, Cast, Column, Expr, branch_places
from gpuetl.formats.rejected import RejectedRows
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import (
    Aggregate,
    AsofJoin,
    ConditionJoin,
    Distinct,
    Explode,
    Filter,
    InsertRows,
    Join,
    Kernel,
    KernelReduction,
    Limit,
    Project,
    Read,
    Sort,
    Union,
    Vocabulary,
    VocabularyLookup,
    Window,
    Write,
)
from gpuetl.plan.nodes.vocabulary import COUNT, ID, VALUE

Subtype = Literal[
    "IDENTITY", "TRANSFORMATION", "AGGREGATION", "FILTER", "JOIN", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL"
]
DIRECT: tuple[Subtype, ...] = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
"""Those of inputs that are a part of the value, the weakest first; all others are INDIRECT."""
MASKING = frozenset({"hash", "bucket", "md5", "sha256", "count", "count_distinct", "count_if"})
"""Functions whose result does not show the value."""
RUNNING = ("rolling_", "cum_", "ewm_", "decayed_")
"""How names of window functions begin that aggregate rows."""


class InputColumn(NamedTuple):
    """A column of a source."""

    source: str
    column: str

    def __str__(self) -> str:
        return f"{self.source}.{self.column}"


class Transformation(NamedTuple):
    """How an input takes part; `masking` where the result does not show its value, such as a hash."""

    subtype: Subtype
    masking: bool = False

    @property
    def type(self) -> Literal["DIRECT", "INDIRECT"]:
        """DIRECT if the input is a part of the value."""
        return "DIRECT" if self.subtype in DIRECT else "INDIRECT"

    def then(self, other: Transformation) -> Transformation:
        """Return what this transformation and `other` after it are together."""
        masking = self.masking or other.masking
        if other.type == "INDIRECT":
            return Transformation(other.subtype, masking)
        if self.type == "INDIRECT":
            return Transformation(self.subtype, masking)
        return Transformation(max(self.subtype, other.subtype, key=DIRECT.index), masking)


IDENTITY = Transformation("IDENTITY")
Inputs = Mapping[InputColumn, frozenset[Transformation]]
"""The columns that something depends on, and how."""
NOTHING: Inputs = {}


class Lineage(NamedTuple):
    """The inputs of each column of a relation, and those that decide which rows there are and in which order."""

    columns: Mapping[str, Inputs]
    rows: Inputs

    def with_rows(self, subtype: Subtype, names: Iterable[str]) -> Lineage:
        """Return the lineage of a relation whose rows also depend on these columns."""
        return self._replace(rows=merged(self.rows, *self.inputs_of(subtype, names)))

    def with_columns(self, columns: Mapping[str, Inputs]) -> Lineage:
        """Return the lineage with more columns, or others of the same names."""
        return self._replace(columns={**self.columns, **columns})

    def inputs_of(self, subtype: Subtype, names: Iterable[str]) -> list[Inputs]:
        """Return the inputs of columns that something depends on in this way."""
        return [after(self.columns.get(name, NOTHING), Transformation(subtype)) for name in names]


def after(inputs: Inputs, transformation: Transformation) -> Inputs:
    """Return the inputs of something that is made by one more transformation."""
    return {name: frozenset(one.then(transformation) for one in how) for name, how in inputs.items()}


def merged(*each: Inputs) -> Inputs:
    """Return the inputs of all."""
    whole = [one for one in each if one]
    if len(whole) < 2:
        return whole[0] if whole else NOTHING
    found: dict[InputColumn, frozenset[Transformation]] = {}
    for inputs in whole:
        for name, how in inputs.items():
            found[name] = found[name] | how if name in found else how
    return found


def column_lineage(*roots: Node) -> list[Lineage]:
    """Return the lineage of relations, in the order of the roots."""
    done: dict[int, Lineage] = {}
    for node in walk_graph(*roots):
        done[id(node)] = lineage_of(node, *(done[id(child)] for child in node.inputs))
    return [done[id(root)] for root in roots]


# Expressions.


def inputs_of_expression(expr: Expr, columns: Mapping[str, Inputs]) -> Inputs:
    """Return the inputs of an expression over these columns."""
    if isinstance(expr, Column):
        return columns.get(expr.name, NOTHING)
    if isinstance(expr, Cast):
        return after(inputs_of_expression(expr.operand, columns), Transformation("TRANSFORMATION"))
    if not isinstance(expr, Call):
        return NOTHING
    places = branch_places(expr)
    parts: list[Inputs] = []
    for place, arg in enumerate(expr.args):
        is_condition = places and place not in places
        how = Transformation("CONDITIONAL") if is_condition else transformation_of(expr)
        parts.append(after(inputs_of_expression(arg, columns), how))
    return merged(*parts)


def transformation_of(call: Call) -> Transformation:
    """Return what a function does with its arguments."""
    name = call.function.name
    aggregates = call.function.kind == "aggregate" or name.startswith(RUNNING)
    return Transformation("AGGREGATION" if aggregates else "TRANSFORMATION", name in MASKING)


# Nodes.


@singledispatch
def lineage_of(node: Node, *inputs: Lineage) -> Lineage:
    """Return the lineage of a node's output, of those of its inputs.

    A node of another kind: each of its columns may depend on each column of its inputs.
    """
    everything = merged(*(part for one in inputs for part in one.columns.values()))
    part = after(everything, Transformation("TRANSFORMATION"))
    return Lineage(dict.fromkeys(node.schema, part), merged(*(one.rows for one in inputs)))


@lineage_of.register(Read)
def _(node: Read) -> Lineage:
    dataset = node.dataset
    if isinstance(dataset, RejectedRows):  # the text of a line has all columns
        own = {InputColumn(dataset.source.name, name): frozenset([Transformation("TRANSFORMATION")])
               for name in dataset.source.schema}  # fmt: skip
        return Lineage({name: own if name == "text" else NOTHING for name in node.columns}, NOTHING)
    only = frozenset([IDENTITY])
    return Lineage({name: {InputColumn(dataset.name, name): only} for name in node.columns}, NOTHING)


@lineage_of.register(Filter)
def _(node: Filter, source: Lineage) -> Lineage:
    inputs = inputs_of_expression(node.predicate, source.columns)
    return source._replace(rows=merged(source.rows, after(inputs, Transformation("FILTER"))))


@lineage_of.register(Project)
def _(node: Project, source: Lineage) -> Lineage:
    columns = {name: inputs_of_expression(expr, source.columns) for name, expr in node.columns.items()}
    return Lineage(columns, source.rows)


@lineage_of.register(Aggregate)
def _(node: Aggregate, source: Lineage) -> Lineage:
    columns = {name: source.columns.get(name, NOTHING) for name in node.kept}
    for name, call in node.calls.items():
        order = source.inputs_of("SORT", column_names(node.orders.get(name, ())))
        columns[name] = merged(inputs_of_expression(call, source.columns), *order)
    return source.with_rows("GROUP_BY", node.by)._replace(columns=columns)


@lineage_of.register(KernelReduction)
def _(node: KernelReduction, source: Lineage) -> Lineage:
    made = merged(*source.inputs_of("AGGREGATION", node.reads))
    kept = {name: source.columns.get(name, NOTHING) for name in node.by}
    return source.with_rows("GROUP_BY", node.by)._replace(columns={**kept, **dict.fromkeys(node.outputs, made)})


@lineage_of.register(Distinct)
def _(node: Distinct, source: Lineage) -> Lineage:
    return source.with_rows("GROUP_BY", node.on).with_rows("SORT", column_names(node.order_by))


@lineage_of.register(Sort)
def _(node: Sort, source: Lineage) -> Lineage:
    return source.with_rows("SORT", column_names(node.by))


@lineage_of.register(Limit)
@lineage_of.register(Write)
def _(node: Limit | Write, source: Lineage) -> Lineage:
    return source


@lineage_of.register(Join)
def _(node: Join, left: Lineage, right: Lineage) -> Lineage:
    columns = dict(left.columns)
    if node.how == "full":  # a row of the right side alone has its keys there
        for name, other in zip(node.left_on, node.right_on, strict=True):
            columns[name] = merged(columns[name], right.columns[other])
    columns |= {name: right.columns.get(name, NOTHING) for name in node.payload}
    keys = (*left.inputs_of("JOIN", node.left_on), *right.inputs_of("JOIN", node.right_on))
    return Lineage(columns, merged(left.rows, right.rows, *keys))


@lineage_of.register(Vocabulary)
def _(node: Vocabulary, source: Lineage) -> Lineage:
    counted = merged(*source.inputs_of("AGGREGATION", (node.column,)))
    found = source.with_rows("GROUP_BY", (node.column,))
    return found._replace(columns={VALUE: source.columns.get(node.column, NOTHING), COUNT: counted, ID: counted})


@lineage_of.register(VocabularyLookup)
def _(node: VocabularyLookup, left: Lineage, right: Lineage) -> Lineage:
    (column,) = node.left_on
    looked_up = (*left.inputs_of("TRANSFORMATION", (column,)), right.columns.get(ID, NOTHING))
    return Lineage({**left.columns, node.output: merged(*looked_up)}, left.rows)


@lineage_of.register(ConditionJoin)
def _(node: ConditionJoin, left: Lineage, right: Lineage) -> Lineage:
    found: Lineage = lineage_of.dispatch(Join)(node, left, right)
    sides = zip((left, right), node.condition_columns, strict=True)
    compared = (each for side, names in sides for each in side.inputs_of("JOIN", names))
    return found._replace(rows=merged(found.rows, *compared))


@lineage_of.register(AsofJoin)
def _(node: AsofJoin, left: Lineage, right: Lineage) -> Lineage:
    theirs = (*node.right_on, *column_names(node.right_order))
    keys = (*left.inputs_of("JOIN", (*node.left_on, node.left_asof)), *right.inputs_of("JOIN", theirs))
    columns = {**left.columns, **{name: right.columns.get(name, NOTHING) for name in node.payload}}
    return Lineage(columns, merged(left.rows, right.rows, *keys))


@lineage_of.register(Union)
def _(node: Union, left: Lineage, right: Lineage) -> Lineage:
    columns = {name: merged(left.columns.get(name, NOTHING), right.columns.get(name, NOTHING)) for name in node.schema}
    return Lineage(columns, merged(left.rows, right.rows))


@lineage_of.register(Explode)
def _(node: Explode, source: Lineage) -> Lineage:
    made = merged(*source.inputs_of("TRANSFORMATION", [node.column]))
    found = source.with_columns(dict.fromkeys(node.new_columns, made))
    return found if node.keep_empty else found._replace(rows=source.with_rows("FILTER", [node.column]).rows)


@lineage_of.register(InsertRows)
def _(node: InsertRows, source: Lineage) -> Lineage:
    numbers = [node.before, node.after]
    made = merged(*source.inputs_of("TRANSFORMATION", numbers))
    return source.with_rows("CONDITIONAL", numbers).with_columns({node.place: made})


@lineage_of.register(Window)
def _(node: Window, source: Lineage) -> Lineage:
    order = source.inputs_of("WINDOW", sorted(node.sort_columns))
    return source.with_columns(
        {name: merged(inputs_of_expression(call, source.columns), *order) for name, call in node.calls.items()}
    )


@lineage_of.register(Kernel)
def _(node: Kernel, source: Lineage) -> Lineage:
    order = source.inputs_of("WINDOW", column_names(node.sort_keys)) if node.grouped else []
    made = merged(*source.inputs_of("TRANSFORMATION", node.reads), *order)
    return source.with_columns(dict.fromkeys(node.outputs, made))


def column_names(keys: Iterable[SortKey]) -> list[str]:
    """Return the columns of an order."""
    return [key.column for key in keys]


# As text.


def lineage_lines(name: str, lineage: Lineage) -> list[str]:
    """Return lines for people: each column, what it is made from, and what all rows depend on."""
    entries = [*((column, inputs) for column, inputs in lineage.columns.items()), ("(rows)", lineage.rows)]
    width = max(len(column) for column, _ in entries)
    return [name, *(f"  {column.ljust(width)}  {inputs_text(inputs)}".rstrip() for column, inputs in entries)]


def inputs_text(inputs: Inputs) -> str:
    """Return inputs by how they take part, DIRECT ones first: `identity: sales.shop; filter: sales.amount`."""
    by: dict[Transformation, list[str]] = {}
    for column, how in sorted(inputs.items()):
        for one in how:
            by.setdefault(one, []).append(str(column))
    ordered = sorted(by.items(), key=lambda pair: (get_args(Subtype).index(pair[0].subtype), pair[0].masking))
    return "; ".join(
        f"{one.subtype.lower().replace('_', ' ')}{' (masked)' * one.masking}: {', '.join(columns)}"
        for one, columns in ordered
    )
