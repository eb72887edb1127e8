"""Structs made of named values, and of other structs: their fields are keywords of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuetl.errors import InvalidExpression, suggestion
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.nested_constants import spelled_out
from gpuetl.expressions.syntax import STRUCT, Apply, Constant, Name
from gpuetl.messages import coded
from gpuetl.types.data_types import STRING, DataType, type_name
from gpuetl.types.nested_types import field_names, is_struct, struct_of


def packed(syntax: Apply, values: Sequence[Expr]) -> Call:
    """Return the call of `struct_pack(a := x)` with typed values.

    Raises
    ------
    InvalidExpression
        For a field without a name, or two of one name.
    """
    names = [name for name, _ in syntax.keywords]
    if syntax.args or not names:
        message = coded("GE1104", "struct_pack takes a name for each value")
        raise InvalidExpression(message, syntax.span, "Write struct_pack(a := x, b := y), or struct(x AS a, y AS b).")
    refuse_twice(STRUCT, names, syntax)
    args = [spelled_out(value, syntax) for value in values]
    dtype = struct_of({name: arg.dtype for name, arg in zip(names, args, strict=True)})
    return Call(FUNCTIONS["scalar", STRUCT], tuple(args), dtype)


def changed(syntax: Apply, struct: Expr, values: Sequence[Expr]) -> Call:
    """Return the call of `struct_insert` or `struct_update`: of a struct, and of names with typed values.

    Raises
    ------
    InvalidExpression
        For what is no struct, no field, or a name that two fields would have.
    """
    function, names = syntax.function, [name for name, _ in syntax.keywords]
    if not is_struct(struct.dtype):
        message = coded("GE1118", f"{function} takes a struct, got {type_name(struct.dtype)}")
        raise InvalidExpression(message, syntax.span)
    if not names or len(syntax.args) != 1:
        message = coded("GE1104", f"{function} takes a struct, and a name for each value")
        raise InvalidExpression(message, syntax.span, f"Write {function}(s, a := x).")
    own = field_names(struct.dtype) if function == "struct_insert" else []
    refuse_twice(function, [*own, *names], syntax)
    args = [spelled_out(value, syntax) for value in (struct, *values)]
    fields: dict[str, DataType] = {field.name: field.type for field in struct.dtype}
    fields |= {name: arg.dtype for name, arg in zip(names, args[1:], strict=True)}
    pairs = (part for name, arg in zip(names, args[1:], strict=True) for part in (Literal(name, STRING), arg))
    return Call(FUNCTIONS["scalar", function], (args[0], *pairs), struct_of(fields))


def refuse_twice(function: str, names: Sequence[str], syntax: Apply) -> None:
    """Refuse a name that two fields would have.

    Raises
    ------
    InvalidExpression
        For the first of such names.
    """
    if twice := next((name for name in names if names.count(name) > 1), None):
        message = coded("GE1104", f"{function} has two fields named '{twice}'")
        hint = "Rename one, or write struct_update." if function == "struct_insert" else "Rename one."
        raise InvalidExpression(message, syntax.span, hint)


def prefixed_column(syntax: Apply, columns: Mapping[str, DataType], hints: bool) -> InvalidExpression | None:
    """Return the error of `t.a` where there is no column t: columns have no prefix."""
    table, field = (*syntax.args, None, None)[:2]
    if not isinstance(table, Name) or not isinstance(field, Constant) or table.name in columns:
        return None
    structs = [name for name, dtype in columns.items() if is_struct(dtype)]
    if field.value not in columns or (hints and suggestion(table.name, structs)):
        return None  # the struct is misspelt
    message = coded("GE1102", f"'{table.name}.{field.value}': columns have plain names")
    return InvalidExpression(message, syntax.span, f"Write {field.value}: after a join, columns have no prefix.")
