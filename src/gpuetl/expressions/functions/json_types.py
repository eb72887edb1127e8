"""JSON as values of declared types: `from_json(text, 'STRUCT(a BIGINT, b VARCHAR[])')`.

A value that is missing, or does not convert, is null, as by TRY_CAST of its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.functions.json import STRINGS, case, made, present
from gpuetl.expressions.functions.json_writing import is_flat
from gpuetl.expressions.ir import Call, Cast, Expr, Lambda, Literal, Variable
from gpuetl.expressions.json_path import Member, path_text
from gpuetl.expressions.json_structure import parse_structure
from gpuetl.messages import code_of, coded, recoded
from gpuetl.types.data_types import BOOL, NULL, STRING, DataType, is_integer, type_name
from gpuetl.types.nested_types import children_of, is_list, is_map, is_nested, is_struct


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
            (case(array, made("json_extract", (text, path), STRING)), Literal("$[*]", STRING)),
            STRINGS,
        )
        part = Variable(f"json:{depth}", STRING)
        return made("list_transform", (parts, Lambda((part,), value_at(part, (), dtype.value_type, depth + 1))), dtype)
    if is_integer(dtype):  # 1.0 and 1e3 are whole numbers
        return Cast(Cast(found, pa.decimal128(20, 0), lenient=True), dtype, lenient=True)
    return Cast(found, dtype, lenient=True)


NestedJson: Any = partial(Function, nested=True)

FUNCTIONS = (
    NestedJson("from_json", "text structure!", structured, "JSON as values of declared types, such as 'STRUCT(a BIGINT, b VARCHAR[])'.  Null where a value is missing or does not convert, as by "
               "TRY_CAST of its text.", """from_json('{"a": 1, "b": ["x"]}', 'STRUCT(a BIGINT, b VARCHAR[])')""", {"a": 1, "b": ["x"]},
               nulls="own", can_fail=True, expansion=structured_value),
    NestedJson("try_from_json", "text structure!", structured, "As `from_json`, but null where the string is not JSON.", "try_from_json('{', 'STRUCT(a BIGINT)')", None,
               nulls="own", expansion=structured_value),
)  # fmt: skip
