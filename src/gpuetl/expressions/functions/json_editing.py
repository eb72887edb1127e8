"""JSON that is changed: values set, taken out and merged.  Texts are JSON, as `json(x)` takes it; values of other types are written by `to_json`.

A path is one of those of `json_extract` that find one value; `$.a[#]` is the place behind the last element.  Members keep their order,
and new ones come last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing
from gpuetl.expressions.functions.json import made, steps_of
from gpuetl.expressions.functions.json_writing import check_writable, value_json
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.json_path import finds_many
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, NULL, STRING, type_name


def documents(args: Sequence[Expr]) -> Typing:
    """JSON, as texts or as values that are written."""
    for arg in args:
        check_writable(arg.dtype)
    return [arg.dtype for arg in args], STRING


def contained(args: Sequence[Expr]) -> Typing:
    """JSON, and what it may contain."""
    return documents(args)[0], BOOL


def changed(args: Sequence[Expr]) -> Typing:
    """JSON, the path of one value in it, and perhaps another value."""
    path = args[1]
    if path.dtype not in (STRING, NULL):
        raise TypeMismatch(f"takes a path such as '$.a', got {type_name(path.dtype)}")
    if finds_many(steps_of(path)):
        raise TypeMismatch(
            coded("GE1860", "takes the path of one value, without *"), "Change one place after the other."
        )
    types = documents([args[0], *args[2:]])[0]
    return [types[0], STRING, *types[1:]], STRING


def as_json(value: Expr) -> Expr:
    """Return a value as JSON: a text is JSON already."""
    if value.dtype in (STRING, NULL):
        return value
    written = value_json(made("to_json", (value,), STRING))
    assert written.dtype == STRING
    return written


def with_documents(call: Call) -> Expr:
    """Return a call with its values as JSON."""
    return replace(call, args=tuple(map(as_json, call.args)))


def with_document_and_path(call: Call) -> Expr:
    """Return a call with its values as JSON; null where the path is."""
    text, path, *value = call.args
    if isinstance(path, Literal) and path.value is None:
        return Literal(None, STRING)
    return replace(call, args=(as_json(text), path, *map(as_json, value)))


def one_by_one(call: Call) -> Expr:
    """Return a call of many documents as calls of two."""
    first, *rest = map(as_json, call.args)

    def merged(all_before: Expr, patch: Expr) -> Expr:
        return replace(call, args=(all_before, patch))

    return reduce(merged, rest, first)


Edit: Any = partial(Function, nested=True, can_fail=True)
Rewrite = Callable[[Call], Expr]

FUNCTIONS = (
    Edit("json_set", "text path~ value", changed, "JSON with a value at a path: in place of one that is there, else as a new member or the next element; as it is where that cannot be.",
         """json_set('{"a": 1}', '$.b', '[2]')""", '{"a":1,"b":[2]}', rewrite=with_document_and_path),
    Edit("json_insert", "text path~ value", changed, "As `json_set`, but a value that is there stays.", """json_insert('{"a": 1}', '$.a', '2')""", '{"a":1}',
         rewrite=with_document_and_path),
    Edit("json_replace", "text path~ value", changed, "As `json_set`, but only in place of a value that is there.", """json_replace('{"a": 1}', '$.b', '2')""", '{"a":1}',
         rewrite=with_document_and_path),
    Edit("json_remove", "text path~", changed, "JSON without the value at a path; null where that is all of it.", """json_remove('{"a": [1, 2], "b": 3}', '$.a[0]')""",
         '{"a":[2],"b":3}', rewrite=with_document_and_path),
    Edit("json_merge_patch", "text patch more*", documents, "JSON changed by a patch, as RFC 7396 has it: members of objects are merged, `null` takes a member out, and any other value "
         "takes the old one's place.  A null text counts as none; a null patch gives null.", """json_merge_patch('{"a": 1, "b": {"c": 2}}', '{"a": null, "b": {"d": 3}}')""",
         '{"b":{"c":2,"d":3}}', nulls="own", rewrite=one_by_one),
    Edit("json_merge_patch_diff", "old new", documents, "The patch that makes `old` into `new`, by `json_merge_patch`.  A null `old` counts as none.",
         """json_merge_patch_diff('{"a": 1, "b": 2}', '{"b": 3}')""", '{"a":null,"b":3}', nulls="own", rewrite=with_documents),
    Edit("json_deep_merge", "text patch more*", documents, "As `json_merge_patch`, but `null` changes nothing.", """json_deep_merge('{"a": 1, "b": {"c": 2}}', '{"a": null, "b": {"d": 3}}')""",
         '{"a":1,"b":{"c":2,"d":3}}', nulls="own", rewrite=one_by_one),
    Edit("json_strip_nulls", "text", documents, "JSON without the members of objects that are `null`, at any depth.", """json_strip_nulls('{"a": null, "b": [null]}')""", '{"b":[null]}',
         rewrite=with_documents),
    Edit("json_normalize", "text", documents, "JSON with the members of objects in the order of their keys' bytes, at any depth.", """json_normalize('{"b": 1, "a": {"d": 2, "c": 3}}')""",
         '{"a":{"c":3,"d":2},"b":1}', rewrite=with_documents),
    Edit("json_contains", "text part", contained, "Whether a part is anywhere in JSON: an object has its members and perhaps others, an array its elements in any order, a scalar is equal.",
         """json_contains('{"a": [1, {"b": 2, "c": 3}]}', '{"b": 2}')""", True, rewrite=with_documents),
)  # fmt: skip
