"""Lists of another length, and the elements of several lists side by side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gpuetl.expressions.functions.function import (
    Function,
    TypeMismatch,
    Typing,
    anything,
    beyond,
    check_between,
    scalar_call,
)
from gpuetl.expressions.functions.lists import ListFunction, beside_value, element_of, whole_numbers
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.types.data_types import BOOL, INT64, NULL, DataType, type_name
from gpuetl.types.nested_types import tuple_of

MOST_ELEMENTS = 1 << 24


def resized(args: Sequence[Expr]) -> Typing:
    """A list, a size, and a value that widens to its elements' type."""
    lists = beside_value(args[0], args[2]) if len(args) > 2 else args[0]
    element = element_of(lists)
    whole_numbers(args[1:2], "size")
    for filler in args[2:]:
        if args[0].dtype != NULL and meet([Column("", element), filler], "mix") != element:
            raise TypeMismatch(f"cannot put {type_name(filler.dtype)} into {type_name(args[0].dtype)}")
    return [lists.dtype, INT64, element][: len(args)], lists.dtype


def resized_list(call: Call) -> Expr:
    """Return `list_resize` with the filler in a list of one."""
    lists, size, *filler = call.args
    if lists.dtype == NULL:
        return Literal(None, call.dtype)
    fillers = (scalar_call("list_value", (value,), call.dtype) for value in filler if not is_null(value))
    return scalar_call("list_resized", (lists, *fillers, size), call.dtype)


def is_null(arg: Expr) -> bool:
    """Return whether an argument is the constant null."""
    return isinstance(arg, Literal) and arg.value is None


def is_of_unknown_size(args: Sequence[Expr]) -> bool:
    """Return whether the last argument is no constant within limits: what `fails` asks."""
    return beyond(len(args) - 1, 0, MOST_ELEMENTS)(args)


def sized(args: Sequence[Expr]) -> Typing:
    """A list, and how many elements it has."""
    element_of(args[0])
    whole_numbers(args[1:], "size")
    check_between(args[1], "size", 1, MOST_ELEMENTS)
    return [args[0].dtype, INT64], args[0].dtype


def repeated(args: Sequence[Expr]) -> Typing:
    """A list, and a whole number."""
    element_of(args[0])
    whole_numbers(args[1:], "count")
    return [args[0].dtype, INT64], args[0].dtype


def zipped(args: Sequence[Expr]) -> Typing:
    """Lists, and perhaps a boolean."""
    lists = args[:-1] if truncates(args) else args
    return [arg.dtype for arg in args], pa.list_(tuple_of(map(element_of, lists)))


def truncates(args: Sequence[Expr]) -> bool:
    """Return whether the last argument says how long lists are."""
    return len(args) > 1 and bool(args[-1].dtype == BOOL)


def zipped_lists(call: Call) -> Expr:
    """Return `list_zip` as lists of one length, whose elements become structs."""
    by_flag = truncates(call.args)
    lists = [known_list(arg) for arg in (call.args[:-1] if by_flag else call.args)]
    sizes = tuple(scalar_call("coalesce", (length_of(each), Literal(0, INT64)), INT64) for each in lists)
    size = extreme("greatest", sizes)
    if by_flag:
        size = scalar_call("case", (call.args[-1], extreme("least", sizes), size), INT64)
    padded = (scalar_call("list_padded", (each, size), each.dtype) for each in lists)
    return scalar_call("list_zipped", tuple(padded), call.dtype)


def known_list(arg: Expr) -> Expr:
    """Return a list; an empty one for a constant null."""
    dtype: DataType = pa.list_(NULL) if arg.dtype == NULL else arg.dtype
    return scalar_call("list_value", (), dtype) if is_null(arg) else arg


def length_of(lists: Expr) -> Expr:
    """Return the number of elements."""
    return scalar_call("list_length", (lists,), INT64)


def extreme(name: str, sizes: tuple[Expr, ...]) -> Expr:
    """Return the greatest or least of several sizes."""
    return scalar_call(name, sizes, INT64) if len(sizes) > 1 else sizes[0]


INTERNAL = {
    function.name: function
    for function in (
        Function("list_resized", "x filler? size", anything(), "A list of another size; `filler` is a list of one.", "", None,
                 nulls="own", nested=True, fails=is_of_unknown_size),
        Function("list_padded", "x size", anything(), "A list of a size; missing elements are null.", "", None, nulls="own",
                 nested=True),
        Function("list_zipped", "x*", anything(), "Structs of the elements of lists of one length.", "", None, nulls="own",
                 nested=True),
    )
}  # fmt: skip
"""Functions that users cannot call, by name."""
FUNCTIONS = (
    ListFunction("list_resize", "x size value?", resized, "The first elements, as many as size; missing ones are value, or null.  A null list "
                 "is null, and a null size is 0.", "list_resize([1, 2], 4, 0)", [1, 2, 0, 0], nulls="own",
                 fails=beyond(1, 0, MOST_ELEMENTS), expansion=resized_list),
    ListFunction("list_repeat", "x count", repeated, "The elements `count` times, one list after the other: `repeat(x, count)`.  None where count "
                 "is negative.", "list_repeat([1, 2], 2)", [1, 2, 1, 2], can_fail=True),
    ListFunction("list_of_size", "x size!", sized, "The list itself; another number of elements is an error: `CAST(x AS FLOAT[3])`.",
                 "list_of_size([1, 2], 2)", [1, 2], can_fail=True),
    ListFunction("list_zip", "x y*", zipped, "Structs of the elements in the same place, as `row(x[1], y[1])`.  It is as long as the longest "
                 "list, and missing elements are null; with `true` as the last argument, as long as the shortest.  A null list has "
                 "no elements.  Never null.", "list_zip([1, 2], ['a'])",
                 [{"element1": 1, "element2": "a"}, {"element1": 2, "element2": None}], nulls="own", expansion=zipped_lists),
)  # fmt: skip
