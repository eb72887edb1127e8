"""Lists: a column of type `list<T>` holds any number of values a row.  A null list is not an empty one.

`[1, 2, x]` makes a list.  `x[1]` is the first element, as in SQL, and `x[2:3]` the second and the third; `list_get` counts
from 0.

Lists are read, passed on, united, compared and written.  An explode step gives each element a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.functions.nested_elements import of_texts
from gpuetl.expressions.ir import Column, Expr
from gpuetl.types.common_types import common_nested
from gpuetl.types.data_types import BOOL, INT64, NULL, STRING, DataType, can_compare, is_integer, type_name
from gpuetl.types.nested_types import is_list, is_map

ListFunction = partial(Function, nested=True)


def element_of(arg: Expr) -> DataType:
    """Return the type of a list's elements."""
    if arg.dtype == NULL:
        return NULL
    if not is_list(arg.dtype):
        raise TypeMismatch(f"takes a list, got {type_name(arg.dtype)}")
    return arg.dtype.value_type


def compared_element(arg: Expr) -> DataType:
    """Return the type of a list's elements, which are compared, nested ones by their parts."""
    element = element_of(arg)
    if not can_compare(element):
        raise TypeMismatch(f"compares elements, and those of {type_name(arg.dtype)} are not compared")
    return element


def same_lists(args: Sequence[Expr]) -> DataType:
    """Return the type in which several lists meet; a null may be any."""
    meeting: DataType = NULL
    for dtype in (arg.dtype for arg in args if element_of(arg) != NULL or is_list(arg.dtype)):
        found = common_nested(meeting, dtype)
        if found is None:
            raise TypeMismatch(f"takes lists of one type, got {type_name(meeting)} and {type_name(dtype)}")
        meeting = found
    return meeting


def beside_value(lists: Expr, value: Expr) -> Expr:
    """Return a list; one of elements without a type has those of the value's type."""
    is_untyped = lists.dtype == pa.list_(NULL) and value.dtype != NULL
    return Column("", pa.list_(value.dtype)) if is_untyped else lists


def gathered(args: Sequence[Expr]) -> Typing:
    """Values that meet in one type, that of the elements."""
    if not args:
        return [], pa.list_(NULL)
    dtype = meet(args, "mix")
    return [dtype] * len(args), pa.list_(dtype)


def measured(args: Sequence[Expr]) -> Typing:
    """A list or a map, whose length is a number."""
    if not is_map(args[0].dtype):
        element_of(args[0])
    return [args[0].dtype], INT64


def searched_type(args: Sequence[Expr]) -> DataType:
    """Return the type of the elements of a list, to which the value that is looked for widens."""
    element = element_of(args[0])
    if not can_compare(element) or meet([Column("", element), args[1]], "compare") != element:
        raise TypeMismatch(f"cannot look for {type_name(args[1].dtype)} in {type_name(args[0].dtype)}")
    return element


def searched(args: Sequence[Expr]) -> Typing:
    """A list, and a value that widens to its elements' type."""
    lists = beside_value(*args)
    return [lists.dtype, searched_type([lists, args[1]])], BOOL


def placed(args: Sequence[Expr]) -> Typing:
    """A list, and a value that widens to its elements' type; the result is a place."""
    return searched(args)[0], INT64


def overlapping(args: Sequence[Expr]) -> Typing:
    """Two lists of one type, whose elements are compared."""
    dtype = same_lists(args)
    for arg in args:
        compared_element(arg)
    return [dtype, dtype], BOOL


def indexed(args: Sequence[Expr]) -> Typing:
    """A list, and a whole number."""
    whole_numbers(args[1:], "index")
    return [args[0].dtype, INT64], element_of(args[0])


def whole_numbers(args: Sequence[Expr], what: str) -> None:
    """Refuse what is no whole number."""
    for arg in args:
        if arg.dtype != NULL and not is_integer(arg.dtype):
            raise TypeMismatch(f"takes a whole number as {what}, got {type_name(arg.dtype)}")


def counted(args: Sequence[Expr]) -> Typing:
    """Whole numbers: a count, or a start and an end, and a step."""
    whole_numbers(args, "start, stop and step")
    return [INT64] * len(args), pa.list_(INT64)


FUNCTIONS = (
    ListFunction("list_value", "value*", gathered, "`[a, b, c]`: the list of these values, nulls included.  Never null.",
                 "[1, 2, 3]", [1, 2, 3], nulls="own"),
    Function("range", "start stop? step?", counted, "`range(stop)`: the whole numbers from 0, or from start, up to stop without "
             "it, step apart; none where step is 0; 16,777,216 at most.", "range(1, 7, 2)", [1, 3, 5], can_fail=True),
    Function("generate_series", "start stop? step?", counted, "As `range`, and stop is one of them.", "generate_series(1, 3)",
             [1, 2, 3], can_fail=True),
    ListFunction("list_length", "x", measured, "The number of elements, nulls included, or of entries of a map; 0 of an empty one.",
                 "list_length(split('a,b,c', ','))", 3),
    ListFunction("list_contains", "x value", searched, "Whether an element is `=` value; null elements are not.",
                 "list_contains(split('a,b,c', ','), 'b')", True, rewrite=of_texts),
    ListFunction("list_position", "x value", placed, "The 1-based place of the first element that is `=` value, of a null that of "
                 "the first null; null where there is none.", "list_position(['a', 'b', 'a'], 'b')", 2, nulls="own", rewrite=of_texts),
    ListFunction("list_has_any", "x y", overlapping, "Whether an element of x, not null, is `=` one of y.",
                 "list_has_any([1, 2], [2, 3])", True, rewrite=of_texts),
    ListFunction("list_has_all", "x y", overlapping, "Whether each element of y that is not null is `=` one of x.",
                 "list_has_all([1, 2, 3], [3, 1])", True, rewrite=of_texts),
    ListFunction("list_get", "x index", indexed, "The element at the 0-based index, from the end where it is negative; null "
                 "beyond the list.", "list_get(split('a,b,c', ','), -1)", "c"),
    ListFunction("list_extract", "x index", indexed, "`x[index]`: the element at the 1-based index, from the end where it is "
                 "negative; null beyond the list, and at 0.", "list_extract(split('a,b,c', ','), 1)", "a"),
    Function("split", "text separator~", fixed(STRING, STRING, returns=pa.list_(STRING)), "The parts between the separators, as list<string>; '' gives a list of ''.  An "
             "empty separator parts all characters.",
             "split('a,b,c', ',')", ["a", "b", "c"]),
)  # fmt: skip
