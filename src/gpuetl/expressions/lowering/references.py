"""Lower what names a value: columns, parameters, fields, subscripts, and parts of JSON."""

from __future__ import annotations

import re

from sqlglot import exp

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.dialect import shortened, span_of, whole_span
from gpuetl.expressions.foreign import reference_hint
from gpuetl.expressions.functions import ALIASES
from gpuetl.expressions.lowering.lowering import Handler, Lowering
from gpuetl.expressions.lowering.operators import BITS, TIGHTER
from gpuetl.expressions.lowering.refusals import HINTS, refusal, unsupported
from gpuetl.expressions.syntax import SUBSCRIPT, Apply, Constant, Name, ParameterName, Syntax, Variable
from gpuetl.messages import coded

LAMBDA_TAKING = ("list_transform", "list_filter")


def _column(lowering: Lowering, node: exp.Column) -> Syntax:
    if isinstance(node.this, exp.Star):
        hint = f"Write an unnest step: it puts the fields of '{node.table}' in columns." if node.table else ""
        raise unsupported(lowering.text, node, hint) if hint else refusal(lowering.text, node.this)
    if node.table:
        return _field_of_column(lowering, node)
    if node.name.startswith("$") and not node.this.quoted:
        return _parameter(lowering, node)
    if node.name in lowering.variables:
        return Variable(node.name, span=span_of(node))
    return Name(node.name, quoted=bool(node.this.quoted), span=span_of(node))


def _field_of_column(lowering: Lowering, node: exp.Column) -> Syntax:
    """Lower `s.a`, and `s.a.b`: the first name is the column's, the others are fields."""
    names = [part for key in ("catalog", "db", "table", "this") if (part := node.args.get(key))]
    if hint := reference_hint(str(names[0].name), str(names[1].name)):
        shown = shortened(lowering.text, whole_span(lowering.text, span_of(node)))
        raise InvalidExpression(coded("GE1102", f"'{shown}': columns have plain names"), span_of(node), hint)
    syntax: Syntax = Name(names[0].name, quoted=bool(names[0].quoted), span=span_of(names[0]))
    if names[0].name in lowering.variables:
        syntax = Variable(names[0].name, span=span_of(names[0]))
    if names[0].name.startswith("$") and not names[0].quoted:
        syntax = ParameterName(names[0].name[1:], span=span_of(names[0]))
    for name in names[1:]:
        syntax = Apply("struct_extract", (syntax, Constant(name.name)), span=span_of(node))
    return syntax


def _parameter(lowering: Lowering, node: exp.Column) -> Syntax:
    if not re.fullmatch(r"\$[A-Za-z_]\w*", node.name):
        raise InvalidExpression(
            coded("GE1101", f"'{node.name}' is not a parameter"), span_of(node), "A parameter is written $name."
        )
    return ParameterName(node.name[1:], span=span_of(node))


def _no_parameter(lowering: Lowering, node: exp.Expr) -> Syntax:
    raise unsupported(lowering.text, node, "A parameter is written $name.")


def _field(lowering: Lowering, node: exp.Dot) -> Syntax:
    if not isinstance(node.expression, exp.Identifier):
        raise refusal(lowering.text, node)
    return Apply("struct_extract", (lowering.lower(node.this), Constant(node.expression.name)), span=span_of(node))


def _subscript(lowering: Lowering, node: exp.Bracket) -> Syntax:
    index = node.expressions
    if len(index) == 1 and isinstance(index[0], exp.Slice):
        return Apply("list_slice", (lowering.lower(node.this), *_bounds(lowering, index[0])), span=span_of(node))
    if len(index) != 1 or isinstance(index[0], exp.Slice):
        raise unsupported(lowering.text, node, HINTS[exp.Slice])
    return Apply(SUBSCRIPT, (lowering.lower(node.this), lowering.lower(index[0])), span=span_of(node))


def _bounds(lowering: Lowering, node: exp.Slice) -> list[Syntax]:
    """Lower `first:last` and `first:last:step`; a bound that is left out is an end of the list."""
    first, last, step = (node.args.get(key) for key in ("this", "expression", "step"))
    ends: list[Syntax] = [Constant(1), Constant(-1)]
    steps = [lowering.lower(step)] if step else []
    for written in steps:
        if isinstance(written, Constant):
            backward = isinstance(written.value, int) and written.value < 0
            ends = ends[::-1] if backward else ends
        else:
            is_back = Apply("less", (written, Constant(0)))
            ends = [Apply("case", (is_back, ends[1 - place], end)) for place, end in enumerate(ends)]
    bounds = [lowering.lower(bound) if bound else end for bound, end in zip((first, last), ends, strict=True)]
    return [*bounds, *steps]


def _part_of_json(lowering: Lowering, node: exp.JSONExtract | exp.JSONExtractScalar) -> Syntax:
    """Lower `text -> path` and `text ->> path`; refuse what stands beside them where languages read on."""
    parent = node.parent
    beside = isinstance(parent, TIGHTER | BITS | exp.Neg | exp.BitwiseNot | exp.DPipe)
    span = whole_span(lowering.text, span_of(node))
    call = node.find_ancestor(exp.Anonymous) if isinstance(node.this, exp.Column) else None
    if isinstance(call, exp.Anonymous) and ALIASES.get(name := str(call.this).lower(), name) in LAMBDA_TAKING:
        hint = f"Write {name}(x, lambda {node.this.name}: …)."
        raise InvalidExpression(coded("GE1102", "gpuetl does not support '->' for a lambda"), span, hint)
    reads_on = isinstance(parent, exp.Cast) and lowering.text[span.stop :].lstrip().startswith("::")
    if (beside and not (isinstance(parent, exp.DPipe) and node is parent.this)) or reads_on:
        message = coded("GE1101", "languages differ on what is computed first here")
        hint = f"Write ({shortened(lowering.text, span)}) in brackets."
        raise InvalidExpression(message, whole_span(lowering.text, span_of(parent or node)), hint)
    name = "json_extract_string" if isinstance(node, exp.JSONExtractScalar) else "json_extract"
    return Apply(name, (lowering.lower(node.this), lowering.lower(node.expression)), span=span_of(node))


def is_of_parameter(syntax: Syntax) -> bool:
    """Return whether an expression is a parameter, or a part of one: `$s.a`, `$list[1]`."""
    if isinstance(syntax, Apply) and syntax.function in (SUBSCRIPT, "struct_extract"):
        return is_of_parameter(syntax.args[0])
    return isinstance(syntax, ParameterName)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Column: _column,
    exp.Placeholder: _no_parameter,
    exp.Parameter: _no_parameter,
    exp.Dot: _field,
    exp.Bracket: _subscript,
    exp.JSONExtract: _part_of_json,
    exp.JSONExtractScalar: _part_of_json,
}
