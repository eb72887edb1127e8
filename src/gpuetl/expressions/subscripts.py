"""`x[k]` and `x[a:b]`: of a list, a map or a struct the function that gives the part; of text a `substring`."""

from __future__ import annotations

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.functions import ALIASES
from gpuetl.expressions.functions.strings import MOST_PLACES
from gpuetl.expressions.syntax import Apply, Constant, Syntax
from gpuetl.messages import coded
from gpuetl.types.data_types import STRING, DataType
from gpuetl.types.nested_types import is_map, is_struct, is_tuple

JSON_FUNCTIONS = ("json", "json_extract", "json_object", "json_array", "to_json")


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
