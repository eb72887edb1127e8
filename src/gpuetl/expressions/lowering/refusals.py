"""Word what the language does not have, in the words that the user typed."""

from __future__ import annotations

from sqlglot import exp

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.dialect import bracketed_span, refused_word_in, shortened, span_of, whole_span
from gpuetl.expressions.foreign import FOREIGN_WORDS, SIGNS
from gpuetl.expressions.functions import INSTEAD
from gpuetl.messages import coded

HINTS: dict[type[exp.Expr], str] = {
    exp.Star: "Name the columns: an expression gives one.",
    exp.BitwiseXor: SIGNS["^"],
    exp.Slice: "Write list[1:3], counted from 1, for elements, or substring(text, start, length).",
    exp.Any: "Write OR between the conditions.",

    exp.National: "Write the string without a prefix.",
    exp.StrToDate: "Write to_date(strptime(text, format)).",
}  # fmt: skip
"""What to write instead, by the kind of node; others are found by their words."""


def unsupported(text: str, node: exp.Expr, hint: str = "") -> InvalidExpression:
    """Name a part of the text that gpuetl does not support, in the words that the user typed."""
    if not hint and (refused := refused_word_in(text)):
        return refused
    around = bracketed_span if isinstance(node, exp.Array | exp.Tuple) else whole_span
    span = around(text, span_of(node))
    hint = hint or "docs/language.md lists what an expression may have."
    return InvalidExpression(coded("GE1102", f"gpuetl does not support '{shortened(text, span)}'"), span, hint)


def refusal(text: str, node: exp.Expr) -> InvalidExpression:
    """Word a node of a kind that the language lacks."""
    if isinstance(node, exp.Alias):
        return _two_expressions(text, node)
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
        return _method(text, node)
    if isinstance(node, exp.Block):
        return InvalidExpression(
            coded("GE1101", "unexpected ';'"), span_of(node), "Write one expression, without a semicolon."
        )
    if isinstance(node, exp.Concat):
        return InvalidExpression(
            coded("GE1101", "there is no operator between two strings"), span_of(node), "Write || to join them."
        )
    shown = node.parent if isinstance(node, exp.Any) and node.parent else node
    return unsupported(text, shown, HINTS.get(type(node), ""))


def _two_expressions(text: str, node: exp.Alias) -> InvalidExpression:
    alias = node.args["alias"]
    span = Span(alias.meta["start"], alias.meta["end"] + 1) if "start" in alias.meta else span_of(node)
    before = text[: span.start].rstrip() if span else ""
    if before.upper().endswith(" AS"):
        return InvalidExpression(
            coded("GE1101", f"unexpected 'AS {alias.name}'"), span, "The key of the map names the column."
        )
    quoted = alias.args.get("quoted")
    hint = f"Text is written in single quotes: '{alias.name}'." if quoted else FOREIGN_WORDS.get(alias.name.upper(), "")
    message = coded("GE1101", f"there is no operator before '{alias.name}'")
    return InvalidExpression(message, span, hint or "Write an operator, or one expression for each column.")


def _method(text: str, node: exp.Dot) -> InvalidExpression:
    span = whole_span(text, span_of(node))
    call = node.expression
    shown = shortened(text, whole_span(text, span_of(node.this)))
    hint = INSTEAD.get(call.name) or f"Write {call.name}({', '.join([shown, *('…' for _ in call.expressions)])})."
    return InvalidExpression(coded("GE1102", f"'{shown}.{call.name}()': SQL has no methods"), span, hint)
