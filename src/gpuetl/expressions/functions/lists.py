"""Lists: a column of type `list<T>` holds any number of values a row.  A null list is not an empty one.

`x[1]` is the first element, as in SQL; `list_get` counts from 0.

Lists are read, passed on, united and written, but not compared: an explode step gives each element a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.ir import Column, Expr
from gpuetl.types.data_types import BOOL, INT64, NULL, STRING, DataType, can_be_key, is_integer, type_name
from gpuetl.types.nested_types import is_list, is_map

ListFunction = partial(Function, nested=True)


def element_of(arg: Expr) -> DataType:
    """Return the type of a list's elements."""
    if arg.dtype == NULL:
        return NULL
    if not is_list(arg.dtype):
        raise TypeMismatch(f"takes a list, got {type_name(arg.dtype)}")
    return arg.dtype.value_type


def measured(args: Sequence[Expr]) -> Typing:
    """A list or a map, whose length is a number."""
    if not is_map(args[0].dtype):
        element_of(args[0])
    return [args[0].dtype], INT64


def searched(args: Sequence[Expr]) -> Typing:
    """A list, and a value that widens to its elements' type."""
    element = element_of(args[0])
    if not can_be_key(element) or meet([Column("", element), args[1]], "compare") != element:
        raise TypeMismatch(f"cannot look for {type_name(args[1].dtype)} in {type_name(args[0].dtype)}")
    return [args[0].dtype, element], BOOL


def indexed(args: Sequence[Expr]) -> Typing:
    """A list, and a whole number."""
    if args[1].dtype != NULL and not is_integer(args[1].dtype):
        raise TypeMismatch(f"takes a whole number as index, got {type_name(args[1].dtype)}")
    return [args[0].dtype, INT64], element_of(args[0])


FUNCTIONS = (
    ListFunction("list_length", "x", measured, "The number of elements, nulls included, or of entries of a map; 0 of an empty one.",
                 "list_length(split('a,b,c', ','))", 3),
    ListFunction("list_contains", "x value", searched, "Whether an element is `=` value; null elements are not.",
                 "list_contains(split('a,b,c', ','), 'b')", True),
    ListFunction("list_get", "x index", indexed, "The element at the 0-based index, from the end where it is negative; null "
                 "beyond the list.", "list_get(split('a,b,c', ','), -1)", "c"),
    ListFunction("list_extract", "x index", indexed, "`x[index]`: the element at the 1-based index, from the end where it is "
                 "negative; null beyond the list, and at 0.", "list_extract(split('a,b,c', ','), 1)", "a"),
    Function("split", "text separator~", fixed(STRING, STRING, returns=pa.list_(STRING)), "The parts between the separators, as list<string>; '' gives a list of ''.  An "
             "empty separator parts all characters.",
             "split('a,b,c', ',')", ["a", "b", "c"]),
)  # fmt: skip
