"""Formats of values, as DuckDB has them: `format('{}: {:.2f}', name, x)` and `printf('%s: %.2f', name, x)`.

A field is `{}`, `{0}` or `{:…}`: perhaps a fill and `<`, `>` or `^`, then `+`, `0`, a width, `,`, `_` or `'` between thousands, `.2` for digits, and
`s`, `d`, `f`, or for integers `x`, `X`, `o` or `b` (base 16, 8 and 2).  `printf` writes a negative integer in such a base as its 64 bits.  Strings, whole numbers, booleans and dates are written as they are by `{}`.  Floats and decimals need `f`; they are
rounded from their exact value as float64, half to even.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from gpuetl.expressions.format_text import BASES, PARSERS, Field, InvalidFormat, Piece
from gpuetl.expressions.functions.function import ENTRIES, Function, Rule, TypeMismatch, Typing
from gpuetl.expressions.ir import Call, Cast, Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    NULL,
    STRING,
    DataType,
    is_floating,
    is_integer,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal

UINT64 = pa.uint64()


def pieces_of(name: str, form: Expr) -> Sequence[Piece]:
    """Return the pieces of a constant format."""
    if not isinstance(form, Literal):
        raise TypeMismatch(coded("GE1105", "takes the format as a constant"), "Join texts by ||.")
    try:
        return PARSERS[name](str(form.value))
    except InvalidFormat as error:
        raise TypeMismatch(
            str(error), "Write {:.2f}, {:05d}, {:>10} or %.2f, %05d, %10s; lpad and || write others."
        ) from None


def formatted(name: str) -> Rule:
    """Return the rule of `format` or `printf`."""

    def rule(args: Sequence[Expr]) -> Typing:
        fields = [piece for piece in pieces_of(name, args[0]) if isinstance(piece, Field)]
        used = {field.place for field in fields}
        if used and max(used) + 1 > len(args) - 1:
            what = f"takes {max(used) + 1} values for this format, got {len(args) - 1}"
            raise TypeMismatch(coded("GE1104", what))
        if unused := set(range(len(args) - 1)) - used:
            raise TypeMismatch(coded("GE1104", f"has no field for value {min(unused) + 1}"), "Leave it out.")
        for field in fields:
            check_value(field, args[field.place + 1].dtype)
        return [STRING, *(kept_type(arg.dtype) for arg in args[1:])], STRING

    return rule


def kept_type(dtype: DataType) -> DataType:
    """Return the type in which a value is written."""
    if is_integer(dtype):
        return UINT64 if dtype == UINT64 else INT64
    return dtype if dtype in (STRING, BOOL, DATE, NULL) else FLOAT64


def check_value(field: Field, dtype: DataType) -> None:
    """Refuse a value whose type a field does not write."""
    number = field.plus or field.zeros or bool(field.separator)
    if dtype == NULL:
        return
    if is_integer(dtype):
        wrong, needed = (
            field.kind not in ("", "d", *BASES) or field.precision >= 0,
            "{:d} or {:x}, or a CAST to float64 for {:.2f}",
        )
    elif is_floating(dtype) or is_decimal(dtype):
        wrong, needed = field.kind != "f", "{:.2f}"
    elif dtype == STRING:
        wrong, needed = field.kind not in ("", "s") or number, "{} or {:>10}"
    else:
        plain = not (number or field.width or field.precision >= 0) and field.kind in ("", "s")
        wrong, needed = not (plain and dtype in (BOOL, DATE)), "{}, and CAST(x AS string) for other types"
    if wrong:
        raise TypeMismatch(coded("GE1103", f"cannot write {type_name(dtype)} in such a field"), f"Write {needed}.")


def joined(call: Call) -> Expr:
    """Return the pieces joined, each value written by its field."""
    parts: list[Expr] = []
    form, *values = call.args
    for piece in pieces_of(call.function.name, form):
        if isinstance(piece, str):
            parts += [Literal(piece, STRING)] * bool(piece)
            continue
        value = values[piece.place]
        if value.dtype == NULL:
            return Literal(None, STRING)
        if value.dtype in (BOOL, DATE):
            parts.append(Cast(value, STRING))
        elif value.dtype == STRING and not piece.width and piece.precision < 0:
            parts.append(value)
        else:
            right = not piece.align and value.dtype != STRING
            field = Field(
                0, piece.fill, piece.align or (">" if right else "<"), piece.plus, piece.zeros, piece.width, piece.separator,
                6 if piece.kind == "f" and piece.precision < 0 else piece.precision, piece.kind, piece.bits,
            )  # fmt: skip
            if piece.zeros:
                field = replace(field, fill=" ", align="", separator="")
            parts.append(Call(FORMATTED, (value, Literal(field.written, STRING)), STRING))
    if not parts:
        return Literal("", STRING)
    return parts[0] if len(parts) == 1 else Call(ENTRIES["scalar", "concat"], tuple(parts), STRING)


def written(args: Sequence[Expr]) -> Typing:
    """A value, and its field."""
    return [arg.dtype for arg in args], STRING


def may_be_too_large(args: Sequence[Expr]) -> bool:
    """Return whether there are floats."""
    return any(is_floating(arg.dtype) or is_decimal(arg.dtype) for arg in args)


FORMATTED = Function("formatted", "x field!", written, "A value written by a field.", "", None, fails=may_be_too_large)
INTERNAL = {FORMATTED.name: FORMATTED}

FUNCTIONS = (
    Function("format", "format! value more*", formatted("format"), "Text with values in the places of `{}`.", "format('{}: {:.2f}', 'a', CAST(1.5 AS float64))",
             "a: 1.50", fails=may_be_too_large, expansion=joined),
    Function("printf", "format! value more*", formatted("printf"), "Text with values in the places of `%s`, `%d` and `%.2f`.", "printf('%05d|%-3s|', 42, 'a')",
             "00042|a  |", fails=may_be_too_large, expansion=joined),
)  # fmt: skip
