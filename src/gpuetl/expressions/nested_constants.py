"""Parts of lists, structs and maps that are constants: parameters.  No engine sees such a constant as a whole.

`$limits.least` and `$regions[1]` are single constants.  `region IN $regions` is `region IN ('EU', 'US')`, and
`$rates[currency]` a CASE over the keys of the map.  A struct as a whole is a `struct_pack` of its fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.syntax import STRUCT, Syntax
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, INT64, DataType, type_name
from gpuetl.types.nested_types import is_list, is_map, is_nested, is_struct


def is_nested_constant(expr: Expr) -> bool:
    """Return whether an expression is a list, struct or map whose value is known."""
    return isinstance(expr, Literal) and is_nested(expr.dtype)


def constant_of(value: Any, dtype: DataType) -> Literal:
    """Return a part of a parameter's value, of the type that the parameter declares for it."""
    return Literal(value, dtype, declared=True)


def of_constant(function: str, args: Sequence[Expr], syntax: Syntax) -> Expr | None:
    """Return a function of a nested constant without the constant; None for functions that need it as a whole."""
    constant, rest = args[0], args[1:]
    assert isinstance(constant, Literal)
    value, dtype = constant.value, constant.dtype
    if function == "list_length":
        return constant_of(None if value is None else len(value), INT64)
    if not rest:
        return None
    if function == "list_contains" and is_list(dtype) and not is_nested(dtype.value_type):
        return contained(rest[0], value, syntax)
    place = rest[0].value if isinstance(rest[0], Literal) else None
    if function in ("list_extract", "list_get") and is_list(dtype) and isinstance(place, int):
        return constant_of(element(value, place, 1 if function == "list_extract" else 0), dtype.value_type)
    if function == "struct_extract" and is_struct(dtype) and isinstance(place, str):
        return constant_of(None if value is None else value[str(place)], dtype.field(str(place)).type)
    if function == "map_get" and is_map(dtype) and not is_nested(dtype.item_type):
        return looked_up(rest[0], value or {}, dtype)
    return None


def element(values: Sequence[Any] | None, place: int, first: int) -> Any:
    """Return an element of a list counted from `first`, from the end where negative; None where there is none."""
    index = place - first if place >= first else len(values or ()) + place if place < 0 else -1
    return values[index] if values and 0 <= index < len(values) else None


def contained(searched: Expr, values: Sequence[Any] | None, syntax: Syntax) -> Expr:
    """Return whether a list has a value, which already has the type of the elements: `IN`.

    Raises
    ------
    InvalidExpression
        For a null in the list, which `IN` would never find.
    """
    if values is None:
        return constant_of(None, BOOL)
    if any(value is None for value in values):
        message = coded("GE1031", "the list has a null, which IN and list_contains never find")
        raise InvalidExpression(message, syntax.span, "Take it out of the parameter's value, and write x IS NULL.")
    if not values:  # null for a null, as of any other list
        found = Call(FUNCTIONS["scalar", "is_null"], (searched,), BOOL)
        return Call(FUNCTIONS["scalar", "case"], (found, constant_of(None, BOOL), constant_of(False, BOOL)), BOOL)
    return Call(FUNCTIONS["scalar", "in"], (searched, *(constant_of(one, searched.dtype) for one in values)), BOOL)


def looked_up(key: Expr, entries: Mapping[Any, Any], dtype: DataType) -> Expr:
    """Return the value of a key: a CASE over all keys, null for a key that the map does not have."""
    if isinstance(key, Literal):
        return constant_of(entries.get(key.value), dtype.item_type)
    args: list[Expr] = []
    for name, value in entries.items():
        equal = Call(FUNCTIONS["scalar", "equal"], (key, constant_of(name, dtype.key_type)), BOOL)
        args += [equal, constant_of(value, dtype.item_type)]
    if not args:
        return constant_of(None, dtype.item_type)
    return Call(FUNCTIONS["scalar", "case"], (*args, constant_of(None, dtype.item_type)), dtype.item_type)


def spelled_out(expr: Expr, syntax: Syntax) -> Expr:
    """Return a struct that is a constant as a `struct_pack`, a list as a `list_value`; other expressions as they are.

    Raises
    ------
    InvalidExpression
        For a map, which an engine does not take as a constant.
    """
    if not is_nested_constant(expr):
        return expr
    assert isinstance(expr, Literal)
    if is_list(expr.dtype) and expr.value is not None:
        elements = (constant_of(value, expr.dtype.value_type) for value in expr.value)
        return Call(
            FUNCTIONS["scalar", "list_value"], tuple(spelled_out(each, syntax) for each in elements), expr.dtype
        )
    if not is_struct(expr.dtype) or expr.value is None:
        join = "put it into a file of one row, and write join: {with: SOURCE, how: cross}"
        hint = f"A map takes [key]; a list, or a struct, stands as a whole.  To have all of it in each row, {join}."
        message = coded("GE1031", f"a constant of {type_name(expr.dtype)} cannot stand here as a whole")
        raise InvalidExpression(message, syntax.span, hint)
    fields = (constant_of(expr.value[field.name], field.type) for field in expr.dtype)
    return Call(FUNCTIONS["scalar", STRUCT], tuple(spelled_out(field, syntax) for field in fields), expr.dtype)
