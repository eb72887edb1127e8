"""`x[k]` and `x[a:b]`: of a list, a map or a struct the function that gives the part; of text a `substring`."""

from __future__ import annotations

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.functions import ALIASES
from gpuetl.expressions.functions.json_writing import JSON_MADE
from gpuetl.expressions.functions.strings import MOST_PLACES
from gpuetl.expressions.json_path import InvalidPath, Member, finds_many, parse_path, path_of_key, path_text
from gpuetl.expressions.syntax import AS_JSON, SUBSCRIPT, TRY_AS_JSON, Apply, Constant, Syntax
from gpuetl.messages import coded
from gpuetl.types.data_types import STRING, DataType
from gpuetl.types.nested_types import is_map, is_struct, is_tuple

JSON_FUNCTIONS = frozenset([*JSON_MADE, "json_array", AS_JSON, TRY_AS_JSON])
"""Functions of the language that give JSON; DuckDB has a type of its own for it."""
PARTS = ("struct_extract", SUBSCRIPT)
"""`x.a` and `x['a']`."""


def part_of_json(syntax: Apply) -> Apply | None:
    """Return what `json(x).a`, `json(x)['a']` and `json(x)[0]` stand for; None where x is not JSON that a call gives.

    Raises
    ------
    InvalidExpression
        For a key of digits, which DuckDB takes for a place in an array, too.
    """
    if len(syntax.args) != 2 or syntax.keywords or not gives_json(syntax.args[0]):
        return None
    text, key = syntax.args
    inner = part_of_json(text) if isinstance(text, Apply) and text.function in PARTS else None
    path = key.value if isinstance(key, Constant) else None
    place = whole_number(key.args[0]) if isinstance(key, Apply) and key.function == "negate" else whole_number(key)
    if place is not None and syntax.function == SUBSCRIPT:
        return Apply("json_extract", (inner or text, key), span=syntax.span)
    if not isinstance(path, str):
        return None
    if path.isdigit() and syntax.function == SUBSCRIPT:
        message = coded("GE1103", f"['{path}'] of JSON is a key or a place")
        raise InvalidExpression(message, syntax.span, f"Write x[{path}] for an element, x -> '$.\"{path}\"' for a key.")
    return Apply("json_extract", (inner or text, Constant(path_text((Member(path),)))), span=syntax.span)


def gives_json(syntax: Syntax) -> bool:
    """Return whether an expression is a call that gives JSON, or a part of one."""
    if not isinstance(syntax, Apply):
        return False
    if syntax.function in PARTS:
        return gives_json(syntax.args[0])
    name = ALIASES.get(syntax.function, syntax.function)
    if name != "json_extract":
        return name in JSON_FUNCTIONS
    path = syntax.args[1] if len(syntax.args) > 1 else None
    try:
        return isinstance(path, Constant) and not finds_many(parse_path(path_of_key(path.value)))
    except (InvalidPath, AttributeError, TypeError):
        return False


def part_of(x: Syntax, key: Syntax, dtype: DataType, syntax: Apply) -> Apply:
    """Return what `x[key]` stands for, where x has a type."""
    if dtype == STRING:
        refuse_json(x, syntax)
        return text_slice(x, key, key, syntax)
    if is_tuple(dtype) and (place := whole_number(key)) is not None:
        key = Constant(place_name(place, dtype), span=key.span)
    names = ((is_map, "map_get"), (is_struct, "struct_extract"))
    return Apply(next((name for holds, name in names if holds(dtype)), "list_extract"), (x, key), span=syntax.span)


def place_name(place: int, dtype: DataType) -> str:
    """Return the name of the field of values without names at a place from 1; for no place of it, the place."""
    return dtype[place - 1].name if 1 <= place <= dtype.num_fields else str(place)


def refuse_json(x: Syntax, syntax: Apply) -> None:
    """Refuse an element of JSON, which is text here: DuckDB has a type of its own for it.

    Raises
    ------
    InvalidExpression
        For a call of a function that gives JSON.
    """
    if isinstance(x, Apply) and ALIASES.get(x.function, x.function) in JSON_FUNCTIONS:
        message = coded("GE1103", f"{x.function} gives JSON in a string, and [ ] takes characters of a string")
        raise InvalidExpression(message, syntax.span, "Write x -> '$[2]' or x ->> '$.key' for a part of JSON.")


def text_slice(text: Syntax, first: Syntax, last: Syntax, syntax: Apply) -> Apply:
    """Return what `text[first:last]` stands for: the code points from one place to another."""
    start, end = whole_number(first), whole_number(last)
    if start is None or end is None or start < 1 or end < -1 or max(start, end) > MOST_PLACES:
        return Apply("text_slice", (text, first, last), span=syntax.span)
    length = () if end == -1 else (Constant(max(0, end - start + 1)),)
    return Apply("substring", (text, first, *length), span=syntax.span)


def whole_number(node: Syntax) -> int | None:
    """Return the value of a whole number in the text."""
    value = node.value if isinstance(node, Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
