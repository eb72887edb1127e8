"""Lower SQL text to written expressions.

sqlglot parses.  Everything the language does not have is refused here.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from sqlglot import exp

from gpuetl.errors import InvalidExpression, Span
from gpuetl.expressions.constants import EXTRACT_PARTS, LITERALS, cast_target, constant_form, converted
from gpuetl.expressions.dialect import bracketed_span, parse_tree, refused_word_in, shortened, span_of, whole_span
from gpuetl.expressions.foreign import FOREIGN_WORDS, SIGNS, reference_hint
from gpuetl.expressions.functions import ALIASES, INSTEAD, OVERLOADS, Kind, find_function, unknown_function
from gpuetl.expressions.functions.aggregates import FILTERED, SAME_OF_DISTINCT
from gpuetl.expressions.functions.windows import SKIPPING
from gpuetl.expressions.syntax import (
    CHANGED_STRUCTS,
    ORDER_BY,
    SORT_KEY,
    STRUCT,
    SUBSCRIPT,
    Apply,
    CastTo,
    Constant,
    Lambda,
    Name,
    ParameterName,
    Syntax,
    Unreadable,
    Variable,
)
from gpuetl.expressions.text_rules import InvalidGlob, regex_of_glob
from gpuetl.messages import coded
from gpuetl.types.decimal_types import Number

# `FILTER (WHERE condition)` after a call, lowered to an argument that has the call skip the other rows.


def filtered_call(call: Syntax, condition: Syntax, span: Span | None) -> Syntax:
    """Return the call with null, or false as a condition, in the rows that are left out.

    Raises
    ------
    InvalidExpression
        For what is no aggregate, or a window that skips no rows.
    """
    function = find_function(call.function, ("aggregate", "window")) if isinstance(call, Apply) else None
    if not isinstance(call, Apply) or function is None:
        raise InvalidExpression(
            coded("GE1107", "FILTER belongs to an aggregate"), span, "Write CASE WHEN condition THEN value END."
        )
    if function.kind == "window" and function.name not in SKIPPING:
        message = coded("GE1107", f"{call.function} does not support FILTER: it does not skip nulls")
        raise InvalidExpression(message, span, "Filter the rows in a step before.")
    if function.name == "count_rows":
        return Apply("count", (Apply("case", (condition, Constant(1))),), span=call.span)
    names = [slot.name for slot in function.arguments]
    return _narrowed(call, names, FILTERED.get(function.name, names[0]), condition)


def distinct_name(name: str, span: Span | None) -> str:
    """Return the function that a call with DISTINCT stands for; of some, DISTINCT changes nothing.

    Raises
    ------
    InvalidExpression
        For what takes no DISTINCT.
    """
    known = ALIASES.get(name, name)
    if known in SAME_OF_DISTINCT:
        return known
    if find_function(f"{known}_distinct", ("aggregate",)):
        return f"{known}_distinct"
    if not _is_function(name):
        raise unknown_function(name, span, KINDS)
    message = coded("GE1102", f"{name} does not take DISTINCT")
    raise InvalidExpression(message, span, "Use a distinct step before.")


def _narrowed(call: Apply, names: list[str], name: str, condition: Syntax) -> Syntax:
    """Narrow the argument `name`, wherever it is given."""

    def narrow(argument: Syntax) -> Syntax:
        return Apply("and" if name == "only" else "case", (condition, argument))

    args, at = list(call.args), names.index(name)
    if at < len(args):
        args[at] = narrow(args[at])
    keywords = tuple((key, narrow(value) if key == name else value) for key, value in call.keywords)
    if name == "only" and at >= len(args) and name not in dict(keywords):
        keywords = (*keywords, (name, condition))
    return Apply(call.function, tuple(args), keywords, span=call.span)


# SQL text to written expressions.  sqlglot parses and nothing more: what we must not accept is refused here.


MOST_KEPT, LONGEST_KEPT = 1024, 1000
_SOUND: OrderedDict[str, Syntax] = OrderedDict()
"""The last expressions that had no error, by text: of a file that is edited and read again, most stay as they are."""


def parse_expression(text: str) -> Syntax:
    """Parse one SQL scalar expression.

    Raises
    ------
    InvalidExpression
        With the span of what is wrong: text that does not parse, anything outside the language, or a nesting
        deeper than the dialect's limits.
    """
    syntax, errors = read_expression(text)
    if errors:
        raise errors[0]
    return syntax


def read_expression(text: str) -> tuple[Syntax, list[InvalidExpression]]:
    """Parse one SQL scalar expression, and return all that is wrong; a part that is wrong is `Unreadable`."""
    if kept := _SOUND.get(text):
        return kept, []
    lowering = _Lowering(text)
    try:
        syntax = lowering.lower(parse_tree(text))
    except InvalidExpression as error:
        return Unreadable(), [error]
    except RecursionError:
        return Unreadable(), [InvalidExpression(coded("GE1114", "this expression nests too deeply"))]
    if not lowering.errors and len(text) <= LONGEST_KEPT:
        _SOUND[text] = syntax
        if len(_SOUND) > MOST_KEPT:
            _SOUND.popitem(last=False)
    return syntax, lowering.errors


OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "add", exp.Sub: "subtract", exp.Mul: "multiply", exp.Div: "divide", exp.IntDiv: "int_divide",
    exp.Mod: "modulo", exp.Neg: "negate", exp.DPipe: "concat",
    exp.EQ: "equal", exp.NEQ: "not_equal", exp.LT: "less", exp.LTE: "less_equal",
    exp.GT: "greater", exp.GTE: "greater_equal", exp.And: "and", exp.Or: "or", exp.Not: "not",
    exp.BitwiseAnd: "bit_and", exp.BitwiseOr: "bit_or", exp.BitwiseNot: "bit_not", exp.BitwiseLeftShift: "shift_left",
    exp.BitwiseRightShift: "shift_right", exp.Pow: "power",
    exp.NullSafeNEQ: "is_distinct", exp.NullSafeEQ: "is_not_distinct", exp.RegexpLike: "regexp_like",
}  # fmt: skip

READ: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.DPipe: ("this", "expression", "safe"), exp.Div: ("this", "expression", "typed", "safe"),
    exp.Like: ("this", "expression", "negate"), exp.ILike: ("this", "expression", "negate"),
    exp.Column: ("this", "table", "db", "catalog"),
    exp.Literal: ("this", "is_string"), exp.Anonymous: ("this", "expressions"),
    exp.Case: ("this", "ifs", "default"), exp.In: ("this", "expressions", "query", "unnest", "field"),
    exp.Between: ("this", "low", "high"), exp.Cast: ("this", "to"), exp.TryCast: ("this", "to", "safe"),
    exp.Interval: ("this", "unit", "fraction_in_string"), exp.AtTimeZone: ("this", "zone"),
    exp.Bracket: ("this", "expressions"), exp.Lambda: ("this", "expressions"), exp.Array: ("expressions",),
    exp.JSONExtract: ("this", "expression", "only_json_types"),
    exp.JSONExtractScalar: ("this", "expression", "only_json_types", "scalar_only"),
    exp.Struct: ("expressions",),
    exp.Window: ("this", "partition_by", "order", "spec", "over"),
}  # fmt: skip
"""The parts of each node that the lowering reads, where they are not the two operands."""


_TIGHTER = exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod | exp.Pow
"""Operators that bind less tightly than `~` in some languages, and more tightly in others."""
LAMBDA_TAKING = ("list_transform", "list_filter")
_BITS = exp.BitwiseAnd | exp.BitwiseOr | exp.BitwiseLeftShift | exp.BitwiseRightShift
KINDS: tuple[Kind, ...] = ("scalar", "aggregate", "window")


def is_of_parameter(syntax: Syntax) -> bool:
    """Return whether an expression is a parameter, or a part of one: `$s.a`, `$list[1]`."""
    if isinstance(syntax, Apply) and syntax.function in (SUBSCRIPT, "struct_extract"):
        return is_of_parameter(syntax.args[0])
    return isinstance(syntax, ParameterName)


def _is_function(name: str) -> bool:
    return find_function(name, KINDS) is not None


HINTS: dict[type[exp.Expr], str] = {
    exp.Star: "Name the columns: an expression gives one.",
    exp.BitwiseXor: SIGNS["^"],
    exp.Slice: "Write list[1:3], counted from 1, for elements, or substring(text, start, length).",
    exp.Tuple: "Write one value: brackets hold one expression.", exp.Any: "Write OR between the conditions.",

    exp.National: "Write the string without a prefix.",
    exp.StrToDate: "Write to_date(strptime(text, format)).",
}  # fmt: skip
"""What to write instead, by the kind of node; others are found by their words."""


class _Lowering:
    """Lowers one parsed tree; a node kind without a method here, and a part that no method reads, is refused.

    `errors` collects what is refused: a part that is wrong hides none beside it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables: list[str] = []
        self.errors: list[InvalidExpression] = []

    def lower(self, node: exp.Expr) -> Syntax:
        try:
            return self.lowered(node)
        except InvalidExpression as error:
            self.errors.append(error)
            return Unreadable(span=error.span)

    def lowered(self, node: exp.Expr) -> Syntax:
        unread = [
            key for key, value in node.args.items() if value and key not in READ.get(type(node), ("this", "expression"))
        ]
        if unread and type(node) in {*OPERATORS, *LITERALS, *self.HANDLERS}:
            raise self.unsupported(node)
        if operator := OPERATORS.get(type(node)):
            self.refuse_ambiguous(node)
            operands = [node.this] if isinstance(node, exp.Unary) else [node.this, node.expression]
            return self.operation(operator, operands, span_of(node))
        if isinstance(node, exp.Interval) and node.args.get("unit") and not isinstance(node.this, exp.Literal):
            return self.counted_interval(node)
        if literal := LITERALS.get(type(node)):
            return literal(node)
        handler = self.HANDLERS.get(type(node))
        if handler is None:
            raise self.refusal(node)
        return handler(self, node)

    def refuse_ambiguous(self, node: exp.Expr) -> None:
        """Refuse powers and bits without brackets whose order languages differ on."""
        if isinstance(node, exp.Pow) and isinstance(node.this, exp.Pow | exp.Neg):
            shown = "(-x) ** y, or -(x ** y)" if isinstance(node.this, exp.Neg) else "(x ** y) ** z, or x ** (y ** z)"
        elif isinstance(node.parent, _TIGHTER) and isinstance(node, exp.BitwiseNot):
            shown = "(~x) + y, or ~(x + y)"
        elif isinstance(node, _BITS) and any(
            isinstance(x, _BITS) and type(x) is not type(node) for x in (node.this, node.expression)
        ):
            shown = "(x & y) | z, or x & (y | z)"
        else:
            return
        message = coded("GE1101", "languages differ on what is computed first here")
        raise InvalidExpression(message, whole_span(self.text, span_of(node)), f"Write {shown}.")

    def operation(self, operator: str, operands: list[exp.Expr], span: Span | None) -> Syntax:
        lowered = [self.lower(operand) for operand in operands]
        written = isinstance(operands[0], exp.Literal) and not operands[0].is_string
        if operator == "negate" and written and isinstance(lowered[0], Constant):
            value = lowered[0].value
            return Constant(Number(value.copy_negate()) if isinstance(value, Number) else -value, span=span)
        return Apply(operator, tuple(lowered), span=span)

    def counted_interval(self, node: exp.Interval) -> Syntax:
        """Lower `INTERVAL (n) DAY`: n times a day."""
        one = exp.Interval(this=exp.Literal.string("1"), unit=node.args["unit"])
        return Apply("multiply", (self.lower(node.this), self.lower(one)), span=span_of(node))

    def unsupported(self, node: exp.Expr, hint: str = "") -> InvalidExpression:
        """Name a part of the text that gpuetl does not support, in the words that the user typed."""
        if not hint and (refused := refused_word_in(self.text)):
            return refused
        around = bracketed_span if isinstance(node, exp.Array | exp.Tuple) else whole_span
        span = around(self.text, span_of(node))
        hint = hint or "docs/language.md lists what an expression may have."
        return InvalidExpression(coded("GE1102", f"gpuetl does not support '{shortened(self.text, span)}'"), span, hint)

    def refusal(self, node: exp.Expr) -> InvalidExpression:
        """Word a node of a kind that the language lacks."""
        if isinstance(node, exp.Alias):
            return self.two_expressions(node)
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
            return self.method(node)
        if isinstance(node, exp.Block):
            return InvalidExpression(
                coded("GE1101", "unexpected ';'"), span_of(node), "Write one expression, without a semicolon."
            )
        if isinstance(node, exp.Concat):
            return InvalidExpression(
                coded("GE1101", "there is no operator between two strings"), span_of(node), "Write || to join them."
            )
        shown = node.parent if isinstance(node, exp.Any) and node.parent else node
        return self.unsupported(shown, HINTS.get(type(node), ""))

    def two_expressions(self, node: exp.Alias) -> InvalidExpression:
        alias = node.args["alias"]
        span = Span(alias.meta["start"], alias.meta["end"] + 1) if "start" in alias.meta else span_of(node)
        before = self.text[: span.start].rstrip() if span else ""
        if before.upper().endswith(" AS"):
            return InvalidExpression(
                coded("GE1101", f"unexpected 'AS {alias.name}'"), span, "The key of the map names the column."
            )
        quoted = alias.args.get("quoted")
        hint = (
            f"Text is written in single quotes: '{alias.name}'."
            if quoted
            else FOREIGN_WORDS.get(alias.name.upper(), "")
        )
        message = coded("GE1101", f"there is no operator before '{alias.name}'")
        return InvalidExpression(message, span, hint or "Write an operator, or one expression for each column.")

    def method(self, node: exp.Dot) -> InvalidExpression:
        span = whole_span(self.text, span_of(node))
        call = node.expression
        shown = shortened(self.text, whole_span(self.text, span_of(node.this)))
        hint = INSTEAD.get(call.name) or f"Write {call.name}({', '.join([shown, *('…' for _ in call.expressions)])})."
        return InvalidExpression(coded("GE1102", f"'{shown}.{call.name}()': SQL has no methods"), span, hint)

    def column(self, node: exp.Column) -> Syntax:
        if isinstance(node.this, exp.Star):
            hint = f"Write an unnest step: it puts the fields of '{node.table}' in columns." if node.table else ""
            raise self.unsupported(node, hint) if hint else self.refusal(node.this)
        if node.table:
            return self.field_of_column(node)
        if node.name.startswith("$") and not node.this.quoted:
            return self.parameter(node)
        if node.name in self.variables:
            return Variable(node.name, span=span_of(node))
        return Name(node.name, quoted=bool(node.this.quoted), span=span_of(node))

    def field_of_column(self, node: exp.Column) -> Syntax:
        """Lower `s.a`, and `s.a.b`: the first name is the column's, the others are fields."""
        names = [part for key in ("catalog", "db", "table", "this") if (part := node.args.get(key))]
        if hint := reference_hint(str(names[0].name), str(names[1].name)):
            shown = shortened(self.text, whole_span(self.text, span_of(node)))
            raise InvalidExpression(coded("GE1102", f"'{shown}': columns have plain names"), span_of(node), hint)
        syntax: Syntax = Name(names[0].name, quoted=bool(names[0].quoted), span=span_of(names[0]))
        if names[0].name in self.variables:
            syntax = Variable(names[0].name, span=span_of(names[0]))
        if names[0].name.startswith("$") and not names[0].quoted:
            syntax = ParameterName(names[0].name[1:], span=span_of(names[0]))
        for name in names[1:]:
            syntax = Apply("struct_extract", (syntax, Constant(name.name)), span=span_of(node))
        return syntax

    def field(self, node: exp.Dot) -> Syntax:
        if not isinstance(node.expression, exp.Identifier):
            raise self.refusal(node)
        return Apply("struct_extract", (self.lower(node.this), Constant(node.expression.name)), span=span_of(node))

    def subscript(self, node: exp.Bracket) -> Syntax:
        index = node.expressions
        if len(index) == 1 and isinstance(index[0], exp.Slice) and not index[0].args.get("step"):
            first, last = (index[0].args.get(key) for key in ("this", "expression"))
            bounds = (self.lower(first) if first else Constant(1), self.lower(last) if last else Constant(-1))
            return Apply("list_slice", (self.lower(node.this), *bounds), span=span_of(node))
        if len(index) != 1 or isinstance(index[0], exp.Slice):
            raise self.unsupported(node, HINTS[exp.Slice])
        return Apply(SUBSCRIPT, (self.lower(node.this), self.lower(index[0])), span=span_of(node))

    def lambda_(self, node: exp.Lambda) -> Syntax:
        """Lower `lambda x: x + 1`; a name within stands for the element, also where a column has it."""
        return self.body_of([name.name for name in node.expressions], node.this, span_of(node))

    def body_of(self, names: list[str], node: exp.Expr, span: Span | None = None) -> Lambda:
        """Lower the body of a lambda with these variables."""
        self.variables += names
        body = self.lower(node)
        del self.variables[len(self.variables) - len(names) :]
        return Lambda(tuple(names), body, span=span or span_of(node))

    def list_(self, node: exp.Array) -> Syntax:
        if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Comprehension):
            return self.comprehension(node.expressions[0])
        return Apply("list_value", tuple(map(self.lower, node.expressions)), span=span_of(node))

    def part_of_json(self, node: exp.JSONExtract | exp.JSONExtractScalar) -> Syntax:
        """Lower `text -> path` and `text ->> path`; refuse what stands beside them where languages read on."""
        parent = node.parent
        beside = isinstance(parent, _TIGHTER | _BITS | exp.Neg | exp.BitwiseNot | exp.DPipe)
        span = whole_span(self.text, span_of(node))
        call = node.find_ancestor(exp.Anonymous) if isinstance(node.this, exp.Column) else None
        if isinstance(call, exp.Anonymous) and ALIASES.get(name := str(call.this).lower(), name) in LAMBDA_TAKING:
            hint = f"Write {name}(x, lambda {node.this.name}: …)."
            raise InvalidExpression(coded("GE1102", "gpuetl does not support '->' for a lambda"), span, hint)
        reads_on = isinstance(parent, exp.Cast) and self.text[span.stop :].lstrip().startswith("::")
        if (beside and not (isinstance(parent, exp.DPipe) and node is parent.this)) or reads_on:
            message = coded("GE1101", "languages differ on what is computed first here")
            hint = f"Write ({shortened(self.text, span)}) in brackets."
            raise InvalidExpression(message, whole_span(self.text, span_of(parent or node)), hint)
        name = "json_extract_string" if isinstance(node, exp.JSONExtractScalar) else "json_extract"
        return Apply(name, (self.lower(node.this), self.lower(node.expression)), span=span_of(node))

    def comprehension(self, node: exp.Comprehension) -> Syntax:
        """Lower `[x + 1 for x in list if x > 0]`, which is a `list_transform` of a `list_filter`."""
        lists = self.lower(node.args["iterator"])
        names = [name.name for name in (node.args["expression"], node.args.get("position")) if name]
        span = span_of(node)
        if condition := node.args.get("condition"):
            if any(column.name in names[1:] for column in node.this.find_all(exp.Column)):
                message = coded("GE1102", f"gpuetl does not support the place '{names[1]}' before a condition")
                hint = "Write list_filter and list_transform: the place is that among the elements that stay."
                raise InvalidExpression(message, whole_span(self.text, span), hint)
            lists = Apply("list_filter", (lists, self.body_of(names, condition)), span=span)
        if isinstance(node.this, exp.Column) and [node.this.name] == names:
            return lists
        return Apply("list_transform", (lists, self.body_of(names, node.this)), span=span)

    def map_(self, node: exp.ToMap) -> Syntax:
        """Lower `MAP {key: value}`."""
        entries = node.this.expressions
        lists = (
            Apply("list_value", tuple(self.lower(each) for each in parts))
            for parts in ([entry.this for entry in entries], [entry.expression for entry in entries])
        )
        return Apply("map", tuple(lists), span=span_of(node))

    def parameter(self, node: exp.Column) -> Syntax:
        if not re.fullmatch(r"\$[A-Za-z_]\w*", node.name):
            raise InvalidExpression(
                coded("GE1101", f"'{node.name}' is not a parameter"), span_of(node), "A parameter is written $name."
            )
        return ParameterName(node.name[1:], span=span_of(node))

    def no_parameter(self, node: exp.Expr) -> Syntax:
        raise self.unsupported(node, "A parameter is written $name.")

    def over(self, node: exp.Window) -> Syntax:
        error = self.unsupported(node)
        if not node.args.get("spec"):
            raise error
        frame = "A frame is an option there: rolling_sum(x, rows => [-2, 2])."
        raise InvalidExpression(error.message, error.span, f"{error.hint} {frame}")

    def parenthesized(self, node: exp.Paren) -> Syntax:
        return self.lower(node.this)

    def call(self, node: exp.Anonymous) -> Syntax:
        span = Span(node.meta["start"], node.meta["end"] + 1) if "start" in node.meta else None
        name = str(node.this).lower()
        if name in (STRUCT, "struct", *CHANGED_STRUCTS):
            return self.struct(node, span)
        keywords = [a for a in node.expressions if isinstance(a, exp.Kwarg)]
        positional = [a for a in node.expressions if not isinstance(a, exp.Kwarg)]
        order = positional[-1].expressions if positional and isinstance(positional[-1], exp.Order) else []
        if order:
            positional[-1] = positional[-1].this
        if name == "count" and len(positional) == 1 and isinstance(positional[0], exp.Star):
            return Apply("count_rows", span=span)
        if len(positional) == 1 and isinstance(positional[0], exp.Distinct):
            name, positional = distinct_name(name, span), positional[0].expressions
        if any(isinstance(a, exp.Star) for a in positional) and not _is_function(name):
            raise unknown_function(name, span, KINDS)
        if cast := next((a for a in positional if isinstance(a, exp.Alias)), None):
            raise self.refusal(cast) if _is_function(name) else unknown_function(name, span, KINDS)
        name = OVERLOADS.get((name, len(positional)), name)
        count = len(self.errors)
        args = tuple(self.lower(argument) for argument in positional)
        if name in INSTEAD and not _is_function(name):  # its arguments are written otherwise, too
            del self.errors[count:]
        if name in ("if", "iff"):
            if len(args) != 3 or keywords:
                raise InvalidExpression(
                    coded("GE1104", f"{name} takes a condition and two values"),
                    span,
                    f"It is {name}(condition, value, otherwise).",
                )
            return Apply("case", args, span=span)
        named = [(k.this.name, self.option(k)) for k in keywords]
        return Apply(name, args, (*named, *map(self.sort_key, order)), span=span)

    def option(self, keyword: exp.Kwarg) -> Syntax:
        """Lower the value of a keyword; of `rows` and `range`, both ends of a frame as one constant."""
        if keyword.this.name not in ("rows", "range") or not isinstance(keyword.expression, exp.Array):
            return self.lower(keyword.expression)
        span = bracketed_span(self.text, span_of(keyword.expression))
        ends = [self.lower(end) for end in keyword.expression.expressions]
        if not all(isinstance(end, Constant) for end in ends):
            message = coded("GE1105", f"{keyword.this.name} takes two constants")
            raise InvalidExpression(message, span, f"Write {keyword.this.name} => [-2, 2].")
        return Constant(tuple(end.value for end in ends if isinstance(end, Constant)), span=span)

    def sort_key(self, node: exp.Expr) -> tuple[str, Syntax]:
        """Lower one of the keys of an ORDER BY in a call."""
        if not isinstance(node, exp.Ordered):
            raise self.refusal(node)
        ways = (Constant(bool(node.args.get("desc"))), Constant(bool(node.args.get("nulls_first"))))
        return ORDER_BY, Apply(SORT_KEY, (self.lower(node.this), *ways), span=span_of(node))

    def within_group(self, node: exp.WithinGroup) -> Syntax:
        """Lower `f(x) WITHIN GROUP (ORDER BY y)`, which is `f(x ORDER BY y)`."""
        call, order = self.lower(node.this), node.expression.expressions
        if not isinstance(call, Apply) or call.function in ("quantile", "percentile_cont", "percentile_disc"):
            raise self.refusal(node)
        return replace(call, keywords=(*call.keywords, *map(self.sort_key, order)))

    def struct(self, node: exp.Anonymous | exp.Struct, span: Span | None = None) -> Syntax:
        """Lower `struct_pack(a := x)`, `{'a': x}`, and `struct(a, x AS b)`, where the name of `a` is its field's.

        The first argument of `struct_insert` and `struct_update` is a struct.
        """
        name = str(node.this).lower() if isinstance(node, exp.Anonymous) else STRUCT
        structs = node.expressions[: name in CHANGED_STRUCTS]
        fields = map(self.named_field, node.expressions[len(structs) :])
        name = name if name in CHANGED_STRUCTS else STRUCT
        return Apply(name, tuple(map(self.lower, structs)), tuple(fields), span=span or span_of(node))

    def named_field(self, node: exp.Expr) -> tuple[str, Syntax]:
        if isinstance(node, exp.PropertyEQ | exp.Kwarg):
            return node.this.name, self.lower(node.expression)
        if isinstance(node, exp.Alias):
            return node.alias, self.lower(node.this)
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return node.name, self.lower(node)
        shown = shortened(self.text, whole_span(self.text, span_of(node)))
        message = coded("GE1104", f"the field of '{shown}' has no name")
        raise InvalidExpression(message, span_of(node), f"Write struct_pack(name := {shown}).")

    def filtered(self, node: exp.Filter) -> Syntax:
        return filtered_call(self.lower(node.this), self.lower(node.expression.this), span_of(node.this))

    def case(self, node: exp.Case) -> Syntax:
        args: list[Syntax] = []
        subject = self.lower(node.this) if node.this else None
        for branch in node.args["ifs"]:
            condition = self.lower(branch.this)
            args += [
                Apply("equal", (subject, condition), span=condition.span) if subject else condition,
                self.lower(branch.args["true"]),
            ]
        if node.args.get("default"):
            args.append(self.lower(node.args["default"]))
        return Apply("case", tuple(args), span=span_of(node))

    def is_(self, node: exp.Is) -> Syntax:
        operand = self.lower(node.this)
        if isinstance(node.expression, exp.Null):
            return Apply("is_null", (operand,), span=span_of(node))
        if isinstance(node.expression, exp.Boolean):
            return Apply("is_not_distinct", (operand, Constant(bool(node.expression.this))), span=span_of(node))
        value = shortened(self.text, whole_span(self.text, span_of(node.expression)))
        hint = "Write IS NULL." if value.lower() == "none" else f"Write = {value}, or <> {value} for IS NOT."
        raise self.unsupported(node, hint)

    def like(self, node: exp.Like | exp.ILike, *escape: Syntax) -> Syntax:
        span, name = span_of(node), "like" if isinstance(node, exp.Like) else "ilike"
        like = Apply(name, (self.lower(node.this), self.lower(node.expression), *escape), span=span)
        return Apply("not", (like,), span=span) if node.args.get("negate") else like

    def glob(self, node: exp.Glob) -> Syntax:
        """Lower `text GLOB pattern` to a regular expression."""
        pattern = self.lower(node.expression)
        if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
            span = whole_span(self.text, span_of(node))
            raise InvalidExpression(
                coded("GE1105", "GLOB takes a constant"), span, "Write LIKE for a pattern of a column."
            )
        try:
            written = Constant(regex_of_glob(pattern.value), span=pattern.span)
        except InvalidGlob as error:
            raise InvalidExpression(str(error), pattern.span, "Write \\[ for a bracket.") from None
        return Apply("regexp_full_match", (self.lower(node.this), written, Constant("s")), span=span_of(node))

    def escaped(self, node: exp.Escape) -> Syntax:
        if not isinstance(node.this, exp.Like | exp.ILike):
            raise self.refusal(node)
        return self.like(node.this, self.lower(node.expression))

    def in_(self, node: exp.In) -> Syntax:
        if (field := node.args.get("field")) and is_of_parameter(searched := self.lower(field)):
            return Apply("list_contains", (searched, self.lower(node.this)), span=span_of(node))
        if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
            hint = "Write x IN (1, 2), or list_contains(list, x) for a column of lists."
            if node.args.get("query"):
                hint = "Write a join step with how: semi, or how: anti for NOT IN."
            raise InvalidExpression(
                coded("GE1102", "IN takes a list of values"), whole_span(self.text, span_of(node)), hint
            )
        if not node.expressions:
            raise InvalidExpression(
                coded("GE1101", "IN has no values"), whole_span(self.text, span_of(node)), "Write x IN (1, 2)."
            )
        values = tuple(self.lower(value) for value in node.expressions)
        return Apply("in", (self.lower(node.this), *values), span=span_of(node))

    def between(self, node: exp.Between) -> Syntax:
        operand = self.lower(node.this)
        low = Apply("greater_equal", (operand, self.lower(node.args["low"])), span=span_of(node))
        high = Apply("less_equal", (operand, self.lower(node.args["high"])), span=span_of(node))
        return Apply("and", (low, high), span=span_of(node))

    def extract(self, node: exp.Extract) -> Syntax:
        part = EXTRACT_PARTS.get(node.this.name.upper())
        if part is None:
            have = ", ".join(sorted(name.lower() for name in EXTRACT_PARTS))
            raise InvalidExpression(
                coded("GE1106", f"extract has no part '{node.this.name.lower()}'"), span_of(node), f"Parts: {have}."
            )
        return Apply(part, (self.lower(node.expression),), span=span_of(node))

    def cast(self, node: exp.Cast) -> Syntax:
        target, operand = cast_target(node), self.lower(node.this)
        lenient = isinstance(node, exp.TryCast)
        try:
            constant = None if lenient else converted(operand, target)
        except ValueError as error:
            raise InvalidExpression(str(error), operand.span, f"Write it like {constant_form(target)}.") from None
        return constant or CastTo(operand, target, lenient, span=span_of(node))

    def at_time_zone(self, node: exp.AtTimeZone) -> Syntax:
        return Apply("at_time_zone", (self.lower(node.this), self.lower(node.args["zone"])), span=span_of(node))

    HANDLERS: ClassVar[dict[type[exp.Expr], Callable[[_Lowering, Any], Syntax]]] = {
        exp.Column: column, exp.Placeholder: no_parameter, exp.Parameter: no_parameter, exp.Paren: parenthesized,
        exp.Anonymous: call, exp.Filter: filtered, exp.WithinGroup: within_group,
        exp.Window: over, exp.Case: case, exp.Is: is_, exp.In: in_, exp.Like: like, exp.ILike: like,
        exp.Escape: escaped, exp.Between: between, exp.Extract: extract,
        exp.Cast: cast, exp.TryCast: cast,
        exp.AtTimeZone: at_time_zone, exp.Dot: field, exp.Bracket: subscript, exp.Array: list_, exp.Lambda: lambda_,
        exp.Glob: glob, exp.JSONExtract: part_of_json, exp.JSONExtractScalar: part_of_json,
        exp.Struct: struct, exp.ToMap: map_,
    }  # fmt: skip
