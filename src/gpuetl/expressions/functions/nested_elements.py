"""Functions of lists whose elements are nested, by the texts by which these compare (ordering.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, anything, scalar_call
from gpuetl.expressions.functions.ordering import order_text
from gpuetl.expressions.ir import Call, Expr, Lambda, Literal, Variable
from gpuetl.types.data_types import BOOL, INT64, STRING
from gpuetl.types.nested_types import is_list, is_nested

ELEMENT = "element:text"
TEXTS, PLACES = pa.list_(STRING), pa.list_(INT64)


def text_of(value: Expr) -> Expr:
    """Return the text of a value."""
    return Literal(None, STRING) if isinstance(value, Literal) else order_text(value)


def texts_of(lists: Expr) -> Expr:
    """Return the texts of the elements of lists."""
    if not is_list(lists.dtype):  # a null
        return lists
    element = Variable(ELEMENT, lists.dtype.value_type)
    return scalar_call("list_transform", (lists, Lambda((element,), order_text(element))), TEXTS)


def of_texts(call: Call) -> Expr:
    """Return a call over lists of nested elements as one over texts; any other call as it is."""
    dtypes = [arg.dtype for arg in call.args if is_list(arg.dtype)]
    if not dtypes or not is_nested(dtypes[0].value_type):
        return call
    lists, *rest = call.args
    texts = texts_of(lists)
    return _BY_NAME[call.function.name](call, lists, texts, rest)


def searched(call: Call, _: Expr, texts: Expr, rest: list[Expr]) -> Expr:
    """Look for the text of a value."""
    return replace(call, args=(texts, text_of(rest[0])))


def compared(call: Call, _: Expr, texts: Expr, rest: list[Expr]) -> Expr:
    """Compare the texts of two lists, or take those of one."""
    return replace(call, args=(texts, *map(texts_of, rest)))


def graded(call: Call, _: Expr, texts: Expr, rest: list[Expr]) -> Expr:
    """Order the texts."""
    return replace(call, args=(texts, *rest))


def ordered(call: Call, lists: Expr, texts: Expr, rest: list[Expr]) -> Expr:
    """Take the elements in the order of their texts."""
    return at_places(call, lists, scalar_call("list_grade_up", (texts, *rest), PLACES))


def reduced_to(name: str) -> Callable[[Call, Expr, Expr, list[Expr]], Expr]:
    """Return what takes the element whose text an aggregate of texts is."""

    def rewrite(call: Call, lists: Expr, texts: Expr, _: list[Expr]) -> Expr:
        place = scalar_call("list_position", (texts, scalar_call(name, (texts,), STRING)), INT64)
        return scalar_call("list_extract", (lists, place), call.dtype)

    return rewrite


def distinct(call: Call, lists: Expr, texts: Expr, _: list[Expr]) -> Expr:
    """Take the first of equal elements."""
    return at_places(call, lists, scalar_call("list_first_places", (texts,), PLACES))


def shared(call: Call, lists: Expr, texts: Expr, rest: list[Expr]) -> Expr:
    """Take the first of equal elements that another list has."""
    return at_places(call, lists, scalar_call("list_shared_places", (texts, texts_of(rest[0])), PLACES))


def at_places(call: Call, lists: Expr, places: Expr) -> Expr:
    """Return the elements at places."""
    return scalar_call("list_select", (lists, places), call.dtype)


def extreme(call: Call) -> Expr:
    """Return `greatest` or `least` of nested values as a choice by their texts; any other call as it is."""
    if not is_nested(call.dtype):
        return call
    values = [arg for arg in call.args if not isinstance(arg, Literal)]
    if not values:
        return Literal(None, call.dtype)
    found = values[0]
    if len(values) > 1:
        found = scalar_call(call.function.name, tuple(map(order_text, values)), STRING)
        branches = [(scalar_call("equal", (order_text(value), found), BOOL), value) for value in values]
        return scalar_call("case", tuple(part for branch in branches for part in branch), call.dtype)
    return found


_BY_NAME: dict[str, Callable[[Call, Expr, Expr, list[Expr]], Expr]] = {
    "list_contains": searched, "list_position": searched, "list_has_any": compared, "list_has_all": compared,
    "list_sort": ordered, "list_grade_up": graded, "list_distinct": distinct, "list_unique": compared, "list_intersect": shared,
    "list_min": reduced_to("list_min"), "list_max": reduced_to("list_max"), "list_mode": reduced_to("list_mode"),
    "list_entropy": compared,
}  # fmt: skip
INTERNAL = {
    function.name: function
    for function in (
        Function("list_first_places", "x", anything(), "The places from 1 of the first of equal elements that are not null.",
                 "", None, nested=True),
        Function("list_shared_places", "x y", anything(), "Those of them that are `=` an element of y.", "", None, nested=True),
    )
}  # fmt: skip
"""Functions that users cannot call, by name."""
