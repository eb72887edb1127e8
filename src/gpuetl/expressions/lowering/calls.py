"""Lower calls: their arguments and options, ORDER BY and IGNORE NULLS, and structs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from sqlglot import exp

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.dialect import bracketed_span, shortened, span_of, whole_span
from gpuetl.expressions.functions import INSTEAD, OVERLOADS, unknown_function
from gpuetl.expressions.lowering.lowering import Handler, Lowering
from gpuetl.expressions.lowering.modifiers import KINDS, distinct_name, filtered_call, is_function, null_treatment
from gpuetl.expressions.lowering.refusals import refusal, unsupported
from gpuetl.expressions.syntax import CHANGED_STRUCTS, ORDER_BY, SORT_KEY, STRUCT, Apply, Constant, Syntax
from gpuetl.messages import coded


def _call(lowering: Lowering, node: exp.Anonymous) -> Syntax:
    span = Span(node.meta["start"], node.meta["end"] + 1) if "start" in node.meta else None
    name = str(node.this).lower()
    if name in (STRUCT, "struct", *CHANGED_STRUCTS):
        return _struct(lowering, node, span)
    keywords = [a for a in node.expressions if isinstance(a, exp.Kwarg)]
    positional, order, treatments = _plain_arguments(a for a in node.expressions if not isinstance(a, exp.Kwarg))
    if name == "count" and len(positional) == 1 and isinstance(positional[0], exp.Star):
        return Apply("count_rows", span=span)
    if len(positional) == 1 and isinstance(positional[0], exp.Distinct):
        name, positional = distinct_name(name, span), positional[0].expressions
    if any(isinstance(a, exp.Star) for a in positional) and not is_function(name):
        raise unknown_function(name, span, KINDS)
    if cast := next((a for a in positional if isinstance(a, exp.Alias)), None):
        raise refusal(lowering.text, cast) if is_function(name) else unknown_function(name, span, KINDS)
    name = OVERLOADS.get((name, len(positional)), name)
    count = len(lowering.errors)
    args = tuple(lowering.lower(argument) for argument in positional)
    if name in INSTEAD and not is_function(name):  # its arguments are written otherwise, too
        del lowering.errors[count:]
    if name in ("if", "iff"):
        return _if(name, args, bool(keywords), span)
    named = [(k.this.name, _option(lowering, k)) for k in keywords]
    for ignored in treatments:
        named += null_treatment(name, ignored, span)
    return Apply(name, args, (*named, *map(partial(_sort_key, lowering), order)), span=span)


def _plain_arguments(arguments: Iterable[exp.Expr]) -> tuple[list[exp.Expr], list[exp.Expr], list[bool]]:
    """Return arguments without ORDER BY and NULLS, the keys of the order, and for each NULLS if it is IGNORE NULLS."""
    plain, order, treatments = list[exp.Expr](), list[exp.Expr](), list[bool]()
    for argument in arguments:
        inner = argument
        while isinstance(inner, exp.Order | exp.IgnoreNulls | exp.RespectNulls):
            if isinstance(inner, exp.Order):
                order = inner.expressions
            else:
                treatments.append(isinstance(inner, exp.IgnoreNulls))
            inner = inner.this
        plain.append(inner)
    return plain, order, treatments


def _if(name: str, args: tuple[Syntax, ...], named: bool, span: Span | None) -> Syntax:
    if len(args) != 3 or named:
        message = coded("GE1104", f"{name} takes a condition and two values")
        raise InvalidExpression(message, span, f"It is {name}(condition, value, otherwise).")
    return Apply("case", args, span=span)


def _option(lowering: Lowering, keyword: exp.Kwarg) -> Syntax:
    """Lower the value of a keyword; of `rows` and `range`, both ends of a frame as one constant."""
    if keyword.this.name not in ("rows", "range") or not isinstance(keyword.expression, exp.Array):
        return lowering.lower(keyword.expression)
    span = bracketed_span(lowering.text, span_of(keyword.expression))
    ends = [lowering.lower(end) for end in keyword.expression.expressions]
    if not all(isinstance(end, Constant) for end in ends):
        message = coded("GE1105", f"{keyword.this.name} takes two constants")
        raise InvalidExpression(message, span, f"Write {keyword.this.name} => [-2, 2].")
    return Constant(tuple(end.value for end in ends if isinstance(end, Constant)), span=span)


def _sort_key(lowering: Lowering, node: exp.Expr) -> tuple[str, Syntax]:
    """Lower one of the keys of an ORDER BY in a call."""
    if not isinstance(node, exp.Ordered):
        raise refusal(lowering.text, node)
    ways = (Constant(bool(node.args.get("desc"))), Constant(bool(node.args.get("nulls_first"))))
    return ORDER_BY, Apply(SORT_KEY, (lowering.lower(node.this), *ways), span=span_of(node))


def _within_group(lowering: Lowering, node: exp.WithinGroup) -> Syntax:
    """Lower `f(x) WITHIN GROUP (ORDER BY y)`, which is `f(x ORDER BY y)`."""
    call, order = lowering.lower(node.this), node.expression.expressions
    if not isinstance(call, Apply) or call.function in ("quantile", "percentile_cont", "percentile_disc"):
        raise refusal(lowering.text, node)
    return replace(call, keywords=(*call.keywords, *map(partial(_sort_key, lowering), order)))


def _filtered(lowering: Lowering, node: exp.Filter) -> Syntax:
    return filtered_call(lowering.lower(node.this), lowering.lower(node.expression.this), span_of(node.this))


def _nulls_treated(lowering: Lowering, node: exp.IgnoreNulls | exp.RespectNulls) -> Syntax:
    """Lower `f(x) IGNORE NULLS`, which is `f(x IGNORE NULLS)`."""
    call = lowering.lower(node.this)
    if not isinstance(call, Apply) or not isinstance(node.this, exp.Anonymous):
        raise refusal(lowering.text, node)
    option = null_treatment(call.function, isinstance(node, exp.IgnoreNulls), call.span)
    return replace(call, keywords=(*call.keywords, *option))


def _over(lowering: Lowering, node: exp.Window) -> Syntax:
    error = unsupported(lowering.text, node)
    if not node.args.get("spec"):
        raise error
    frame = "A frame is an option there: rolling_sum(x, rows => [-2, 2])."
    raise InvalidExpression(error.message, error.span, f"{error.hint} {frame}")


def _struct(lowering: Lowering, node: exp.Anonymous | exp.Struct, span: Span | None = None) -> Syntax:
    """Lower `struct_pack(a := x)`, `{'a': x}`, and `struct(a, x AS b)`, where the name of `a` is its field's.

    The first argument of `struct_insert` and `struct_update` is a struct.
    """
    name = str(node.this).lower() if isinstance(node, exp.Anonymous) else STRUCT
    structs = node.expressions[: name in CHANGED_STRUCTS]
    fields = map(partial(_named_field, lowering), node.expressions[len(structs) :])
    name = name if name in CHANGED_STRUCTS else STRUCT
    return Apply(name, tuple(map(lowering.lower, structs)), tuple(fields), span=span or span_of(node))


def _named_field(lowering: Lowering, node: exp.Expr) -> tuple[str, Syntax]:
    if isinstance(node, exp.PropertyEQ | exp.Kwarg):
        return node.this.name, lowering.lower(node.expression)
    if isinstance(node, exp.Alias):
        return node.alias, lowering.lower(node.this)
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return node.name, lowering.lower(node)
    shown = shortened(lowering.text, whole_span(lowering.text, span_of(node)))
    message = coded("GE1104", f"the field of '{shown}' has no name")
    raise InvalidExpression(message, span_of(node), f"Write struct_pack(name := {shown}).")


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Anonymous: _call,
    exp.Filter: _filtered,
    exp.IgnoreNulls: _nulls_treated,
    exp.RespectNulls: _nulls_treated,
    exp.WithinGroup: _within_group,
    exp.Window: _over,
    exp.Struct: _struct,
}
