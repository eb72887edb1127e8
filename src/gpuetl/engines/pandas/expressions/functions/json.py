"""JSON in strings, row by row: read by Python's own reader, narrowed to RFC 8259, and written anew."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat as forever
from typing import Any, NoReturn, TypeAlias

import pyarrow as pa

from gpuetl.engines.no_result import NOT_A_JSON_NUMBER, NOT_A_PATH, NOT_JSON
from gpuetl.engines.pandas.expressions.decimals import to_text
from gpuetl.engines.pandas.expressions.functions.text_rows import by_row
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions.json import KEYS
from gpuetl.expressions.functions.marked_text import VALUE, pieces_of
from gpuetl.expressions.json_path import (
    Below,
    Each,
    Element,
    InvalidPath,
    Member,
    MemberOrElement,
    MemberOrEnd,
    Step,
    finds_many,
    parse_path,
    path_of_key,
)
from gpuetl.types.data_types import BOOL, INT64, STRING
from gpuetl.types.decimal_types import is_decimal

MOST_LEVELS = 256


class Number(str):
    """A number, as it is written."""


class Members(list[tuple[str, Any]]):
    """The members of an object, in their order."""


class NoJson(ValueError):
    """A text that is not JSON."""


Value: TypeAlias = Any
"""A string, a `Number`, a boolean, None, a list of values or `Members`."""


class Missing:
    """Stands for a value that is not there."""


MISSING = Missing()


def refuse(constant: str) -> NoReturn:
    """Refuse NaN and infinities, which Python reads."""
    raise NoJson(constant)


_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_float=Number, parse_int=Number, parse_constant=refuse)
_HALF_PAIR = re.compile(r"[\ud800-\udfff]")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")


@lru_cache(maxsize=256)
def document(text: str) -> Value:
    """Return the value of a text.

    Raises
    ------
    NoJson
        Where it is not JSON, or nests too deeply.
    """
    if levels_of(text) > MOST_LEVELS:
        raise NoJson(text)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise NoJson(text) from None
    if _ESCAPED_HALF.search(text) and any(map(_HALF_PAIR.search, strings_in(value))):
        raise NoJson(text)
    return value


def levels_of(text: str) -> int:
    """Return how many brackets are open at most; only texts with many brackets are looked at."""
    if text.count("[") + text.count("{") <= MOST_LEVELS:
        return 0
    most = level = 0
    for found in _BRACKETS.finditer(text):
        level += (found[0] in "[{") - (found[0] in "]}")
        most = max(most, level)
    return most


def strings_in(value: Value) -> Iterator[str]:
    """Yield all strings of a value, keys too."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Members):
            for key, inner in part:
                yield key
                waiting.append(inner)
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, str):
            yield part


def read(text: str) -> Value:
    """Return the value of a text, for functions that fail where it is not JSON."""
    try:
        return document(text)
    except NoJson:
        raise EvaluationError(NOT_JSON) from None


def checked(text: str) -> str:
    """Return a text that has to be JSON."""
    read(text)
    return text


def is_valid(text: str) -> bool:
    """Return whether a text is JSON."""
    try:
        document(text)
    except NoJson:
        return False
    return True


# Values at paths.


def find(value: Value, steps: Sequence[Step]) -> Value:
    """Return the value at a path, `MISSING` where there is none."""
    for step in steps:
        value = follow(value, step)
        if value is MISSING:
            return MISSING
    return value


def follow(value: Value, step: Step) -> Value:
    """Return the value to which a step leads."""
    if isinstance(value, Members):
        key = "-" if isinstance(step, MemberOrEnd) else step.key if isinstance(step, Member | MemberOrElement) else None
        return next((inner for name, inner in value if name == key), MISSING)
    if not isinstance(value, list):
        return MISSING
    place = step.place if isinstance(step, Element) else int(step.key) if isinstance(step, MemberOrElement) else None
    return value[place] if place is not None and -len(value) <= place < len(value) else MISSING


def find_all(value: Value, steps: Sequence[Step]) -> Iterator[Value]:
    """Yield all values at a path, in their order."""
    if not steps:
        yield value
        return
    for inner in (
        led_to(value, steps[0], bool(steps[1:])) if isinstance(steps[0], Each | Below) else [follow(value, steps[0])]
    ):
        if inner is not MISSING:
            yield from find_all(inner, steps[1:])


def led_to(value: Value, step: Each | Below, itself: bool) -> list[Value]:
    """Return the values to which a step of several leads."""
    if isinstance(step, Each):
        return values_in(value) if isinstance(value, Members) == step.members else []
    found, level = [value] if itself else [], values_in(value)
    while level:
        found += level
        level = [part for inner in level for part in values_in(inner)]
    return found


def values_in(value: Value) -> list[Value]:
    """Return the elements of an array, or the values of an object's members."""
    if isinstance(value, Members):
        return [inner for _, inner in value]
    return value if isinstance(value, list) else []


def steps_in_row(path: str | int) -> tuple[Step, ...]:
    """Return the steps of a path, for functions that fail where it is none of one value."""
    try:
        steps = parse_path(path_of_key(path))
    except InvalidPath:
        raise EvaluationError(NOT_A_PATH) from None
    if finds_many(steps):
        raise EvaluationError(NOT_A_PATH)
    return steps


# Values as text.


_ESCAPES = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


def quoted(text: str) -> str:
    """Return a string in quotes, with no needless escapes."""
    return f'"{_ESCAPED.sub(lambda hit: _ESCAPES.get(hit[0]) or f"{chr(92)}u{ord(hit[0]):04X}", text)}"'


def written(value: Value) -> str:
    """Return a value as JSON without blanks."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Members):
        return "{" + ",".join([f"{quoted(key)}:{written(inner)}" for key, inner in value]) + "}"
    return "[" + ",".join(map(written, value)) + "]"


def plain(value: Value) -> str | None:
    """Return a string as it is, any other value as JSON, and null as none."""
    if value is None or value is MISSING:
        return None
    return value if isinstance(value, str) else written(value)


def type_of(value: Value) -> str:
    """Return the name of a value's type; integers beyond 64 bits are DOUBLE."""
    if value is None:
        return "NULL"
    if isinstance(value, Number):
        return number_type(value)
    for kind, name in ((bool, "BOOLEAN"), (str, "VARCHAR"), (Members, "OBJECT")):
        if isinstance(value, kind):
            return name
    return "ARRAY"


def number_type(text: str) -> str:
    """Return the name of a number's type."""
    if len(text) > 20 or any(sign in text for sign in ".eE"):
        return "DOUBLE"
    if text.startswith("-"):
        return "BIGINT" if int(text) >= -(1 << 63) else "DOUBLE"
    return "UBIGINT" if int(text) < 1 << 64 else "DOUBLE"


def at_path(function: Callable[[Value], Any], dtype: pa.DataType) -> Callable[..., Any]:
    """Return the handler of a function of the value at a path; null where there is none."""

    def row(text: str, path: str | int = "$") -> Any:
        value = find(read(text), steps_in_row(path))
        return None if value is MISSING else function(value)

    return by_row(row, dtype)


def scalar_json(value: Value) -> str | None:
    """Return a value that holds no others, and is not null, as JSON."""
    return None if value is None or isinstance(value, list) else written(value)


def exists(text: str, path: str | int) -> bool:
    """Return whether there is a value at a path."""
    return find(read(text), steps_in_row(path)) is not MISSING


def parts(text: str, path: str) -> list[str]:
    """Return the values at a path as JSON, or the keys of an object, none of other values."""
    value = read(text)
    if path == KEYS.value:
        return [quoted(key) for key, _ in value] if isinstance(value, Members) else []
    return list(map(written, find_all(value, parse_path(path))))


# Values of the language as JSON.


def float_text(value: float) -> str:
    """Return a number as DuckDB writes it: with a point, and an exponent below 0.000001 and from 10 to 21."""
    if value != value or value in (float("inf"), float("-inf")):
        raise EvaluationError(NOT_A_JSON_NUMBER)
    sign, digits, power = ("-" if str(value).startswith("-") else ""), *shortest(abs(value))
    point = len(digits) + power
    if -6 < point <= 21:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    return f"{sign}{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{point - 1}"


def shortest(value: float) -> tuple[str, int]:
    """Return the shortest digits of a number that is not negative, and the power of ten beside them."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    power = int(exponent or 0) - len(fraction)
    kept = digits.rstrip("0")
    return (kept, power + len(digits) - len(kept)) if kept else ("0", 0)


def value_text(value: Any) -> str:
    """Return a boolean, number or string as JSON."""
    if value is None or isinstance(value, bool):
        return written(value)
    if isinstance(value, float):
        return float_text(value)
    return quoted(value) if isinstance(value, str) else str(value)


def to_json(value: Any) -> Any:
    """A value as JSON; null is null."""
    return to_text(value) if is_decimal(value.type) else by_row(value_text, STRING)(value)


def text_or_null(text: str | None) -> str:
    """Return JSON, and null where there is none."""
    return "null" if text is None else text


def joined(form: Any, *values: Any) -> Any:
    """Text with values as JSON in the places of its marks."""
    pieces = pieces_of(form.as_py())
    writers = [value_text if mark == VALUE else text_or_null for mark in pieces[1::2]]
    rows = next((len(value) for value in values if not isinstance(value, pa.Scalar)), None)
    columns = [
        forever(value.as_py(), 1 if rows is None else rows) if isinstance(value, pa.Scalar) else value.to_pylist()
        for value in values
    ]
    texts = [
        "".join([pieces[0], *(w(v) + text for w, v, text in zip(writers, row, pieces[2::2], strict=True))])
        for row in (zip(*columns, strict=True) if columns else [()])
    ]
    return pa.scalar(texts[0], STRING) if rows is None else pa.array(texts, STRING)


HANDLERS: dict[str, Callable[..., Any]] = {
    "json_extract": at_path(written, STRING),
    "json_extract_string": at_path(plain, STRING),
    "json_value": at_path(scalar_json, STRING),
    "json_type": at_path(type_of, STRING),
    "json_array_length": at_path(
        lambda value: len(value) if isinstance(value, list) and not isinstance(value, Members) else 0, INT64
    ),
    "json_exists": by_row(exists, BOOL),
    "json_valid": by_row(is_valid, BOOL),
    "json_text": by_row(checked, STRING),
    "json_parts": by_row(parts, pa.list_(STRING)),
    "to_json": to_json,
    "json_join": joined,
}
