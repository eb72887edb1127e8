"""Lists, structs and maps as texts whose bytes compare as the values do.  Not for users.

The order is DuckDB's: element by element, or field by field; where one list begins another, the shorter is less.  Nulls inside
are equal, and the greatest.  A map is compared as the list of its entries.

In a text each part says where it ends, so texts stand one after the other: numbers have a fixed width of digits in base 64,
and strings end with a zero byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, TypeGuard

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, Typing, scalar_call
from gpuetl.expressions.functions.marked_text import TEXT, VALUE
from gpuetl.expressions.ir import Call, Expr, Lambda, Literal, Variable
from gpuetl.types.data_types import BOOL, INT64, NULL, STRING, DataType, is_binary, is_floating
from gpuetl.types.nested_types import is_list, is_map, is_nested, is_struct, type_parts

THERE, MISSING, END = "0", "~", "!"
"""Before a value, for a null, and after the last element of a list: `!` is less than what a value begins with, `~` is greater."""
Part: TypeAlias = str | tuple[str, Expr]


def order_text(x: Expr) -> Call:
    """Return the text of a value; null where it is null."""
    return scalar_call("order_text", (x,), STRING)


def is_order_text(x: Expr) -> TypeGuard[Call]:
    """Return whether an expression is the text of a value."""
    return isinstance(x, Call) and x.function.name == "order_text"


def is_present(x: Expr) -> Call:
    """Return whether a value is not null."""
    return scalar_call("not", (scalar_call("is_null", (x,), BOOL),), BOOL)


def is_null(x: Expr) -> Expr:
    """Return whether a value is null."""
    return scalar_call("is_null", (x,), BOOL)


def field_of(x: Expr, name: str, dtype: DataType) -> Call:
    """Return a field of a struct."""
    return scalar_call("struct_extract", (x, Literal(name, STRING)), dtype)


def expanded(call: Call) -> Expr:
    """Return `order_text` by functions that engines have."""
    (x,) = call.args
    return text_of(x, 0) if is_nested(x.dtype) else scalar_call("case", (is_present(x), joined([flat(x)])), STRING)


def text_of(x: Expr, depth: int) -> Expr:
    """Return the text of a nested value, null where it is null; `depth` tells the variables of lambdas apart."""
    return scalar_call("case", (is_present(x), joined([THERE, *parts_of(x, depth)])), STRING)


def parts_of(x: Expr, depth: int) -> Iterator[Part]:
    """Yield the parts of a nested value that is not null."""
    dtype = x.dtype
    if is_struct(dtype):
        for field in dtype:
            yield part_of(field_of(x, field.name, field.type), depth)
        return
    first = Variable(f"order:{depth}", dtype.value_type if is_list(dtype) else dtype.key_type)
    if is_list(dtype):
        texts = Lambda((first,), joined([part_of(first, depth + 1)]))
        yield elements(x, texts)
    else:
        place = Variable(f"order:place{depth}", INT64)
        values = scalar_call("map_values", (x,), pa.list_(dtype.item_type))
        item = scalar_call("list_extract", (values, place), dtype.item_type)
        texts = Lambda((first, place), joined([THERE, part_of(first, depth + 1), part_of(item, depth + 1)]))
        yield elements(scalar_call("map_keys", (x,), pa.list_(dtype.key_type)), texts)
    yield END


def elements(lists: Expr, texts: Lambda) -> Part:
    """Return the texts of the elements of a list, one after the other."""
    each = scalar_call("list_transform", (lists, texts), pa.list_(STRING))
    return TEXT, scalar_call("array_to_string", (each, Literal("", STRING)), STRING)


def part_of(x: Expr, depth: int) -> Part:
    """Return a value, null or not, as a part."""
    if not is_nested(x.dtype):
        return flat(x)
    return TEXT, scalar_call("coalesce", (text_of(x, depth), Literal(MISSING, STRING)), STRING)


def flat(x: Expr) -> Part:
    """Return a flat value as a part; bytes as text."""
    if x.dtype == NULL:
        return MISSING
    return VALUE, scalar_call("hex", (x,), STRING) if is_binary(x.dtype) else x


def joined(parts: Sequence[Part]) -> Call:
    """Return the text of parts."""
    form = "".join(part if isinstance(part, str) else part[0] for part in parts)
    values = (part[1] for part in parts if not isinstance(part, str))
    return scalar_call("order_join", (Literal(form, STRING), *values), STRING)


def texts(args: Sequence[Expr]) -> Typing:
    """Any types, kept."""
    return [arg.dtype for arg in args], STRING


# Values of keys, as they are shown.


def canonical(x: Expr, depth: int = 0) -> Expr:
    """Return a value with 0.0 for -0.0, as float keys leave; itself where it has no floats."""
    dtype = x.dtype
    if not any(map(is_floating, type_parts(dtype))):
        return x
    if is_floating(dtype):
        return scalar_call("add", (x, Literal(0.0, dtype)), dtype)
    if is_list(dtype):
        element = Variable(f"key:{depth}", dtype.value_type)
        return scalar_call("list_transform", (x, Lambda((element,), canonical(element, depth + 1))), dtype)
    if is_map(dtype):
        parts = (("map_keys", dtype.key_type), ("map_values", dtype.item_type))
        lists = (canonical(scalar_call(name, (x,), pa.list_(part)), depth) for name, part in parts)
        return scalar_call("map", tuple(lists), dtype)
    fields = tuple(canonical(field_of(x, each.name, each.type), depth) for each in dtype)
    return struct_of(is_null(x), fields, dtype)


def struct_of(missing: Expr, fields: tuple[Expr, ...], dtype: DataType) -> Expr:
    """Return a struct of fields, null where it is missing."""
    return scalar_call("case", (missing, Literal(None, dtype), scalar_call("struct_pack", fields, dtype)), dtype)


INTERNAL = {
    function.name: function
    for function in (
        Function(
            "order_text",
            "x",
            texts,
            "The text by which a value is compared.",
            "",
            None,
            nested=True,
            expansion=expanded,
        ),
        Function(
            "order_join", "form! value*", texts, "A text of values by which they are compared.", "", None, nulls="own"
        ),
    )
}
