"""Keys of groups that are expressions, and what a name stands for inside and outside an aggregate function."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import field, replace

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.functions import find_function
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal, substitute
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.scope import AGGREGATES
from gpuetl.expressions.syntax import Apply, Constant, Name, Syntax, names_in, rebuilt
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.spec.group_forms import is_plain
from gpuetl.spec.steps.step import Context, key_hint
from gpuetl.spec.values import Formula, PartPlace
from gpuetl.types.data_types import INT64, UNKNOWN, can_compare, type_name, value_kinds
from gpuetl.types.schema import Schema, free_name

Masks = dict[str, tuple[str, ...]]
"""The keys that each `grouping(…)` names, by the column that stands for it."""
GROUPING = ("grouping", "grouping_id")
INPUT = ":input"
"""Ends the name by which an expression reads a column inside an aggregate function, where a key has the same name."""


@dataclass(frozen=True)
class Keys:
    """The keys of groups by their names.

    `exprs` are over the input.  `columns` are the names of the columns that hold their values before the aggregate;
    `computed` are those of them that are not columns of the input.
    """

    exprs: Mapping[str, Expr]
    columns: Mapping[str, str]
    computed: Mapping[str, Expr] = field(default_factory=dict)

    @property
    def new(self) -> dict[str, Expr]:
        """The keys that are expressions, by their names."""
        return {name: self.exprs[name] for name, column in self.columns.items() if column in self.computed}

    @property
    def results(self) -> dict[str, Expr]:
        """The keys after the aggregate, by their names."""
        return {name: Column(column, self.exprs[name].dtype) for name, column in self.columns.items()}


def keys_of_groups(context: Context, by: Mapping[str, Formula], schema: Schema) -> Keys:
    """Return the keys that are right; problems are kept."""
    exprs, columns, computed = dict[str, Expr](), dict[str, str](), dict[str, Expr]()
    for name, formula in by.items():
        if is_plain(name, formula):
            if not known_column(context, name, schema):
                continue
            exprs[str(name)], columns[str(name)] = Column(str(name), schema[name]), str(name)
            continue
        expr = context.expression(formula, schema)
        if expr.dtype != UNKNOWN and not can_compare(expr.dtype):
            why = f"'{name}' is {type_name(expr.dtype)}, and {value_kinds(expr.dtype)} cannot be compared"
            context.problem(coded("GE1115", why), key_hint(name, expr.dtype), formula)
        column = free_name(f"{name}:key", schema, computed) if name in schema else str(name)
        exprs[str(name)], columns[str(name)], computed[column] = expr, column, expr
    return Keys(exprs, columns, computed)


def known_column(context: Context, name: str, schema: Schema) -> bool:
    """Return whether a name is a column; the hint of one that is an expression is to name it."""
    if name not in schema and not schema.open and is_expression(name, schema):
        hint = f"To group by an expression, name it: {{key: {name}}}."
        context.problem(coded("GE1003", f"unknown column '{name}'"), hint, name)
        return False
    return bool(context.keys([name], schema, nested=True))


def is_expression(text: str, schema: Schema) -> bool:
    """Return whether a text is an expression over columns, and not a name."""
    try:
        syntax = parse_expression(text)
    except InvalidExpression:
        return False
    return not isinstance(syntax, Name) and bool(names := names_in(syntax)) and names <= schema.keys()


def typed_over_groups(
    context: Context, formula: Formula, schema: Schema, keys: Keys, outputs: Mapping[str, Expr], masks: Masks,
    siblings: Container[str] = (),
) -> Expr:  # fmt: skip
    """Type an expression over groups: inside an aggregate function names are columns of the input, else keys.

    `outputs` may be named outside, too, and their expressions stand for them.  A part that is the expression of a key
    stands for the key.  `grouping(a, b)` becomes a column, which is kept in `masks`.
    """
    if any(isinstance(part, Apply) and part.function in GROUPING for part in formula.parts):
        formula = replace(formula, syntax=with_masks(context, formula, schema, keys, masks))
    outside = {**keys.new, **outputs}
    if not (outside or masks):
        return _over_groups(context.expression(formula, schema, AGGREGATES, siblings), {}, {}, {})
    syntax, renamed = input_names(formula.syntax, {name for name in outside if name in schema})
    inputs: dict[str, Expr] = {f"{name}{INPUT}": Column(name, schema[name]) for name in renamed}
    types = {name: expr.dtype for name, expr in {**outside, **inputs}.items()}
    scope = schema.updated({**types, **dict.fromkeys(masks, INT64)})
    expr = context.expression(replace(formula, syntax=syntax), scope, AGGREGATES, siblings)
    named = {name: keys.results[name] for name in keys.new}
    by_expr = {keys.exprs[name]: column for name, column in named.items()}
    return _over_groups(expr, {**keys.new, **inputs}, {**named, **outputs}, by_expr)


def with_masks(context: Context, formula: Formula, schema: Schema, keys: Keys, masks: Masks) -> Syntax:
    """Put columns in the places of `grouping(a, b)` outside aggregate functions, and keep them in `masks`."""

    def mask(part: Syntax) -> Syntax | None:
        if is_aggregate(part):
            return part
        if not isinstance(part, Apply) or part.function not in GROUPING:
            return None
        names = [arg.name for arg in part.args if isinstance(arg, Name) and arg.name in keys.exprs]
        if not names or len(names) < len(part.args) or part.keywords:
            at = PartPlace(formula.node, part.span) if formula.node else formula
            have = ", ".join(keys.exprs) or "none"
            message = coded("GE1821", f"{shown_sql(part)}: grouping takes keys of the groups")
            context.problem(message, f"Keys: {have}.", at)
            return Constant(0)
        name = f"grouping({', '.join(names)})"
        while name in schema:
            name += ":mask"
        masks[name] = tuple(names)
        return Name(name, span=part.span)

    return rebuilt(formula.syntax, mask)


def mask_of(names: Iterable[str], keys: Container[str]) -> Literal:
    """Return the value of `grouping(a, b)` where rows are grouped by `keys`.

    The last argument is the lowest bit, which is 1 where the rows are not grouped by it.
    """
    mask = 0
    for name in names:
        mask = mask << 1 | (name not in keys)
    return Literal(mask, INT64)


def is_aggregate(part: Syntax) -> bool:
    """Return whether a part of an expression is a call of an aggregate function."""
    function = find_function(part.function, AGGREGATES) if isinstance(part, Apply) else None
    return function is not None and function.kind == "aggregate"


def input_names(syntax: Syntax, shadowed: Container[str]) -> tuple[Syntax, set[str]]:
    """Rename the columns inside aggregate functions that something outside has the name of; return which ones."""
    renamed = set[str]()

    def inner(part: Syntax) -> Syntax | None:
        if not isinstance(part, Name) or part.name not in shadowed:
            return None
        renamed.add(part.name)
        return replace(part, name=f"{part.name}{INPUT}")

    def outer(part: Syntax) -> Syntax | None:
        return rebuilt(part, inner) if is_aggregate(part) else None

    return rebuilt(syntax, outer), renamed


def _over_groups(
    expr: Expr, inside: Mapping[str, Expr], outside: Mapping[str, Expr], keys: Mapping[Expr, Expr]
) -> Expr:
    """Put expressions in the places of names, inside aggregate calls and outside; and keys in that of their own."""
    if not (inside or outside or keys):
        return expr
    if expr in keys:
        return keys[expr]
    if isinstance(expr, Column):
        return outside.get(expr.name, expr)
    if isinstance(expr, Call) and expr.function.kind == "aggregate":
        return substitute(expr, inside)
    if isinstance(expr, Call):
        return replace(expr, args=tuple(_over_groups(arg, inside, outside, keys) for arg in expr.args))
    return replace(expr, operand=_over_groups(expr.operand, inside, outside, keys)) if isinstance(expr, Cast) else expr
