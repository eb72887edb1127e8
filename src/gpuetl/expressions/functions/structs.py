"""Structs: a column of type `struct<a: T, b: U>` holds named fields.  `s.a` is a field, `s.a.b` one of a struct in it.

A null struct is not a struct of nulls, but its fields are null.  Structs are read, passed on, united and written, not
compared: take a field.  An unnest step gives each field a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gpuetl.errors import have_hint
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import NULL, STRING, DataType, type_name
from gpuetl.types.nested_types import field_names, field_type, is_list, is_map, is_struct

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


FUNCTIONS = (
    StructFunction("struct_extract", "x field!", field_of, "`x.field`: a field of a struct; null where the struct is.",
                   "struct_pack(a := 1, b := 'x').b", "x"),
    StructFunction("struct_pack", "field*", packed, "A struct of named values: `struct_pack(a := x, b := y)`.  "
                   "`struct(a, y AS b)` is the same.  Never null.",
                   "struct_pack(a := 1, b := 'x')", {"a": 1, "b": "x"}, nulls="own"),
)  # fmt: skip
