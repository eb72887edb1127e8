"""Lower lists, maps, values in brackets, and lambdas over elements."""

from __future__ import annotations

from sqlglot import exp

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.dialect import span_of, whole_span
from gpuetl.expressions.lowering.lowering import Handler, Lowering
from gpuetl.expressions.lowering.refusals import unsupported
from gpuetl.expressions.syntax import Apply, Lambda, Syntax
from gpuetl.messages import coded


def _list(lowering: Lowering, node: exp.Array) -> Syntax:
    if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Comprehension):
        return _comprehension(lowering, node.expressions[0])
    return Apply("list_value", tuple(map(lowering.lower, node.expressions)), span=span_of(node))


def _comprehension(lowering: Lowering, node: exp.Comprehension) -> Syntax:
    """Lower `[x + 1 for x in list if x > 0]`, which is a `list_transform` of a `list_filter`."""
    lists = lowering.lower(node.args["iterator"])
    names = [name.name for name in (node.args["expression"], node.args.get("position")) if name]
    span = span_of(node)
    if condition := node.args.get("condition"):
        if any(column.name in names[1:] for column in node.this.find_all(exp.Column)):
            message = coded("GE1102", f"gpuetl does not support the place '{names[1]}' before a condition")
            hint = "Write list_filter and list_transform: the place is that among the elements that stay."
            raise InvalidExpression(message, whole_span(lowering.text, span), hint)
        lists = Apply("list_filter", (lists, _body_of(lowering, names, condition)), span=span)
    if isinstance(node.this, exp.Column) and [node.this.name] == names:
        return lists
    return Apply("list_transform", (lists, _body_of(lowering, names, node.this)), span=span)


def _tuple(lowering: Lowering, node: exp.Tuple) -> Syntax:
    """Lower `(x, y)`, which is `row(x, y)`."""
    if not node.expressions:
        raise unsupported(lowering.text, node, "Brackets hold an expression, or several of a row.")
    return Apply("row", tuple(map(lowering.lower, node.expressions)), span=span_of(node))


def _lambda(lowering: Lowering, node: exp.Lambda) -> Syntax:
    """Lower `lambda x: x + 1`; a name within stands for the element, also where a column has it."""
    return _body_of(lowering, [name.name for name in node.expressions], node.this, span_of(node))


def _body_of(lowering: Lowering, names: list[str], node: exp.Expr, span: Span | None = None) -> Lambda:
    """Lower the body of a lambda with these variables."""
    lowering.variables += names
    body = lowering.lower(node)
    del lowering.variables[len(lowering.variables) - len(names) :]
    return Lambda(tuple(names), body, span=span or span_of(node))


def _map(lowering: Lowering, node: exp.ToMap) -> Syntax:
    """Lower `MAP {key: value}`."""
    entries = node.this.expressions
    lists = (
        Apply("list_value", tuple(lowering.lower(each) for each in parts))
        for parts in ([entry.this for entry in entries], [entry.expression for entry in entries])
    )
    return Apply("map", tuple(lists), span=span_of(node))


HANDLERS: dict[type[exp.Expr], Handler] = {exp.Array: _list, exp.Tuple: _tuple, exp.Lambda: _lambda, exp.ToMap: _map}
