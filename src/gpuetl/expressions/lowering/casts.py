"""Lower casts, parts of timestamps, and time zones."""

from __future__ import annotations

from sqlglot import exp

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.constants import (
    EXTRACT_PARTS,
    cast_target,
    check_coarse,
    coarse_unit,
    constant_form,
    converted,
    timestamp_of,
)
from gpuetl.expressions.dialect import span_of
from gpuetl.expressions.lowering.lowering import Handler, Lowering
from gpuetl.expressions.syntax import AS_JSON, TRY_AS_JSON, Apply, CastTo, Constant, Syntax
from gpuetl.expressions.unparse import constant_text
from gpuetl.messages import coded
from gpuetl.types.data_types import DURATION, TIMESTAMP, DataType


def _cast(lowering: Lowering, node: exp.Cast) -> Syntax:
    """Lower a cast; `FLOAT[3]` is a list whose length is checked."""
    if node.args["to"].this == exp.DataType.Type.JSON:
        name = TRY_AS_JSON if isinstance(node, exp.TryCast) else AS_JSON
        return Apply(name, (lowering.lower(node.this),), span=span_of(node))
    size = _taken_size(node)
    if size is None:
        return _plain_cast(lowering, node)
    found, length = _plain_cast(lowering, node), Constant(int(size.name), span=span_of(size))
    if not isinstance(node, exp.TryCast):
        return Apply("list_of_size", (found, length), span=span_of(node))
    same = Apply("equal", (Apply("list_length", (found,)), length))
    return Apply("case", (same, found), span=span_of(node))


def _taken_size(node: exp.Cast) -> exp.Expr | None:
    """Take the size out of the type `FLOAT[3]`, and return it."""
    target = node.args["to"]
    sizes = target.args.get("values") if target.this == exp.DType.ARRAY else None
    if not sizes or not isinstance(sizes[0], exp.Literal):
        return None
    if any(inner.args.get("values") for inner in target.find_all(exp.DataType) if inner is not target):
        message = coded("GE1102", "gpuetl does not support sizes of inner lists")
        raise InvalidExpression(message, span_of(node), "Write FLOAT[][2]: the size of the outer list is checked.")
    target.set("values", None)
    return sizes[0]


def _plain_cast(lowering: Lowering, node: exp.Cast) -> Syntax:
    unit = coarse_unit(node)
    target, operand = TIMESTAMP if unit else cast_target(node), lowering.lower(node.this)
    lenient = isinstance(node, exp.TryCast)
    if unit:
        check_coarse(unit, operand, node)
    try:
        constant = None if lenient and target != DURATION else converted(operand, target)
    except ValueError as error:
        if lenient:
            return CastTo(operand, target, lenient, span=span_of(node))
        raise InvalidExpression(str(error), operand.span, hint_of_constant(operand, target)) from None
    return constant or CastTo(operand, target, lenient, span=span_of(node))


def hint_of_constant(operand: Syntax, target: DataType) -> str:
    """Return how to write a constant that was not read; a clock without an offset needs its zone."""
    if getattr(target, "tz", None) and isinstance(operand, Constant):
        try:
            clock = constant_text(timestamp_of(str(operand.value), TIMESTAMP))
        except ValueError:
            pass
        else:
            return f"Write {clock} AT TIME ZONE 'UTC', or another zone, or {constant_form(target)}."
    return f"Write it like {constant_form(target)}."


def _extract(lowering: Lowering, node: exp.Extract) -> Syntax:
    part = EXTRACT_PARTS.get(node.this.name.upper())
    if part is None:
        have = ", ".join(sorted(name.lower() for name in EXTRACT_PARTS))
        raise InvalidExpression(
            coded("GE1106", f"extract has no part '{node.this.name.lower()}'"), span_of(node), f"Parts: {have}."
        )
    return Apply(part, (lowering.lower(node.expression),), span=span_of(node))


def _at_time_zone(lowering: Lowering, node: exp.AtTimeZone) -> Syntax:
    return Apply("at_time_zone", (lowering.lower(node.this), lowering.lower(node.args["zone"])), span=span_of(node))


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Extract: _extract,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.AtTimeZone: _at_time_zone,
}
