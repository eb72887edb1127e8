"""Values as JSON.  Numbers are as DuckDB writes them, with no blanks between parts.

Lists, structs and maps are written as what they are made of: `json_join` of texts and values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.functions.json import KEYS, STRINGS, WHOLE, case, made, present
from gpuetl.expressions.functions.marked_text import TEXT, VALUE
from gpuetl.expressions.ir import Call, Cast, Expr, Lambda, Literal, Variable, children
from gpuetl.messages import coded
from gpuetl.types.data_types import (
    BOOL,
    INT64,
    NULL,
    STRING,
    UUID,
    DataType,
    is_floating,
    is_integer,
    is_temporal,
    type_name,
)
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import children_of, is_list, is_map, is_nested, is_struct

JSON_MADE = (
    "json_extract", "json", "to_json", "json_join", "json_object", "json_array", "json_set", "json_insert", "json_replace", "json_remove",
    "json_merge_patch", "json_merge_patch_diff", "json_deep_merge", "json_strip_nulls", "json_text", "try_json_text",
)  # fmt: skip
"""`json_normalize` is a text, as it is in DuckDB."""
CHECKED = ("json_text", "try_json_text")
JSON_PART = "json:made"
"""The name of the elements of a list of JSON."""


def is_json(expr: Expr) -> bool:
    """Return whether an expression gives JSON: a call that does, a CASE of such, or an element of a list of JSON."""
    if isinstance(expr, Variable):
        return expr.name.startswith(JSON_PART)
    if not isinstance(expr, Call):
        return False
    if expr.function.name == "case":
        return all(map(is_json, (*expr.args[1::2], *expr.args[-1:][: len(expr.args) % 2])))
    return expr.function.name in JSON_MADE and expr.dtype == STRING


def compact(json: Expr) -> Expr:
    """Return JSON without blanks: what CAST to JSON gives may have some."""
    parts = json.args if isinstance(json, Call) and json.function.name == "case" else (json,)
    if any(isinstance(part, Call) and part.function.name in CHECKED for part in parts):
        return made("json_extract", (json, WHOLE), STRING)
    return json


def has_blanks(json_list: Expr) -> bool:
    """Return whether a list has JSON that is not compact."""
    return is_json_list(json_list) and any(compact(part) is not part for part in children(json_list))


def is_json_list(expr: Expr) -> bool:
    """Return whether an expression gives a list of JSON: what `json_extract` finds at several paths."""
    if not isinstance(expr, Call) or expr.dtype != STRINGS:
        return False
    parts = expr.args[1::2] if expr.function.name == "case" and len(expr.args) == 2 else (expr,)
    return all(
        isinstance(part, Call)
        and (
            (part.function.name == "json_parts" and part.args[1] != KEYS)
            or (part.function.name == "list_value" and bool(part.args) and all(map(is_json, part.args)))
        )
        for part in parts
    )


def check_writable(dtype: DataType) -> None:
    """Refuse types that JSON has no form for."""
    if is_map(dtype) and (is_nested(dtype.key_type) or not is_flat(dtype.key_type)):
        raise TypeMismatch(coded("GE1863", f"cannot write the keys of {type_name(dtype)} as JSON"))
    if is_nested(dtype):
        for child in children_of(dtype):
            check_writable(child)
    elif not is_flat(dtype):
        raise TypeMismatch(
            coded("GE1863", f"cannot write {type_name(dtype)} as JSON"),
            "Write to_base64(x) or hex(x) of binary, and epoch_us(x) of a duration.",
        )


def is_flat(dtype: DataType) -> bool:
    """Return whether a flat type has a form in JSON."""
    number = is_integer(dtype) or is_floating(dtype) or is_decimal(dtype)
    timed = is_temporal(dtype) and not pa.types.is_duration(dtype)
    return dtype in (NULL, BOOL, STRING, UUID) or number or timed


def written(args: Sequence[Expr]) -> Typing:
    """Values of types that JSON has a form for."""
    for arg in args:
        check_writable(arg.dtype)
    return [arg.dtype for arg in args], STRING


def named(args: Sequence[Expr]) -> Typing:
    """Constant names, each with a value."""
    if len(args) % 2:
        raise TypeMismatch(coded("GE1104", "takes names with values"), "Write json_object('a', x, 'b', y).")
    for key in args[::2]:
        if not isinstance(key, Literal) or key.dtype != STRING or key.value is None:
            raise TypeMismatch(coded("GE1105", "takes names that are constants"), "Write json_object('a', x, 'b', y).")
    return written(args)


def can_be_nan(args: Sequence[Expr]) -> bool:
    """Return whether one of the values may be a number that JSON lacks."""
    return any(is_floating(arg.dtype) for arg in args)


def quoted(text: str) -> str:
    """Return a text as a string of JSON."""
    short = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(short.get(c) or (f"\\u{ord(c):04X}" if c < " " else c) for c in text) + '"'


def join(parts: Sequence[str | Expr], depth: int = 0) -> Call:
    """Return `json_join` of texts and values, one after the other."""
    form, values = "", list[Expr]()
    for part in parts:
        if isinstance(part, str):
            form += part
        elif part.dtype == NULL:
            form += "null"
        else:
            mark, value = operand(part, depth)
            form, values = form + mark, [*values, value]
    return made("json_join", (Literal(form, STRING), *values), STRING)


def operand(value: Expr, depth: int) -> tuple[str, Expr]:
    """Return a value as `json_join` takes it: with what writes it, or as JSON."""
    dtype = value.dtype
    if is_json(value):
        return TEXT, compact(value)
    if is_nested(dtype):
        return TEXT, nested_json(value, depth)
    if is_decimal(dtype):
        return TEXT, Cast(value, STRING)
    if is_temporal(dtype) or dtype == UUID:
        return VALUE, Cast(value, STRING)
    return VALUE, value


def nested_json(value: Expr, depth: int) -> Expr:
    """Return a list, a struct or a map as JSON; null where it is null."""
    dtype = value.dtype
    if is_struct(dtype):
        parts: list[str | Expr] = []
        for place, field in enumerate(dtype):
            member: Expr = made("struct_extract", (value, Literal(field.name, STRING)), field.type)
            if isinstance(value, Call) and value.function.name == "struct_pack":
                member = value.args[place]  # which may be JSON
            parts += [f"{',' if place else ''}{quoted(field.name)}:", member]
        return case(present(value), join(["{", *parts, "}"], depth))
    name = JSON_PART if is_json_list(value) else "json:"
    first = Variable(f"{name}{depth}", dtype.value_type if is_list(dtype) else dtype.key_type)
    if is_list(dtype):
        element = made("json_extract", (first, WHOLE), STRING) if has_blanks(value) else first
        texts, brackets = made("list_transform", (value, Lambda((first,), join([element], depth + 1))), STRINGS), "[]"
    else:
        source = made("map_keys", (value,), pa.list_(dtype.key_type))
        values = made("map_values", (value,), pa.list_(dtype.item_type))
        index = Variable(f"json:place{depth}", INT64)
        key = first if dtype.key_type == STRING else Cast(first, STRING)
        item = made("list_extract", (values, index), dtype.item_type)
        text, brackets = join([key, ":", item], depth + 1), "{}"
        texts = made("list_transform", (source, Lambda((first, index), text)), STRINGS)
    joined = made("array_to_string", (texts, Literal(",", STRING)), STRING)
    return case(
        present(value), made("json_join", (Literal(f"{brackets[0]}{TEXT}{brackets[1]}", STRING), joined), STRING)
    )


def value_json(call: Call) -> Expr:
    """Return `to_json` of what engines write; of a nested value what it is made of."""
    (value,) = call.args
    if is_json(value):
        return compact(value)
    if is_nested(value.dtype):
        return nested_json(value, 0)
    if is_temporal(value.dtype) or value.dtype == UUID:
        return replace(call, args=(Cast(value, STRING),))
    return call


def object_json(call: Call) -> Expr:
    """Return `json_object` as what is joined."""
    parts: list[str | Expr] = []
    for place, (key, value) in enumerate(zip(call.args[::2], call.args[1::2], strict=True)):
        assert isinstance(key, Literal)
        parts += [f"{',' if place else ''}{quoted(key.value)}:", value]
    return join(["{", *parts, "}"])


def array_json(call: Call) -> Expr:
    """Return `json_array` as what is joined."""
    parts: list[str | Expr] = []
    for value in call.args:
        parts += [",", value] if parts else [value]
    return join(["[", *parts, "]"])


NestedJson: Any = partial(Function, nested=True)

FUNCTIONS = (
    NestedJson("to_json", "x", written, "A value as JSON.  JSON that is made in the same expression stays; other strings are quoted.  NaN and infinities are an error.",
               "to_json(struct_pack(a := 1, b := ['x', NULL]))", '{"a":1,"b":["x",null]}', fails=can_be_nan, rewrite=value_json),
    NestedJson("json_object", "name! value more*", named, "`json_object('a', x, 'b', y)`: the JSON object of constant names, each with a value as `to_json` writes it.  Never null.", "json_object('a', 'x')",
               '{"a":"x"}', nulls="own", fails=can_be_nan, expansion=object_json),
    NestedJson("json_array", "x more*", written, "The JSON array of values as `to_json` writes them; never null.", "json_array(1, 'x', NULL)", '[1,"x",null]', nulls="own",
               fails=can_be_nan, expansion=array_json),
)  # fmt: skip

JOIN = Function("json_join", "form! value*", written, "Text with values as JSON.", "", None, nulls="own", fails=can_be_nan)  # fmt: skip
JSON_TEXT = Function("json_text", "text", fixed(STRING, returns=STRING), "A string as it is, which has to be JSON.", "", None, can_fail=True)  # fmt: skip
TRY_JSON_TEXT = Function(
    "try_json_text",
    "text",
    fixed(STRING, returns=STRING),
    "A string as it is, null where it is not JSON.",
    "",
    None,
    expansion=lambda call: case(made("json_valid", call.args, BOOL), call.args[0]),
)
INTERNAL = {entry.name: entry for entry in (JOIN, JSON_TEXT, TRY_JSON_TEXT)}


def cast_to_json(value: Expr, lenient: bool) -> Expr:
    """Return what CAST to JSON makes of a value: a string that is JSON stays as it is, other values are written.

    Raises
    ------
    TypeMismatch
        For TRY_CAST of floats, of which JSON has no NaN.
    """
    if value.dtype == NULL:
        return Literal(None, STRING)
    if is_json(value):
        return value
    if value.dtype == STRING:
        return made("try_json_text" if lenient else "json_text", (value,), STRING)
    check_writable(value.dtype)
    if lenient and holds_floats(value.dtype):
        what = f"TRY_CAST to json takes no floats, got {type_name(value.dtype)}"
        raise TypeMismatch(what, "JSON has no NaN. Write CASE WHEN is_finite(x) THEN to_json(x) END.")
    return value_json(made("to_json", (value,), STRING))


def holds_strings(dtype: DataType) -> bool:
    """Return whether a type is of strings, or has a part of strings."""
    return dtype == STRING or any(map(holds_strings, children_of(dtype)))


def holds_floats(dtype: DataType) -> bool:
    """Return whether a type is of floats, or has a part of floats."""
    return is_floating(dtype) or any(map(holds_floats, children_of(dtype)))
