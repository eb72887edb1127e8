"""Lower CASE, and the conditions that SQL writes with words: IS, IN, BETWEEN, LIKE and GLOB."""

from __future__ import annotations

from sqlglot import exp

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.dialect import shortened, span_of, whole_span
from gpuetl.expressions.lowering.lowering import Handler, Lowering
from gpuetl.expressions.lowering.references import is_of_parameter
from gpuetl.expressions.lowering.refusals import refusal, unsupported
from gpuetl.expressions.syntax import Apply, Constant, Syntax
from gpuetl.expressions.text_rules import InvalidGlob, regex_of_glob
from gpuetl.messages import coded


def _case(lowering: Lowering, node: exp.Case) -> Syntax:
    args: list[Syntax] = []
    subject = lowering.lower(node.this) if node.this else None
    for branch in node.args["ifs"]:
        condition = lowering.lower(branch.this)
        args += [
            Apply("equal", (subject, condition), span=condition.span) if subject else condition,
            lowering.lower(branch.args["true"]),
        ]
    if node.args.get("default"):
        args.append(lowering.lower(node.args["default"]))
    return Apply("case", tuple(args), span=span_of(node))


def _is(lowering: Lowering, node: exp.Is) -> Syntax:
    operand = lowering.lower(node.this)
    if isinstance(node.expression, exp.Null):
        return Apply("is_null", (operand,), span=span_of(node))
    if isinstance(node.expression, exp.Boolean):
        return Apply("is_not_distinct", (operand, Constant(bool(node.expression.this))), span=span_of(node))
    value = shortened(lowering.text, whole_span(lowering.text, span_of(node.expression)))
    hint = "Write IS NULL." if value.lower() == "none" else f"Write = {value}, or <> {value} for IS NOT."
    raise unsupported(lowering.text, node, hint)


def _in(lowering: Lowering, node: exp.In) -> Syntax:
    if (field := node.args.get("field")) and is_of_parameter(searched := lowering.lower(field)):
        return Apply("list_contains", (searched, lowering.lower(node.this)), span=span_of(node))
    if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
        hint = "Write x IN (1, 2), or list_contains(list, x) for a column of lists."
        if node.args.get("query"):
            hint = "Write a join step with how: semi, or how: anti for NOT IN."
        raise InvalidExpression(
            coded("GE1102", "IN takes a list of values"), whole_span(lowering.text, span_of(node)), hint
        )
    if not node.expressions:
        raise InvalidExpression(
            coded("GE1101", "IN has no values"), whole_span(lowering.text, span_of(node)), "Write x IN (1, 2)."
        )
    values = tuple(lowering.lower(value) for value in node.expressions)
    return Apply("in", (lowering.lower(node.this), *values), span=span_of(node))


def _between(lowering: Lowering, node: exp.Between) -> Syntax:
    operand = lowering.lower(node.this)
    low = Apply("greater_equal", (operand, lowering.lower(node.args["low"])), span=span_of(node))
    high = Apply("less_equal", (operand, lowering.lower(node.args["high"])), span=span_of(node))
    return Apply("and", (low, high), span=span_of(node))


def _like(lowering: Lowering, node: exp.Like | exp.ILike, *escape: Syntax) -> Syntax:
    span, name = span_of(node), "like" if isinstance(node, exp.Like) else "ilike"
    like = Apply(name, (lowering.lower(node.this), lowering.lower(node.expression), *escape), span=span)
    return Apply("not", (like,), span=span) if node.args.get("negate") else like


def _escaped(lowering: Lowering, node: exp.Escape) -> Syntax:
    if not isinstance(node.this, exp.Like | exp.ILike):
        raise refusal(lowering.text, node)
    return _like(lowering, node.this, lowering.lower(node.expression))


def _glob(lowering: Lowering, node: exp.Glob) -> Syntax:
    """Lower `text GLOB pattern` to a regular expression."""
    pattern = lowering.lower(node.expression)
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        span = whole_span(lowering.text, span_of(node))
        raise InvalidExpression(coded("GE1105", "GLOB takes a constant"), span, "Write LIKE for a pattern of a column.")
    try:
        written = Constant(regex_of_glob(pattern.value), span=pattern.span)
    except InvalidGlob as error:
        raise InvalidExpression(str(error), pattern.span, "Write \\[ for a bracket.") from None
    return Apply("regexp_full_match", (lowering.lower(node.this), written, Constant("s")), span=span_of(node))


def _similar(lowering: Lowering, node: exp.SimilarTo) -> Syntax:
    """Lower `text SIMILAR TO pattern`, which is a match of the whole text by a regular expression."""
    span = span_of(node)
    found = Apply("regexp_full_match", (lowering.lower(node.this), lowering.lower(node.expression)), span=span)
    return Apply("not", (found,), span=span) if node.args.get("negate") else found


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Case: _case,
    exp.Is: _is,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escaped,
    exp.Between: _between,
    exp.Glob: _glob,
    exp.SimilarTo: _similar,
}
