r"""JSON in strings.  `text -> '$.a'` is a part as JSON, `text ->> '$.a'` as text: `CAST(text ->> '$.a' AS int64)`.

JSON is as RFC 8259 has it, nested in at most 256 levels.  A string that is not JSON is an error, but for `json_valid` and
`try_from_json`.  A path is `$.a.b[0]`; `$."a.b"` for any key; `$[-1]` or `$[#-1]` for the last element; `/a/b/0`; a key alone; or
the number of an element.  It may be a column; a path in it that has another form is an error.  Of equal keys, the first counts.
JSON that is written has no blanks, and strings without needless escapes.  Numbers stay as they are written: DuckDB writes 1.50 as
1.5, and also reads trailing commas and NaN.

Constant paths can find several values, as a list: `$.a[*].b` and `$.a.*` of all elements or members, `$..b` at any depth, `$.**` all
values, level by level.  A list of constant paths gives the list of what each finds: `text ->> ['$.a', '$.b']`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from gpuetl.expressions.functions.function import ENTRIES, Function, Rule, TypeMismatch, Typing, fixed
from gpuetl.expressions.ir import Call, Expr, Lambda, Literal, Variable
from gpuetl.expressions.json_path import (
    Below,
    Each,
    InvalidPath,
    Step,
    finds_many,
    parse_path,
    path_of_key,
    path_text,
)
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, INT64, NULL, STRING, DataType, is_integer, type_name
from gpuetl.types.nested_types import is_list

STRINGS = pa.list_(STRING)
WHOLE = Literal("$", STRING)
KEYS = Literal("keys", STRING)
"""What `json_parts` takes instead of a path for the keys of an object."""


def steps_of(path: Expr) -> tuple[Step, ...]:
    """Return the steps of a path; none of one that is null, a column or not known yet."""
    if not isinstance(path, Literal) or path.value is None:
        return ()
    try:
        return parse_path(path_of_key(path.value))
    except InvalidPath as error:
        raise TypeMismatch(str(error), error.hint) from None


def constant_paths(paths: Expr) -> tuple[Literal, ...]:
    """Return the paths of a list of constants, each of one value."""
    if isinstance(paths, Literal):
        found: Sequence[Expr] = [Literal(path, STRING, declared=True) for path in paths.value or ()]
    else:
        found = paths.args if isinstance(paths, Call) and paths.function.name == "list_value" else ()
    constants = tuple(path for path in found if isinstance(path, Literal) and isinstance(path.value, str))
    if not constants or len(constants) < len(found):
        message = coded("GE1105", "takes a list of constant paths")
        raise TypeMismatch(message, "Write ['$.a', '$.b']; a single path may be a column.")
    for path in constants:
        if finds_many(steps_of(path)):
            what = coded("GE1860", f"takes paths of one value in a list, got '{path.value}'")
            raise TypeMismatch(what, "Give a path with * alone, not in a list.")
    return constants


def at_path(returns: DataType) -> Rule:
    """Text, and the path of a value in it; with `*`, or of a list of paths, a list of what is found."""

    def rule(args: Sequence[Expr]) -> Typing:
        fixed(STRING, returns=STRING)(args[:1])
        path = args[1] if len(args) > 1 else WHOLE
        if is_list(path.dtype) and path.dtype.value_type == STRING:
            constant_paths(path)
            return [STRING, STRINGS], pa.list_(returns)
        if path.dtype not in (STRING, NULL) and not is_integer(path.dtype):
            raise TypeMismatch(f"takes a path such as '$.a', got {type_name(path.dtype)}")
        dtype = INT64 if is_integer(path.dtype) else STRING
        return [STRING, dtype][: len(args)], pa.list_(returns) if finds_many(steps_of(path)) else returns

    return rule


def with_written_path(call: Call) -> Expr:
    """Return the call with a constant path as text; one that finds several values as what it is made of."""
    path = call.args[1] if len(call.args) > 1 else WHOLE
    if path.dtype == STRINGS:
        return each_at(call, constant_paths(path))
    if not isinstance(path, Literal):
        return call
    if path.value is None:
        return Literal(None, call.dtype)
    if len(call.args) > 1:
        call = replace(call, args=(call.args[0], Literal(path_of_key(path.value), STRING, path.declared)))
    steps = steps_of(path)
    return each_found(call, steps) if finds_many(steps) else call


def made(name: str, args: Sequence[Expr], dtype: DataType) -> Call:
    """Return a call of a scalar function."""
    return Call(ENTRIES["scalar", name], tuple(args), dtype)


def case(condition: Expr, value: Expr) -> Call:
    """Return a value where a condition is true, else null."""
    return made("case", (condition, value), value.dtype)


def present(value: Expr) -> Call:
    """Return whether a value is not null."""
    return made("not", (made("is_null", (value,), BOOL),), BOOL)


def each_at(call: Call, paths: Sequence[Literal]) -> Expr:
    """Return the list of what a function gives at each of several paths; null where the text is."""
    text, dtype = call.args[0], call.dtype.value_type
    values = tuple(replace(call, args=(text, path), dtype=dtype) for path in paths)
    return case(present(text), made("list_value", values, call.dtype))


def each_found(call: Call, steps: Sequence[Step]) -> Expr:
    """Return the list of what a function gives of each value that a path finds."""
    place = next(i for i, step in enumerate(steps) if isinstance(step, Each | Below))
    text = call.args[0]
    whole = made("json_extract", (text, Literal(path_text(tuple(steps[:place])), STRING)), STRING)
    found = case(present(text), made("coalesce", (whole, Literal("null", STRING)), STRING))
    parts = made("json_parts", (found, Literal(path_text(tuple(steps[place:])), STRING)), STRINGS)
    if call.function.name == "json_extract":
        return parts
    part = Variable("json:part", STRING)
    value = replace(call, args=(part, WHOLE), dtype=call.dtype.value_type)
    return made("list_transform", (parts, Lambda((part,), value)), call.dtype)


def keys_found(call: Call) -> Expr:
    """Return the keys of an object: its parts, without quotes and escapes."""
    text = made("json_extract", (*call.args, WHOLE)[:2], STRING)
    key = Variable("json:key", STRING)
    keys = made("json_parts", (text, KEYS), STRINGS)
    return made("list_transform", (keys, Lambda((key,), made("json_extract_string", (key, WHOLE), STRING))), STRINGS)


JsonFunction: Any = partial(Function, rewrite=with_written_path, nested=True)
A_PATH = "; null where there is none"

FUNCTIONS = (
    JsonFunction("json_extract", "text path~", at_path(STRING), f"`text -> path`: the value at a path, as JSON{A_PATH}.",
                 """json_extract('{"a": [1, {"b": "x"}]}', '$.a[1]')""", '{"b":"x"}', can_fail=True),
    JsonFunction("json_extract_string", "text path~", at_path(STRING), "`text ->> path`: a string at a path without its quotes, any other value as "
                 "JSON; null for `null`, and where there is none.",
                 """json_extract_string('{"a": {"b": "x"}}', '$.a.b')""", "x", can_fail=True),
    JsonFunction("json_value", "text path~", at_path(STRING), "A string, number or boolean at a path as JSON, a string with its quotes; null for others.",
                 """json_value('{"a": 1.5}', '$.a')""", "1.5", can_fail=True),
    JsonFunction("json_exists", "text path~", at_path(BOOL), "Whether there is a value at a path, perhaps `null`.",
                 """json_exists('{"a": null}', '$.a')""", True, can_fail=True),
    JsonFunction("json_type", "text path?~", at_path(STRING), f"The type of the value: OBJECT, ARRAY, VARCHAR, BOOLEAN, NULL, UBIGINT, BIGINT for negative integers, or DOUBLE{A_PATH}.",
                 """json_type('{"a": [1]}', '$.a')""", "ARRAY", can_fail=True),
    JsonFunction("json_array_length", "text path?~", at_path(INT64), f"The number of elements of an array, 0 of another value{A_PATH}.",
                 """json_array_length('[1, 2, [3, 4]]')""", 3, can_fail=True),
    JsonFunction("json_keys", "text path?~", at_path(STRINGS), f"The keys of an object in their order, no keys of another value{A_PATH}.",
                 """json_keys('{"b": 1, "a": 2}')""", ["b", "a"], can_fail=True, expansion=keys_found),
    Function("json_valid", "text", fixed(STRING, returns=BOOL), "Whether a string is JSON.", """json_valid('{"a": 1')""", False),
    Function("json", "text", fixed(STRING, returns=STRING), "JSON without blanks.", """json('{"a": [1, 2]}')""", '{"a":[1,2]}', can_fail=True,
             expansion=lambda call: made("json_extract", (*call.args, WHOLE), STRING)),
)  # fmt: skip

PARTS = Function(
    "json_parts",
    "text path!",
    fixed(STRING, STRING, returns=STRINGS),
    "What a path with * finds in JSON that json_extract wrote, or the keys of an object.",
    "",
    None,
)
INTERNAL = {PARTS.name: PARTS}
