"""JSON that is changed, row by row: values set and taken out at a path, documents merged, sorted and compared."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from itertools import repeat as forever
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from gpuetl.engines.pandas.expressions.functions.json import (
    MISSING,
    Members,
    Number,
    Value,
    follow,
    number_type,
    read,
    steps_in_row,
    written,
)
from gpuetl.engines.pandas.expressions.functions.text_rows import by_row
from gpuetl.expressions.json_path import Element, End, Member, MemberOrElement, MemberOrEnd, Step
from gpuetl.types.data_types import BOOL, STRING

How: TypeAlias = Literal["set", "insert", "replace", "remove"]

# A value at a path.


def changed(how: How) -> Callable[..., str | None]:
    """Return the function of a text, a path and, but for `remove`, a value."""

    def row(text: str, path: str, value: str = "null") -> str | None:
        document, new = read(text), read(value)
        found = edited(document, steps_in_row(path), how, new)
        return None if found is MISSING else written(found)

    return row


def edited(value: Value, steps: Sequence[Step], how: How, new: Value) -> Value:
    """Return a value with the one at a path changed; as it is where that cannot be."""
    if not steps:
        return MISSING if how == "remove" else value if how == "insert" else new
    inner, rest = follow(value, steps[0]), steps[1:]
    if inner is MISSING:
        return extended(value, steps, new) if how in ("set", "insert") else value
    changed = edited(inner, rest, how, new)
    if isinstance(value, Members):
        key, found, members = key_of(steps[0]), False, Members()
        for name, old in value:
            if name != key or (found and rest):
                members.append((name, old))
            elif not found and changed is not MISSING:
                members.append((name, changed))
            found = found or name == key
        return value if not rest and how == "insert" else members
    place = place_of(steps[0], value)
    return [*value[:place], *([] if changed is MISSING else [changed]), *value[place + 1 :]]


def extended(value: Value, steps: Sequence[Step], new: Value) -> Value:
    """Return a value with a new member or next element, in which the rest of a path leads to a new value."""
    made, key = created(steps[1:], new), key_of(steps[0])
    if made is MISSING:
        return value
    if isinstance(value, Members):
        return value if key is None else Members([*value, (key, made)])
    is_next = isinstance(value, list) and place_of(steps[0], value) == len(value)
    return [*value, made] if is_next else value


def created(steps: Sequence[Step], new: Value) -> Value:
    """Return what leads to a value, made anew; `MISSING` for a place other than the first."""
    if not steps:
        return new
    made, key = created(steps[1:], new), key_of(steps[0])
    if made is MISSING or (key is None and place_of(steps[0], []) != 0):
        return MISSING
    return [made] if key is None else Members([(key, made)])


def key_of(step: Step) -> str | None:
    """Return the key that a step looks for in an object."""
    return "-" if isinstance(step, MemberOrEnd) else step.key if isinstance(step, Member | MemberOrElement) else None


def place_of(step: Step, elements: Sequence[Value]) -> int:
    """Return the place of an element that a step leads to, or of the next one; -1 for none."""
    if isinstance(step, End | MemberOrEnd):
        return len(elements)
    if isinstance(step, MemberOrElement):
        return int(step.key)
    if isinstance(step, Element):
        return step.place if step.place >= 0 else max(len(elements) + step.place, -1)
    return -1


# Documents.


def pairs(function: Callable[[Value | None, Value | None], Value]) -> Callable[..., Any]:
    """Return the handler of a function of two documents, `MISSING` where the text is null."""

    def row(first: str | None, second: str | None) -> str | None:
        values = [MISSING if text is None else read(text) for text in (first, second)]
        found = function(*values)
        return None if found is MISSING else written(found)

    def handler(*values: Any) -> Any:
        if all(isinstance(value, pa.Scalar) for value in values):
            return pa.scalar(row(*(value.as_py() for value in values)), STRING)
        columns = (forever(v.as_py()) if isinstance(v, pa.Scalar) else v.to_pylist() for v in values)
        return pa.array([row(*texts) for texts in zip(*columns, strict=False)], STRING)

    return handler


def is_object(*values: Value) -> bool:
    """Return whether all values are objects."""
    return all(isinstance(value, Members) for value in values)


def member(members: Members, key: str) -> Value:
    """Return the first member with a key."""
    return follow(members, Member(key))


def merge_patch(old: Value, patch: Value) -> Value:
    """Return a document that a patch has changed; documents that are no objects are replaced."""
    return patched(old, patch) if is_object(old, patch) else patch


def patched(old: Value, patch: Value) -> Value:
    """Return a value changed by a patch: without its nulls, where it is an object."""
    if not is_object(patch):
        return patch
    old = old if is_object(old) else Members()
    kept = [(key, inner) for key, inner in old if member(patch, key) is MISSING]
    new = [(key, patched(member(old, key), inner)) for key, inner in patch if inner is not None]
    return Members([*kept, *new])


def deep_merge(old: Value, patch: Value) -> Value:
    """Return a value changed by another one, in which null stands for nothing new."""
    if patch is MISSING or old is MISSING:
        return patch
    if not is_object(old, patch):
        return old if patch is None else patch
    kept = [(key, inner) for key, inner in old if member(patch, key) in (MISSING, None)]
    new = [(key, deep_merge(member(old, key), inner)) for key, inner in patch if inner is not None]
    return Members([*kept, *new])


def patch_between(old: Value, new: Value) -> Value:
    """Return the patch that makes one document into another."""
    if not is_object(old, new):
        return new
    taken = [(key, None) for key, _ in old if member(new, key) is MISSING]
    changed = [(key, patch_between(member(old, key), inner)) for key, inner in new if not same(member(old, key), inner)]
    return Members([*taken, *changed])


def same(old: Value, new: Value) -> bool:
    """Return whether two values are equal: objects by their keys, of equal ones in the old value the first."""
    if is_object(old, new):
        found = [(member(old, key), inner) for key, inner in new]
        gone = any(member(new, key) is MISSING for key, _ in old)
        return not gone and all(before is not MISSING and same(before, inner) for before, inner in found)
    if is_object(old) or is_object(new):
        return False
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    return same_scalar(old, new)


def same_scalar(one: Value, other: Value) -> bool:
    """Return whether two values that hold no others are equal."""
    if type(one) is not type(other):
        return False
    return bool(number_key(one) == number_key(other) if isinstance(one, Number) else one == other)


def number_key(number: Number) -> Any:
    """Return what equal numbers have in common: the value of 64 bits, else the text."""
    if number_type(number) != "DOUBLE":
        return int(number)
    if not set(number) & set(".eE") or math.isinf(value := float(number)):
        return str(number)
    return struct.pack("<d", value)


def strip_nulls(value: Value) -> Value:
    """Return a value without the members that are null."""
    if isinstance(value, Members):
        return Members([(key, strip_nulls(inner)) for key, inner in value if inner is not None])
    return list(map(strip_nulls, value)) if isinstance(value, list) else value


def normalised(value: Value) -> Value:
    """Return a value with members in the order of their keys; equal keys stay in theirs."""
    if isinstance(value, Members):
        members = sorted(value, key=lambda pair: pair[0].encode())
        return Members([(key, normalised(inner)) for key, inner in members])
    return list(map(normalised, value)) if isinstance(value, list) else value


def contains(text: str, part: str) -> bool:
    """Return whether a document has a part anywhere."""
    document, wanted = read(text), read(part)
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if includes(value, wanted):
            return True
        waiting += (
            [inner for _, inner in value] if isinstance(value, Members) else value if isinstance(value, list) else []
        )
    return False


def includes(value: Value, part: Value) -> bool:
    """Return whether a value is equal to a part, or has its members or elements."""
    if is_object(value, part):
        found = [(member(value, key), inner) for key, inner in part]
        return all(old is not MISSING and includes(old, inner) for old, inner in found)
    if is_object(value) or is_object(part):
        return False
    if isinstance(value, list) and isinstance(part, list):
        return all(any(includes(old, inner) for old in value) for inner in part)
    return same_scalar(value, part)


def of_document(function: Callable[[Value], Value]) -> Callable[..., Any]:
    """Return the handler of a function of one document that gives another one."""
    return by_row(lambda text: written(function(read(text))), STRING)


HANDLERS: dict[str, Callable[..., Any]] = {
    "json_set": by_row(changed("set"), STRING),
    "json_insert": by_row(changed("insert"), STRING),
    "json_replace": by_row(changed("replace"), STRING),
    "json_remove": by_row(changed("remove"), STRING),
    "json_merge_patch": pairs(merge_patch),
    "json_merge_patch_diff": pairs(patch_between),
    "json_deep_merge": pairs(deep_merge),
    "json_strip_nulls": of_document(strip_nulls),
    "json_normalize": of_document(normalised),
    "json_contains": by_row(contains, BOOL),
}
