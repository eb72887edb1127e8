"""Structs: a column of type `struct<a: T, b: U>` holds named fields.  `s.a` is a field, `s.a.b` one of a struct in it.

A null struct is not a struct of nulls, but its fields are null.  Structs are read, passed on, united, compared and written.
An unnest step gives each field a column.  `{'a': x}` is a struct, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from gpuetl.errors import have_hint
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, scalar_call
from gpuetl.expressions.functions.nested_comparison import same
from gpuetl.expressions.ir import Call, Cast, Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.common_types import common_nested
from gpuetl.types.data_types import BOOL, INT64, NULL, STRING, DataType, is_floating, type_name
from gpuetl.types.nested_types import (
    field_names,
    field_type,
    is_list,
    is_map,
    is_nested,
    is_struct,
    is_tuple,
    struct_of,
    tuple_of,
)

StructFunction = partial(Function, nested=True)


def field_of(args: Sequence[Expr]) -> Typing:
    """A struct, and the name of a field."""
    struct, name = args
    if struct.dtype == NULL:
        return [NULL, STRING], NULL
    if not is_struct(struct.dtype):
        message = coded("GE1118", f"takes a field of a struct, got {type_name(struct.dtype)}")
        raise TypeMismatch(message, instead_of_field(struct.dtype, name))
    if not isinstance(name, Literal):  # a parameter without a value
        raise TypeMismatch("takes the name of a field as a constant")
    if type(name.value) is int and is_tuple(struct.dtype) and 1 <= name.value <= struct.dtype.num_fields:
        return [struct.dtype, name.dtype], struct.dtype[name.value - 1].type
    found = field_type(struct.dtype, str(name.value))
    if found is None:
        message = coded("GE1118", f"finds no field '{name.value}' in {type_name(struct.dtype)}")
        raise TypeMismatch(message, have_hint(str(name.value), field_names(struct.dtype), noun="Fields"))
    return [struct.dtype, STRING], found


def instead_of_field(dtype: DataType, name: Expr) -> str:
    """Return what to write for a value of a map, and for a field in a list; nothing for other types."""
    field = name.value if isinstance(name, Literal) else "name"
    if is_map(dtype):
        return f"Write ['{field}'] after the column for the value of a key."
    if is_list(dtype):
        return f"Write [1].{field} after the column for the first element, or explode the list in a step before."
    return ""


def by_name(call: Call) -> Call:
    """Return `struct_extract` of a place, which values without names have, as that of a name."""
    struct, name = call.args
    if not isinstance(name, Literal) or type(name.value) is not int or struct.dtype == NULL:
        return call
    return replace(call, args=(struct, Literal(struct.dtype[name.value - 1].name, STRING)))


def placed(args: Sequence[Expr]) -> Typing:
    """A struct, and the place of a field."""
    dtype = struct_type(args[0])
    place = args[1].value if isinstance(args[1], Literal) else None
    if dtype == NULL:
        return [NULL, args[1].dtype], NULL
    if type(place) is not int or not 1 <= place <= dtype.num_fields:
        raise TypeMismatch(coded("GE1118", f"takes a place from 1 to {dtype.num_fields}, got {place}"))
    return [dtype, args[1].dtype], dtype[place - 1].type


def field_at(call: Call) -> Expr:
    """Return `struct_extract_at` as the field of a name."""
    struct, place = call.args
    if struct.dtype == NULL or not isinstance(place, Literal):
        return Literal(None, call.dtype)
    return part(struct, struct.dtype[int(place.value) - 1].name, call.dtype)


def struct_type(arg: Expr) -> DataType:
    """Return the type of a struct, or of a null."""
    if arg.dtype != NULL and not is_struct(arg.dtype):
        raise TypeMismatch(coded("GE1118", f"takes a struct, got {type_name(arg.dtype)}"))
    return arg.dtype


def searched(args: Sequence[Expr]) -> Typing:
    """A struct, and a value whose type meets that of a field."""
    dtype = struct_type(args[0])
    if dtype != NULL and not any(common_nested(field.type, args[1].dtype) for field in dtype):
        raise TypeMismatch(f"cannot look for {type_name(args[1].dtype)} in {type_name(dtype)}")
    return [arg.dtype for arg in args], BOOL


def found_place(args: Sequence[Expr]) -> Typing:
    """A struct, and a value whose type meets that of a field; the result is a place."""
    return searched(args)[0], INT64


def hits(struct: Expr, value: Expr) -> Iterator[tuple[int, Expr]]:
    """Yield the places of fields whose types meet the value's, and whether they are the value, or null as it is."""
    for place, field in enumerate(struct.dtype, 1):
        meeting = common_nested(field.type, value.dtype)
        if meeting is not None:
            yield place, same_values(part(struct, field.name, field.type), value, meeting)


def same_values(field: Expr, value: Expr, dtype: DataType) -> Expr:
    """Return whether two values are the same in a type: NaN is NaN, and null is null."""
    if isinstance(value, Literal) and value.value is None:
        return scalar_call("is_null", (field,), BOOL)
    x, y = (each if each.dtype == dtype else Cast(each, dtype, implicit=True) for each in (field, value))
    if is_nested(dtype):
        return same(x, y)
    equal = scalar_call("is_not_distinct", (x, y), BOOL)
    if not is_floating(dtype):
        return equal
    both_nan = scalar_call("and", tuple(scalar_call("is_nan", (each,), BOOL) for each in (x, y)), BOOL)
    return scalar_call("case", (both_nan, Literal(True, BOOL), equal), BOOL)


def place_of_value(call: Call) -> Expr:
    """Return `struct_position` as a choice by the fields."""
    struct, value = call.args
    if struct.dtype == NULL:
        return Literal(None, INT64)
    missing = scalar_call("is_null", (struct,), BOOL)
    branches = [part for place, hit in hits(struct, value) for part in (hit, Literal(place, INT64))]
    return scalar_call("case", (missing, Literal(None, INT64), *branches), INT64)


def has_field_of_value(call: Call) -> Expr:
    """Return `struct_contains` as a choice by the fields."""
    struct, value = call.args
    if NULL in (struct.dtype, value.dtype):
        return Literal(None, BOOL)
    branches = [part for _, hit in hits(struct, value) for part in (hit, Literal(True, BOOL))]
    missing = [part for each in call.args for part in (scalar_call("is_null", (each,), BOOL), Literal(None, BOOL))]
    return scalar_call("case", (*missing, *branches, Literal(False, BOOL)), BOOL)


def without_names(args: Sequence[Expr]) -> Typing:
    """A struct; the result has its values without names."""
    dtype = struct_type(args[0])
    return [dtype], NULL if dtype == NULL else tuple_of(field.type for field in dtype)


def values_of_fields(call: Call) -> Expr:
    """Return `struct_values`, null of a null, as a struct without names."""
    (struct,) = call.args
    if struct.dtype == NULL:
        return Literal(None, NULL)
    values = scalar_call("struct_pack", tuple(part(struct, f.name, f.type) for f in struct.dtype), call.dtype)
    null = scalar_call("is_null", (struct,), BOOL)
    return scalar_call("case", (null, Literal(None, call.dtype), values), call.dtype)


def packed(args: Sequence[Expr]) -> Typing:
    """Values of any types; typing gives the struct their names."""
    return [arg.dtype for arg in args], NULL


def unnamed(args: Sequence[Expr]) -> Typing:
    """Values of any types, which fields element1, element2 and so on hold."""
    return [arg.dtype for arg in args], tuple_of(arg.dtype for arg in args)


def packed_values(call: Call) -> Expr:
    """Return `row` as a `struct_pack`."""
    return scalar_call("struct_pack", call.args, call.dtype)


def with_fields(args: Sequence[Expr]) -> Typing:
    """A struct, and values of any types; typing gives the struct their names."""
    if not is_struct(args[0].dtype):
        raise TypeMismatch(coded("GE1118", f"takes a struct, got {type_name(args[0].dtype)}"))
    return packed(args)


def part(struct: Expr, name: str, dtype: DataType) -> Expr:
    """Return the field of a struct."""
    return scalar_call("struct_extract", (struct, Literal(name, STRING)), dtype)


def changed_fields(call: Call) -> Expr:
    """Return `struct_insert` or `struct_update` as a struct of all fields."""
    struct, *pairs = call.args
    given = {str(name.value): value for name, value in zip(pairs[0::2], pairs[1::2], strict=True)}  # type: ignore[union-attr]
    fields = (given.get(field.name) or part(struct, field.name, field.type) for field in call.dtype)
    return scalar_call("struct_pack", tuple(fields), call.dtype)


def joined(args: Sequence[Expr]) -> Typing:
    """Structs whose fields have different names."""
    fields: dict[str, DataType] = {}
    for arg in args:
        if not is_struct(arg.dtype):
            raise TypeMismatch(coded("GE1118", f"takes structs, got {type_name(arg.dtype)}"))
        if twice := next((name for name in field_names(arg.dtype) if name in fields), None):
            raise TypeMismatch(coded("GE1104", f"gets two fields named '{twice}'"), "Write struct_update(s, a := x).")
        fields |= {field.name: field.type for field in arg.dtype}
    return [arg.dtype for arg in args], struct_of(fields)


def joined_fields(call: Call) -> Expr:
    """Return `struct_concat` as a struct of all fields."""
    fields = [part(struct, field.name, field.type) for struct in call.args for field in struct.dtype]
    return scalar_call("struct_pack", tuple(fields), call.dtype)


def named(args: Sequence[Expr]) -> Typing:
    """A struct; its names are a list."""
    if not is_struct(args[0].dtype):
        raise TypeMismatch(coded("GE1118", f"takes a struct, got {type_name(args[0].dtype)}"))
    return [args[0].dtype], pa.list_(STRING)


def names_of_fields(call: Call) -> Expr:
    """Return `struct_keys`, null of a null, as the list of the names."""
    (struct,) = call.args
    names = scalar_call("list_value", tuple(Literal(name, STRING) for name in field_names(struct.dtype)), call.dtype)
    null = scalar_call("is_null", (struct,), BOOL)
    return scalar_call("case", (null, Literal(None, call.dtype), names), call.dtype)


FUNCTIONS = (
    StructFunction("struct_extract", "x field!", field_of, "`x.field`: a field of a struct; null where the struct is.",
                   "struct_pack(a := 1, b := 'x').b", "x", rewrite=by_name),
    StructFunction("struct_pack", "field*", packed, "A struct of named values: `struct_pack(a := x, b := y)`.  "
                   "`struct(a, y AS b)` is the same.  Never null.",
                   "struct_pack(a := 1, b := 'x')", {"a": 1, "b": "x"}, nulls="own"),
    StructFunction("row", "x y*", unnamed, "`(x, y)`, a struct of values without names: its fields are element1, element2 and so on, and `[1]` "
                   "is the first.  Never null.", "row(1, 'x')", {"element1": 1, "element2": "x"}, nulls="own", expansion=packed_values),
    StructFunction("struct_insert", "x field*", with_fields, "The struct with more fields: `struct_insert(s, b := y)`.  The fields of a null "
                   "struct are null.  Never null.", "struct_insert(struct_pack(a := 1), b := 'x')", {"a": 1, "b": "x"},
                   nulls="own", expansion=changed_fields),
    StructFunction("struct_update", "x field*", with_fields, "The struct with other values in fields, or with more fields: "
                   "`struct_update(s, a := y)`.  Never null.", "struct_update(struct_pack(a := 1, b := 'x'), a := 2)",
                   {"a": 2, "b": "x"}, nulls="own", expansion=changed_fields),
    StructFunction("struct_concat", "x y*", joined, "The fields of all structs, in one.  Never null.",
                   "struct_concat(struct_pack(a := 1), struct_pack(b := 'x'))", {"a": 1, "b": "x"}, nulls="own",
                   expansion=joined_fields),
    StructFunction("struct_keys", "x", named, "The names of the fields, as a list.", "struct_keys(struct_pack(a := 1, b := 'x'))",
                   ["a", "b"], expansion=names_of_fields),
    StructFunction("struct_values", "x", without_names, "The values of the fields without names: see `row`.",
                   "struct_values(struct_pack(a := 1, b := 'x'))", {"element1": 1, "element2": "x"}, expansion=values_of_fields),
    StructFunction("struct_extract_at", "x place!", placed, "The field at a place, from 1.", "struct_extract_at(struct_pack(a := 1, b := 'x'), 2)",
                   "x", expansion=field_at),
    StructFunction("struct_position", "x value", found_place, "The place, from 1, of the first field that is value, or null as it is; null where "
                   "there is none.  Fields of types that do not meet the value's are not compared.", "struct_position(row(7, 'a', 5), 5)", 3,
                   nulls="own", expansion=place_of_value),
    StructFunction("struct_contains", "x value", searched, "Whether a field is value.", "struct_contains(row(7, 'a', 5), 'a')", True,
                   expansion=has_field_of_value),
)  # fmt: skip
