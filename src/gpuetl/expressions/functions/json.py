r"""JSON in strings.  `text -> '$.a'` is a part as JSON, `text ->> '$.a'` as text: `CAST(text ->> '$.a' AS int64)`.

JSON is as RFC 8259 has it, nested in at most 256 levels.  A string that is not JSON is an error, but for `json_valid` and
`try_from_json`.  A path is `$.a.b[0]`; `$."a.b"` for any key; `$[-1]` or `$[#-1]` for the last element; `/a/b/0`; a key alone; or
the number of an element.  Of equal keys, the first counts.  `$.a[*].b` and `$.a.*` give a list.  JSON that is written has no
blanks, and strings without needless escapes.  Numbers stay as they are written: DuckDB writes 1.50 as 1.5, and also reads
trailing commas and NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from gpuetl.expressions.functions.function import ENTRIES, Function, Rule, TypeMismatch, Typing, fixed
from gpuetl.expressions.functions.marked_text import TEXT, VALUE
from gpuetl.expressions.ir import Call, Cast, Expr, Lambda, Literal, Variable
from gpuetl.expressions.json_path import Each, InvalidPath, Member, Step, parse_path, path_of_key, path_text
from gpuetl.expressions.json_structure import parse_structure
from gpuetl.messages import code_of, coded, recoded
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

STRINGS = pa.list_(STRING)
WHOLE = Literal("$", STRING)
NO_TEXT = Literal(None, STRING)


def steps_of(args: Sequence[Expr]) -> tuple[Step, ...]:
    """Return the steps of a path, which is the second argument; none of one that is left out or not known yet."""
    path = args[1] if len(args) > 1 else WHOLE
    if not isinstance(path, Literal):
        return ()
    try:
        return parse_path(path_of_key(path.value))
    except InvalidPath as error:
        raise TypeMismatch(str(error), error.hint) from None


def at_path(returns: DataType, *, many: DataType | None = None) -> Rule:
    """Text, and the path of a value in it; `many` is the type of what a path with `*` gives."""

    def rule(args: Sequence[Expr]) -> Typing:
        fixed(STRING, returns=STRING)(args[:1])
        for path in args[1:]:
            if path.dtype != STRING and not is_integer(path.dtype):
                raise TypeMismatch(f"takes a path such as '$.a', got {type_name(path.dtype)}")
        given = any(isinstance(step, Each) for step in steps_of(args))
        if given and many is None:
            what = coded("GE1860", "takes the path of one value, without *")
            raise TypeMismatch(what, "Write json_extract(text, path), and list_transform over it.")
        return [STRING, *(path.dtype for path in args[1:])], many if given and many else returns

    return rule


def with_written_path(call: Call) -> Expr:
    """Return the call with a path that is text; one with `*` as what it is made of."""
    if len(call.args) > 1 and isinstance(path := call.args[1], Literal):
        call = replace(call, args=(call.args[0], Literal(path_of_key(path.value), STRING, path.declared)))
    steps = steps_of(call.args)
    return each_found(call, steps) if any(isinstance(step, Each) for step in steps) else call


def made(name: str, args: Sequence[Expr], dtype: DataType) -> Call:
    """Return a call of a scalar function."""
    return Call(ENTRIES["scalar", name], tuple(args), dtype)


def case(condition: Expr, value: Expr) -> Call:
    """Return a value where a condition is true, else null."""
    return made("case", (condition, value), value.dtype)


def present(value: Expr) -> Call:
    """Return whether a value is not null."""
    return made("not", (made("is_null", (value,), BOOL),), BOOL)


def each_found(call: Call, steps: Sequence[Step]) -> Expr:
    """Return the list of what a path with `*` finds: the parts of one value, and a path in each of them."""
    place = next(i for i, step in enumerate(steps) if isinstance(step, Each))
    step, rest = steps[place], Literal(path_text(tuple(steps[place + 1 :])), STRING)
    assert isinstance(step, Each)
    text = call.args[0]
    whole = made("json_extract", (text, Literal(path_text(tuple(steps[:place])), STRING)), STRING)
    found = case(present(text), made("coalesce", (whole, Literal("null", STRING)), STRING))
    parts: Expr = made("json_parts", (found, Literal("values" if step.members else "elements", STRING)), STRINGS)
    part = Variable("json:part", STRING)
    if rest.value != "$":
        parts = made("list_filter", (parts, Lambda((part,), made("json_exists", (part, rest), BOOL))), STRINGS)
    elif call.function.name == "json_extract":
        return parts
    return made("list_transform", (parts, Lambda((part,), replace(call, args=(part, rest), dtype=STRING))), STRINGS)


def keys_found(call: Call) -> Expr:
    """Return the keys of an object: its parts, without quotes and escapes."""
    text = made("json_extract", (*call.args, WHOLE)[:2], STRING)
    part = Variable("json:part", STRING)
    keys = made("json_parts", (text, Literal("keys", STRING)), STRINGS)
    return made("list_transform", (keys, Lambda((part,), made("json_extract_string", (part, WHOLE), STRING))), STRINGS)


# Values as JSON.


JSON_MADE = ("json_extract", "json", "to_json", "json_join", "json_object", "json_array")


def is_json(expr: Expr) -> bool:
    """Return whether an expression gives JSON: a call that does, or a CASE of such."""
    if not isinstance(expr, Call):
        return False
    if expr.function.name == "case":
        return all(map(is_json, (*expr.args[1::2], *expr.args[-1:][: len(expr.args) % 2])))
    return expr.function.name in JSON_MADE and expr.dtype == STRING


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
        return TEXT, value
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
            member = made("struct_extract", (value, Literal(field.name, STRING)), field.type)
            parts += [f"{',' if place else ''}{quoted(field.name)}:", member]
        return case(present(value), join(["{", *parts, "}"], depth))
    first = Variable(f"json:{depth}", dtype.value_type if is_list(dtype) else dtype.key_type)
    if is_list(dtype):
        texts, brackets = made("list_transform", (value, Lambda((first,), join([first], depth + 1))), STRINGS), "[]"
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
        return value
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


# JSON as values of declared types.


def structured(args: Sequence[Expr]) -> Typing:
    """A text, and the structure of what is in it."""
    types = fixed(STRING, STRING, returns=STRING)(args)[0]
    if not isinstance(args[1], Literal) or args[1].declared:
        raise TypeMismatch(coded("GE1105", "takes the structure as a constant"), STRUCTURE)
    try:
        dtype = parse_structure(str(args[1].value))
    except ValueError as error:
        why = recoded(f"cannot take the structure: {error}", error) if code_of(str(error)) else ""
        raise TypeMismatch(why or coded("GE1025", f"unknown type '{args[1].value}'"), STRUCTURE) from None
    check_readable(dtype)
    return types, dtype


STRUCTURE = 'Write \'STRUCT(a BIGINT, b VARCHAR[])\', or \'{"a": "BIGINT", "b": ["VARCHAR"]}\'.'


def check_readable(dtype: DataType) -> None:
    """Refuse types that are not read from JSON."""
    if is_map(dtype) or (not is_nested(dtype) and (dtype == NULL or not is_flat(dtype))):
        raise TypeMismatch(coded("GE1862", f"cannot read {type_name(dtype)} from JSON"), "Read it as string.")
    for child in children_of(dtype):
        check_readable(child)


def structured_value(call: Call) -> Expr:
    """Return `from_json` as the values at the paths of the structure."""
    text = call.args[0]
    if call.function.name == "try_from_json":
        text = case(made("json_valid", (text,), BOOL), text)
    return value_at(text, (), call.dtype, 0)


def value_at(text: Expr, steps: tuple[Member, ...], dtype: DataType, depth: int) -> Expr:
    """Return the value at a path, of a type; null where it is of another one."""
    path = Literal(path_text(steps), STRING)
    found = made("json_extract_string", (text, path), STRING)
    if dtype == STRING:
        return found
    if is_struct(dtype):
        fields = [value_at(text, (*steps, Member(field.name)), field.type, depth) for field in dtype]
        return case(present(found), made("struct_pack", fields, dtype))
    if is_list(dtype):
        array = made("equal", (made("json_type", (text, path), STRING), Literal("ARRAY", STRING)), BOOL)
        parts = made(
            "json_parts",
            (case(array, made("json_extract", (text, path), STRING)), Literal("elements", STRING)),
            STRINGS,
        )
        part = Variable(f"json:{depth}", STRING)
        return made("list_transform", (parts, Lambda((part,), value_at(part, (), dtype.value_type, depth + 1))), dtype)
    if is_integer(dtype):  # 1.0 and 1e3 are whole numbers
        return Cast(Cast(found, pa.decimal128(20, 0), lenient=True), dtype, lenient=True)
    return Cast(found, dtype, lenient=True)


JsonFunction: Any = partial(Function, rewrite=with_written_path)
NestedJson: Any = partial(Function, nested=True)
A_PATH = "; null where there is none"
Expansion = Callable[[Call], Expr]

FUNCTIONS = (
    JsonFunction("json_extract", "text path!", at_path(STRING, many=STRINGS), f"`text -> path`: the value at a path, as JSON{A_PATH}.  A path with * gives a list.",
                 """json_extract('{"a": [1, {"b": "x"}]}', '$.a[1]')""", '{"b":"x"}', can_fail=True),
    JsonFunction("json_extract_string", "text path!", at_path(STRING, many=STRINGS), "`text ->> path`: a string at a path without its quotes, any other value as "
                 "JSON; null for `null`, and where there is none.  A path with * gives a list.",
                 """json_extract_string('{"a": {"b": "x"}}', '$.a.b')""", "x", can_fail=True),
    JsonFunction("json_value", "text path!", at_path(STRING), "A string, number or boolean at a path as JSON, a string with its quotes; null for others.",
                 """json_value('{"a": 1.5}', '$.a')""", "1.5", can_fail=True),
    JsonFunction("json_exists", "text path!", at_path(BOOL), "Whether there is a value at a path, perhaps `null`.",
                 """json_exists('{"a": null}', '$.a')""", True, can_fail=True),
    JsonFunction("json_type", "text path?!", at_path(STRING), f"The type of the value: OBJECT, ARRAY, VARCHAR, BOOLEAN, NULL, UBIGINT, BIGINT for negative integers, or DOUBLE{A_PATH}.",
                 """json_type('{"a": [1]}', '$.a')""", "ARRAY", can_fail=True),
    JsonFunction("json_array_length", "text path?!", at_path(INT64), f"The number of elements of an array, 0 of another value{A_PATH}.",
                 """json_array_length('[1, 2, [3, 4]]')""", 3, can_fail=True),
    JsonFunction("json_keys", "text path?!", at_path(STRINGS), f"The keys of an object in their order, no keys of another value{A_PATH}.",
                 """json_keys('{"b": 1, "a": 2}')""", ["b", "a"], can_fail=True, expansion=keys_found),
    Function("json_valid", "text", fixed(STRING, returns=BOOL), "Whether a string is JSON.", """json_valid('{"a": 1')""", False),
    Function("json", "text", fixed(STRING, returns=STRING), "JSON without blanks.", """json('{"a": [1, 2]}')""", '{"a":[1,2]}', can_fail=True,
             expansion=lambda call: made("json_extract", (*call.args, WHOLE), STRING)),
    NestedJson("to_json", "x", written, "A value as JSON.  JSON that is made in the same expression stays; other strings are quoted.  NaN and infinities are an error.",
               "to_json(struct_pack(a := 1, b := ['x', NULL]))", '{"a":1,"b":["x",null]}', fails=can_be_nan, rewrite=value_json),
    NestedJson("json_object", "name! value more*", named, "`json_object('a', x, 'b', y)`: the JSON object of constant names, each with a value as `to_json` writes it.  Never null.", "json_object('a', 'x')",
               '{"a":"x"}', nulls="own", fails=can_be_nan, expansion=object_json),
    NestedJson("json_array", "x more*", written, "The JSON array of values as `to_json` writes them; never null.", "json_array(1, 'x', NULL)", '[1,"x",null]', nulls="own",
               fails=can_be_nan, expansion=array_json),
    NestedJson("from_json", "text structure!", structured, "JSON as values of declared types, such as 'STRUCT(a BIGINT, b VARCHAR[])'.  Null where a value is missing or does not convert, as by "
               "TRY_CAST of its text.", """from_json('{"a": 1, "b": ["x"]}', 'STRUCT(a BIGINT, b VARCHAR[])')""", {"a": 1, "b": ["x"]},
               nulls="own", can_fail=True, expansion=structured_value),
    NestedJson("try_from_json", "text structure!", structured, "As `from_json`, but null where the string is not JSON.", "try_from_json('{', 'STRUCT(a BIGINT)')", None,
               nulls="own", expansion=structured_value),
)  # fmt: skip

PARTS = Function(
    "json_parts",
    "text what!",
    fixed(STRING, STRING, returns=STRINGS),
    "The elements, values or keys of JSON that json_extract wrote.",
    "",
    None,
)
JOIN = Function("json_join", "form! value*", written, "Text with values as JSON.", "", None, nulls="own", fails=can_be_nan)  # fmt: skip
INTERNAL = {function.name: function for function in (PARTS, JOIN)}
