"""Structs: a column of type `struct<a: T, b: U>` holds named fields.  `s.a` is a field, `s.a.b` one of a struct in it.

A null struct is not a struct of nulls, but its fields are null.  Structs are read, passed on, united, compared and written.
An unnest step gives each field a column.  `{'a': x}` is a struct, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from gpuetl.errors import have_hint
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, scalar_call
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, NULL, STRING, DataType, type_name
from gpuetl.types.nested_types import field_names, field_type, is_list, is_map, is_struct, struct_of, tuple_of

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
                   "struct_pack(a := 1, b := 'x').b", "x"),
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
)  # fmt: skip
