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
)
from gpuetl.expressions.dialect import span_of
from gpuetl.expressions.lowering.lowering import Handler, Lowering
from gpuetl.expressions.syntax import AS_JSON, TRY_AS_JSON, Apply, CastTo, Syntax
from gpuetl.messages import coded
from gpuetl.types.data_types import DURATION, TIMESTAMP


def _cast(lowering: Lowering, node: exp.Cast) -> Syntax:
    if node.args["to"].this == exp.DataType.Type.JSON:
        name = TRY_AS_JSON if isinstance(node, exp.TryCast) else AS_JSON
        return Apply(name, (lowering.lower(node.this),), span=span_of(node))
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
        raise InvalidExpression(str(error), operand.span, f"Write it like {constant_form(target)}.") from None
    return constant or CastTo(operand, target, lenient, span=span_of(node))


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
