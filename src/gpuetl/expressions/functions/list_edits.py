"""Lists made of lists: parts, other orders, distinct elements, several lists in one.

Elements that are null count and stay, but where a function says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gpuetl.expressions.functions.function import TypeMismatch, Typing, scalar_call
from gpuetl.expressions.functions.lists import (
    ListFunction,
    beside_value,
    compared_element,
    element_of,
    same_lists,
    whole_numbers,
)
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.functions.nested_elements import of_texts
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, INT64, NULL, STRING, type_name
from gpuetl.types.nested_types import is_list

ORDERS, NULL_PLACES = ("asc", "desc"), ("nulls first", "nulls last")


def kept_list(args: Sequence[Expr]) -> Typing:
    """A list, whose type is the result's."""
    element_of(args[0])
    return [args[0].dtype], args[0].dtype


def bounded(args: Sequence[Expr]) -> Typing:
    """A list, two places, and perhaps a step."""
    element_of(args[0])
    whole_numbers(args[1:], "place")
    for step in args[3:]:
        if isinstance(step, Literal) and step.value == 0:
            raise TypeMismatch(coded("GE1106", "takes a step that is not 0"))
    return [args[0].dtype, INT64, INT64, INT64][: len(args)], args[0].dtype


def has_unknown_step(args: Sequence[Expr]) -> bool:
    """Return whether there is a step that is no constant."""
    return len(args) > 3 and not isinstance(args[3], Literal)


def joined(args: Sequence[Expr]) -> Typing:
    """Lists of one type."""
    dtype = same_lists(args)
    return [dtype] * len(args), dtype


def appended(args: Sequence[Expr]) -> Typing:
    """A list, and a value that widens to its elements' type."""
    lists = beside_value(*args)
    element = element_of(lists)
    if args[0].dtype == NULL:
        raise TypeMismatch("takes a list, got null")
    if meet([Column("", element), args[1]], "mix") != element:
        raise TypeMismatch(f"cannot put {type_name(args[1].dtype)} into {type_name(args[0].dtype)}")
    return [lists.dtype, element], lists.dtype


def prepended(args: Sequence[Expr]) -> Typing:
    """A value, and a list."""
    types, dtype = appended([args[1], args[0]])
    return [types[1], types[0]], dtype


def ordered(args: Sequence[Expr]) -> Typing:
    """A list whose elements are compared, and how they are ordered."""
    compared_element(args[0])
    for arg, known in zip(args[1:], (ORDERS, NULL_PLACES), strict=False):
        if arg.dtype != NULL and not (isinstance(arg, Literal) and str(arg.value).lower() in known):
            given = repr(arg.value) if isinstance(arg, Literal) else type_name(arg.dtype)
            raise TypeMismatch(coded("GE1106", f"takes '{known[0]}' or '{known[1]}', got {given}"))
    return [args[0].dtype, *(arg.dtype for arg in args[1:])], args[0].dtype


def graded(args: Sequence[Expr]) -> Typing:
    """A list, and how its elements are ordered; the result has places."""
    return ordered(args)[0], pa.list_(INT64)


def backward(args: Sequence[Expr]) -> Typing:
    """A list, and where its nulls are."""
    types, dtype = ordered([args[0], Literal("desc", STRING), *args[1:]])
    return [types[0], *types[2:]], dtype


def descending(call: Call) -> Expr:
    """Return `list_reverse_sort` as `list_sort`."""
    return of_texts(scalar_call("list_sort", (call.args[0], Literal("desc", STRING), *call.args[1:]), call.dtype))


def sort_order(call: Call) -> tuple[bool, bool]:
    """Return whether `list_sort` is descending, and whether nulls come first."""
    words = [str(arg.value).lower() for arg in call.args[1:] if isinstance(arg, Literal)]
    return "desc" in words, "nulls first" in words


def distinct(args: Sequence[Expr]) -> Typing:
    """A list whose elements are compared."""
    compared_element(args[0])
    return [args[0].dtype], args[0].dtype


def counted_distinct(args: Sequence[Expr]) -> Typing:
    """A list whose elements are compared; the result is a number."""
    compared_element(args[0])
    return [args[0].dtype], INT64


def shared(args: Sequence[Expr]) -> Typing:
    """Two lists of one type, whose elements are compared."""
    dtype = same_lists(args)
    for arg in args:
        compared_element(arg)
    return [dtype, dtype], dtype


def selected(args: Sequence[Expr]) -> Typing:
    """A list, and a list of whole numbers."""
    element_of(args[0])
    whole_numbers([Column("", element_of(args[1]))], "place")
    return [arg.dtype for arg in args], args[0].dtype


def masked(args: Sequence[Expr]) -> Typing:
    """A list, and a list of booleans."""
    element_of(args[0])
    if element_of(args[1]) not in (BOOL, NULL):
        raise TypeMismatch(coded("GE1117", f"takes a list of booleans, got {type_name(args[1].dtype)}"))
    return [arg.dtype for arg in args], args[0].dtype


def unpacked(args: Sequence[Expr]) -> Typing:
    """A list of lists."""
    element = element_of(args[0])
    if element != NULL and not is_list(element):
        raise TypeMismatch(f"takes a list of lists, got {type_name(args[0].dtype)}")
    if args[0].dtype == pa.list_(NULL):  # lists without a type, which are null
        return [pa.list_(pa.list_(NULL))], pa.list_(NULL)
    return [args[0].dtype], element


def appended_value(call: Call) -> Expr:
    """Return `list_append` as lists that are joined."""
    return scalar_call(
        "list_concat", (call.args[0], scalar_call("list_value", (call.args[1],), call.dtype)), call.dtype
    )


def prepended_value(call: Call) -> Expr:
    """Return `list_prepend` as lists that are joined."""
    return scalar_call(
        "list_concat", (scalar_call("list_value", (call.args[0],), call.dtype), call.args[1]), call.dtype
    )


def distinct_count(call: Call) -> Expr:
    """Return `list_unique` as the length of the distinct elements."""
    return scalar_call("list_length", (scalar_call("list_distinct", call.args, call.args[0].dtype),), INT64)


def transformed(args: Sequence[Expr]) -> Typing:
    """A list, and what a lambda gives of its elements."""
    element_of(args[0])
    return [args[0].dtype, args[1].dtype], pa.list_(args[1].dtype)


def filtered(args: Sequence[Expr]) -> Typing:
    """A list, and a lambda that gives booleans."""
    element_of(args[0])
    if args[1].dtype not in (BOOL, NULL):
        raise TypeMismatch(coded("GE1117", f"takes a lambda that gives a boolean, got {type_name(args[1].dtype)}"))
    return [args[0].dtype, args[1].dtype], args[0].dtype


def filtered_list(call: Call) -> Expr:
    """Return `list_filter` as the elements beside which its lambda is true."""
    lists, function = call.args
    mask = scalar_call("list_transform", (lists, function), pa.list_(function.dtype))
    return scalar_call("list_where", (lists, mask), call.dtype)


FUNCTIONS = (
    ListFunction("list_transform", "x function!", transformed, "`list_transform(x, lambda e: e + 1)`: what a lambda gives of each element, "
                 "and with `lambda e, i:` of its 1-based place too; it may read columns.",
                 "list_transform([1, 2, 3], lambda e: e * 10)", [10, 20, 30], nulls="own"),
    ListFunction("list_filter", "x function!", filtered, "The elements of which a lambda is true.", "list_filter([1, 2, 3], lambda e: e > 1)",
                 [2, 3], nulls="own", expansion=filtered_list),
    ListFunction("list_slice", "x first last step?", bounded, "`x[first:last]`: the elements from one 1-based place to another, both "
                 "included.  Negative places count from the end; `x[2:]` and `x[:-2]` leave one out.  `x[first:last:step]` takes every "
                 "step-th of them.  With a negative step, first is the greater place: `x[:-:-1]` is all from the end.",
                 "list_slice([1, 2, 3, 4], 2, -2)", [2, 3], fails=has_unknown_step),
    ListFunction("list_concat", "x y*", joined, "The elements of all lists, one list after the other; a null list has none.  Never null.",
                 "list_concat([1, 2], [3])", [1, 2, 3], nulls="own"),
    ListFunction("list_append", "x value", appended, "The list with value as its last element; a null list has none.  Never null.",
                 "list_append([1, 2], 3)", [1, 2, 3], nulls="own", expansion=appended_value),
    ListFunction("list_prepend", "value x", prepended, "The list with value as its first element; a null list has none.  Never null.",
                 "list_prepend(1, [2, 3])", [1, 2, 3], nulls="own", expansion=prepended_value),
    ListFunction("list_reverse", "x", kept_list, "The elements from the last to the first.", "list_reverse([1, 2, 3])", [3, 2, 1]),
    ListFunction("list_sort", "x order?! nulls?!", ordered, "The elements in order: 'asc' or 'desc', 'nulls first' or 'nulls last', "
                 "which are last otherwise; NaN is the greatest value.", "list_sort([2, 3, 1], 'desc')", [3, 2, 1], rewrite=of_texts),
    ListFunction("list_reverse_sort", "x nulls?!", backward, "`list_sort(x, 'desc')`: nulls are last, unless 'nulls first' is given.",
                 "list_reverse_sort([2, 3, 1])", [3, 2, 1], expansion=descending),
    ListFunction("list_grade_up", "x order?! nulls?!", graded, "The 1-based places of the elements in the order of `list_sort`; equal ones "
                 "as they stand.", "list_grade_up([30, 10, 20])", [2, 3, 1], rewrite=of_texts),
    ListFunction("list_distinct", "x", distinct, "The distinct elements that are not null, in the order in which they first come; "
                 "NaN is one value.", "list_distinct([1, 2, 1])", [1, 2], rewrite=of_texts),
    ListFunction("list_unique", "x", counted_distinct, "The number of distinct elements that are not null.", "list_unique([1, 2, 1])", 2,
                 expansion=distinct_count, rewrite=of_texts),
    ListFunction("list_intersect", "x y", shared, "The distinct elements of x, not null, that are `=` one of y, in the order of x.",
                 "list_intersect([1, 2, 3], [3, 2])", [2, 3], rewrite=of_texts),
    ListFunction("list_select", "x places", selected, "The elements at the 1-based places, from the end where negative; null beyond "
                 "the list.", "list_select(['a', 'b', 'c'], [3, 1])", ["c", "a"]),
    ListFunction("list_where", "x mask", masked, "The elements beside which mask is true.", "list_where([1, 2, 3], [true, false, true])",
                 [1, 3]),
    ListFunction("flatten", "x", unpacked, "The elements of the lists in a list, one list after the other; a null list in it has none.",
                 "flatten([[1, 2], [3]])", [1, 2, 3]),
)  # fmt: skip
