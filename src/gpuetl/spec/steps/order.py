"""Orders of rows, and groups of windows: columns and expressions."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.ir import Expr, columns_of
from gpuetl.expressions.parse import read_expression
from gpuetl.expressions.syntax import Name, Syntax
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node, SortKey
from gpuetl.spec.steps.step import Context, key_hint
from gpuetl.spec.values import Formula, Order, Text, is_identifier
from gpuetl.types.data_types import UNKNOWN, can_be_key, can_compare, type_name, value_kinds
from gpuetl.types.schema import Schema, free_name


def order_of(
    context: Context,
    order: Sequence[Order],
    schema: Schema,
    of: str = "",
    taken: Container[str] = (),
    nested: bool = False,
) -> tuple[tuple[SortKey, ...], dict[str, Expr]]:
    """Return the plan's sort keys, and the expressions among them by the columns that are to hold their values.

    A key that is a column by its whole text is that column.  Unknown columns, constants and lists are problems; those
    of another side of a join are told with its name, `of`.  New columns get names that are not in `taken`.
    With `nested`, lists, structs and maps are keys, too (plan/nested_keys.py).
    """
    keys: list[SortKey] = []
    computed: dict[str, Expr] = {}
    for item in order:
        if item.column not in schema and (problems := _unreadable(item.column)):
            for error in problems:
                context.wrong_expression(error, Formula(Name(item.column), item.node), schema, ())
            continue
        syntax = None if item.column in schema else written_expression(item.column)
        name = syntax.name if isinstance(syntax, Name) else item.column
        bare = item.column.removeprefix("-")
        if syntax is None and item.column not in schema and bare in schema:
            context.problem(coded("GE1003", f"unknown column '{item.column}'"), f"Write '{bare} desc'.", item)
        elif syntax is None or isinstance(syntax, Name):
            if context.keys([Text(name, item.node)], schema, of, nested=nested):
                keys.append(SortKey(name, item.descending, item.nulls_first))
        elif (expr := _typed(context, syntax, item, schema, nested)) is not None:
            name = next((own for own, there in computed.items() if there == expr), None) or free_name(
                f"{item.column}:key", schema, computed, taken
            )
            computed[name] = expr
            keys.append(SortKey(name, item.descending, item.nulls_first))
    return tuple(keys), computed


def groups_of(context: Context, by: Sequence[str], schema: Schema) -> tuple[tuple[str, ...], dict[str, Expr]]:
    """Return the columns that make groups, and the expressions among them by the columns that are to hold their values.

    As in `order_of`, a text that is a column is that column.
    """
    keys, computed = order_of(
        context, [Order(str(name), node=getattr(name, "node", None)) for name in by], schema, nested=True
    )
    return tuple(dict.fromkeys(key.column for key in keys)), computed


def written_expression(text: str) -> Syntax | None:
    """Return the expression that a sort key is; None for a name, and for text that is none."""
    if is_identifier(text):
        return None
    syntax, errors = read_expression(text)
    return None if errors else syntax


def _unreadable(text: str) -> list[InvalidExpression]:
    """Return what is wrong with a text that has a call in it, and so is meant as an expression."""
    return read_expression(text)[1] if "(" in text else []


def _typed(context: Context, syntax: Syntax, item: Order, schema: Schema, nested: bool) -> Expr | None:
    """Return the expression of a sort key; None, with the problem kept, where it is wrong."""
    expr = context.expression(Formula(syntax, item.node), schema)
    if expr.dtype == UNKNOWN:
        return None
    if not columns_of(expr):
        message = coded("GE1820", f"a key reads a column, and {item.column} reads none")
        context.problem(message, "Name a column: SQL's places of columns, as in ORDER BY 1, are not supported.", item)
        return None
    if not (can_compare if nested else can_be_key)(expr.dtype):
        fits = "are no keys here" if can_compare(expr.dtype) else "cannot be compared"
        why = f"{item.column} is {type_name(expr.dtype)}, and {value_kinds(expr.dtype)} {fits}"
        context.problem(coded("GE1115", why), key_hint(item.column, expr.dtype), item)
        return None
    return expr


def with_computed(context: Context, source: Node, computed: Mapping[str, Expr]) -> Node:
    """Return rows with the columns that hold the values of expressions."""
    if not computed:
        return source
    columns = {**nodes.passing(source.schema), **computed}
    return nodes.Project(source=source, columns=columns, origin=context.origin)


def without_computed(context: Context, source: Node, computed: Collection[str]) -> Node:
    """Return rows without the columns that held the values of expressions."""
    if not computed:
        return source
    kept = source.schema.select(name for name in source.schema if name not in computed)
    return nodes.Project(source=source, columns=nodes.passing(kept), origin=context.origin)


def sorted_by(context: Context, order: Sequence[Order], source: Node) -> Node:
    """Sort rows; columns that hold the values of expressions are dropped again."""
    keys, computed = order_of(context, order, source.schema, nested=True)
    rows = with_computed(context, source, computed)
    return without_computed(context, nodes.Sort(source=rows, by=keys, origin=context.origin), computed)
