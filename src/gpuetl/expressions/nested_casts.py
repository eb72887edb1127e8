"""Casts between nested types: elements, fields, keys and values are cast one by one, by functions that there are."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.expressions.functions.function import scalar_call
from gpuetl.expressions.ir import Call, Cast, Expr, Lambda, Literal, Variable
from gpuetl.types.data_types import BOOL, NULL, STRING, DataType, can_cast, type_name
from gpuetl.types.nested_types import (
    children_of,
    field_names,
    field_type,
    is_list,
    is_map,
    is_nested,
    is_struct,
    is_tuple,
    struct_of,
)


def castable(source: DataType, target: DataType, lenient: bool = False) -> bool:
    """Return whether values of one type are cast to another, at any depth; fields of structs meet by their names.

    A struct needs one field of the target, and others of it are null.  TRY_CAST does not change keys of maps: one that
    is none would be null.  Names that differ in case alone do not meet, and are refused: such a field would be null.
    Strings are read as DuckDB's text of a nested type, but for maps by TRY_CAST.
    """
    if source == STRING and is_nested(target):
        return not (lenient and is_map(target)) and all(castable(STRING, part, lenient) for part in children_of(target))
    if is_list(source) and is_list(target):
        return castable(source.value_type, target.value_type, lenient)
    if is_map(source) and is_map(target):
        same_keys = source.key_type == target.key_type
        keys = same_keys or (not lenient and castable(source.key_type, target.key_type))
        return keys and castable(source.item_type, target.item_type, lenient)
    if is_struct(source) and is_struct(target):
        source = by_place(source, target)
        pairs = [(field_type(source, field.name), field.type) for field in target]
        known = [(own, wanted) for own, wanted in pairs if own is not None]
        names = field_names(source)
        others = {name.lower() for name in names}
        if any(field.name not in names and field.name.lower() in others for field in target):
            return False
        return bool(known) and all(castable(own, wanted, lenient) for own, wanted in known)
    return can_cast(source, target)


def by_place(source: DataType, target: DataType) -> DataType:
    """Return a struct of values without names with the target's names, where it has as many other ones."""
    same_size = is_tuple(source) and source.num_fields == target.num_fields
    if not same_size or set(field_names(source)) & set(field_names(target)):
        return source
    return struct_of({name: field.type for name, field in zip(field_names(target), source, strict=True)})


def nested_cast(x: Expr, target: DataType, lenient: bool, implicit: bool, depth: int = 0) -> Expr:
    """Return x, of another type that is `castable`, as a type; `depth` tells apart the variables of lambdas."""
    if x.dtype == target:
        return x
    if x.dtype == NULL:
        return Literal(None, target)
    if x.dtype == STRING and is_nested(target):
        return read_text(x, target, lenient, depth)
    if is_list(target):
        return cast_list(x, target, lenient, implicit, depth)
    if is_map(target):
        parts = (("map_keys", x.dtype.key_type, target.key_type), ("map_values", x.dtype.item_type, target.item_type))
        lists = (
            nested_cast(scalar_call(name, (x,), pa.list_(own)), pa.list_(wanted), lenient, implicit, depth)
            for name, own, wanted in parts
        )
        return scalar_call("map", tuple(lists), target)
    return cast_struct(x, target, lenient, implicit, depth) if is_struct(target) else Cast(x, target, lenient, implicit)


def without_nested_cast(expr: Expr) -> Expr:
    """Return a cast to a nested type as what it is: of that type already, null, or casts of all parts."""
    if isinstance(expr, Cast) and is_nested(expr.dtype):
        return nested_cast(expr.operand, expr.dtype, expr.lenient, expr.implicit)
    return expr


def cast_list(x: Expr, target: DataType, lenient: bool, implicit: bool, depth: int) -> Call:
    """Return lists whose elements are cast."""
    element = Variable(f"element{depth or ''}", x.dtype.value_type)
    body = nested_cast(element, target.value_type, lenient, implicit, depth + 1)
    return scalar_call("list_transform", (x, Lambda((element,), body)), target)


def read_text(x: Expr, target: DataType, lenient: bool, depth: int) -> Expr:
    """Return the text of a list, a struct or a map as one: checked, taken apart, and its parts cast."""
    check = "try_checked_text" if lenient else "checked_text"
    checked = scalar_call(check, (x, Literal(type_name(target), STRING)), STRING)

    def parts(what: str, dtype: DataType) -> Expr:
        element = Variable(f"element{depth or ''}", STRING)
        body = nested_cast(scalar_call("plain_text", (element,), STRING), dtype, lenient, False, depth + 1)
        found = scalar_call("text_parts", (checked, Literal(what, STRING)), pa.list_(STRING))
        return scalar_call("list_transform", (found, Lambda((element,), body)), pa.list_(dtype))

    if is_list(target):
        return parts("elements", target.value_type)
    if is_map(target):
        return scalar_call("map", (parts("keys", target.key_type), parts("values", target.item_type)), target)
    fields: list[Expr] = []
    for field in target:
        part = scalar_call("text_field", (checked, Literal(field.name, STRING)), STRING)
        fields.append(nested_cast(scalar_call("plain_text", (part,), STRING), field.type, lenient, False, depth))
    packed = scalar_call("struct_pack", tuple(fields), target)
    return scalar_call("case", (scalar_call("is_null", (checked,), BOOL), Literal(None, target), packed), target)


def cast_struct(x: Expr, target: DataType, lenient: bool, implicit: bool, depth: int) -> Call:
    """Return structs whose fields are cast, null where they are."""
    fields: list[Expr] = []
    named = by_place(x.dtype, target)
    own_names = dict(zip(field_names(named), field_names(x.dtype), strict=True))
    for field in target:
        own = field_type(named, field.name)
        name = Literal(own_names.get(field.name), STRING)
        part = None if own is None else scalar_call("struct_extract", (x, name), own)
        fields.append(
            Literal(None, field.type) if part is None else nested_cast(part, field.type, lenient, implicit, depth)
        )
    condition = scalar_call("is_null", (x,), BOOL)
    packed = scalar_call("struct_pack", tuple(fields), target)
    return scalar_call("case", (condition, Literal(None, target), packed), target)
