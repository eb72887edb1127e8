"""Aggregates of lists: one value of the elements of each list.  Null elements are skipped.

A list without values gives null, but for counts and for the products of two lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from gpuetl.expressions.functions.aggregates import mean_type, total_type_of
from gpuetl.expressions.functions.function import Rule, TypeMismatch, Typing, fixed, scalar_call
from gpuetl.expressions.functions.lists import ListFunction, compared_element, element_of
from gpuetl.expressions.functions.nested_elements import of_texts
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, FLOAT64, INT64, NULL, STRING, is_number, type_name
from gpuetl.types.decimal_types import is_decimal


def of_elements(rule: Rule) -> Rule:
    """Return the rule of a list: as an aggregate's over its elements."""

    def typing(args: Sequence[Expr]) -> Typing:
        _, result = rule([Column("", element_of(args[0]))])
        return [args[0].dtype], result

    return typing


def element(args: Sequence[Expr]) -> Typing:
    """A list; the result is one of its elements."""
    return [args[0].dtype], element_of(args[0])


def compared(args: Sequence[Expr]) -> Typing:
    """A list whose elements are compared; the result is one of them."""
    return [args[0].dtype], compared_element(args[0])


def counted(args: Sequence[Expr]) -> Typing:
    """A list, whose elements are counted."""
    element_of(args[0])
    return [args[0].dtype], INT64


def of_booleans(args: Sequence[Expr]) -> Typing:
    """A list of booleans."""
    if element_of(args[0]) not in (BOOL, NULL):
        raise TypeMismatch(coded("GE1117", f"takes a list of booleans, got {type_name(args[0].dtype)}"))
    return [args[0].dtype], BOOL


def in_float64(args: Sequence[Expr]) -> Typing:
    """Lists of numbers, computed in float64."""
    for arg in args:
        if element_of(arg) != NULL and not is_number(element_of(arg)):
            raise TypeMismatch(f"takes lists of numbers, got {type_name(arg.dtype)}")
    return [pa.list_(FLOAT64) if is_decimal(element_of(arg)) else arg.dtype for arg in args], FLOAT64


def joined(args: Sequence[Expr]) -> Typing:
    """A list of strings, and what stands between them."""
    if element_of(args[0]) not in (STRING, NULL):
        hint = "Write list_transform(x, lambda e: CAST(e AS string)) in its place."
        raise TypeMismatch(f"takes a list of strings, got {type_name(args[0].dtype)}", hint)
    _, result = fixed(STRING, returns=STRING)(args[1:])
    return [args[0].dtype, STRING][: len(args)], result


def end_of_list(place: int) -> Callable[[Call], Expr]:
    """Return what computes the first or the last element."""

    def expansion(call: Call) -> Expr:
        return scalar_call("list_extract", (call.args[0], Literal(place, INT64)), call.dtype)

    return expansion


def cosine_distance(call: Call) -> Expr:
    """Return 1 less the cosine similarity."""
    return scalar_call(
        "subtract", (Literal(1.0, FLOAT64), scalar_call("list_cosine_similarity", call.args, FLOAT64)), FLOAT64
    )


def compensated_mean(call: Call) -> Expr:
    """Return the compensated sum by the number of elements."""
    count = Cast(scalar_call("list_count", call.args, INT64), FLOAT64, implicit=True)
    return scalar_call("divide", (scalar_call("list_fsum", call.args, FLOAT64), count), FLOAT64)


def negative_product(call: Call) -> Expr:
    """Return the product with another sign."""
    return scalar_call("negate", (scalar_call("list_dot_product", call.args, FLOAT64),), FLOAT64)


def joined_values(call: Call) -> Expr:
    """Return `list_string_agg`: null where there is no value, as of groups."""
    lists, *separator = call.args
    if lists.dtype == NULL:
        return Literal(None, STRING)
    some = scalar_call("greater", (scalar_call("list_count", (lists,), INT64), Literal(0, INT64)), BOOL)
    text = scalar_call("array_to_string", (lists, *(separator or (Literal(",", STRING),))), STRING)
    return scalar_call("case", (some, text), STRING)


def of_length_three(lists: Expr) -> Expr:
    """Return a list, which has three elements."""
    return scalar_call("list_of_size", (lists, Literal(3, INT64)), lists.dtype)


def cross_product(call: Call) -> Expr:
    """Return the vector that is perpendicular to two others, null where one is."""
    wanted = pa.list_(FLOAT64)
    x, y = (each if each.dtype == wanted else Cast(each, wanted, implicit=True) for each in call.args)

    def at(lists: Expr, place: int) -> Expr:
        return scalar_call("list_extract", (of_length_three(lists), Literal(place, INT64)), FLOAT64)

    def times(left: int, right: int) -> Expr:
        return scalar_call("multiply", (at(x, left), at(y, right)), FLOAT64)

    pairs = ((2, 3), (3, 1), (1, 2))
    parts = (scalar_call("subtract", (times(a, b), times(b, a)), FLOAT64) for a, b in pairs)
    missing = [part for each in (x, y) for part in (scalar_call("is_null", (each,), BOOL), Literal(None, wanted))]
    return scalar_call("case", (*missing, scalar_call("list_value", tuple(parts), wanted)), wanted)


def crossed(args: Sequence[Expr]) -> Typing:
    """Two lists of numbers; the result is another one, of float64."""
    return in_float64(args)[0], NULL if NULL in (arg.dtype for arg in args) else pa.list_(FLOAT64)


FUNCTIONS = (
    ListFunction("list_sum", "x", of_elements(total_type_of), "The sum of the elements: int64, float64 or decimal; overflow is an error.",
                 "list_sum([1, 2, 4])", 7, can_fail=True),
    ListFunction("list_mean", "x", of_elements(mean_type), "The mean of the elements in float64, of integers and decimals the float64 "
                 "nearest to the exact mean; of durations a duration.", "list_mean([1, 2, 4])", 7 / 3),
    ListFunction("list_fsum", "x", in_float64, "The sum of the elements in float64, one after the other, with what rounding lost added "
                 "again (Kahan).", "list_fsum([0.1, 0.2, 0.3])", 0.6),
    ListFunction("list_favg", "x", in_float64, "`list_fsum` by the number of elements that are not null.", "list_favg([1, 2, 4])", 7 / 3,
                 expansion=compensated_mean),
    ListFunction("list_product", "x", in_float64, "The product of the elements, in float64.", "list_product([2, 3, 4])", 24.0),
    ListFunction("list_min", "x", compared, "The least element; NaN only if all are.", "list_min([2, 1, 3])", 1, rewrite=of_texts),
    ListFunction("list_max", "x", compared, "The greatest element; NaN if any is.", "list_max([2, 3, 1])", 3, rewrite=of_texts),
    ListFunction("list_count", "x", counted, "The number of elements that are not null.", "list_count([1, NULL, 3])", 2),
    ListFunction("list_any_value", "x", element, "The first element that is not null.", "list_any_value([NULL, 2, 3])", 2),
    ListFunction("list_first", "x", element, "The first element, which may be null.", "list_first([1, 2, 3])", 1,
                 expansion=end_of_list(1)),
    ListFunction("list_last", "x", element, "The last element, which may be null.", "list_last([1, 2, 3])", 3,
                 expansion=end_of_list(-1)),
    ListFunction("list_reduce", "x function! initial?", element, "`list_reduce(x, lambda total, e: total + e)`: what a lambda makes of the first "
                 "element and the next, of that and the next, and so on.  It begins with `initial` if that is given.  With `lambda "
                 "total, e, i:` it knows the element's 1-based place.  An empty list without `initial` is an error.",
                 "list_reduce([1, 2, 3], lambda total, e: total + e, 10)", 16, nulls="own", can_fail=True),
    ListFunction("list_bool_and", "x", of_booleans, "Whether all elements are true.", "list_bool_and([true, false])", False),
    ListFunction("list_bool_or", "x", of_booleans, "Whether any element is true.", "list_bool_or([true, false])", True),
    ListFunction("array_to_string", "x separator!", joined, "The strings of a list with the separator between them; nulls are left out.",
                 "array_to_string(['a', 'b'], '-')", "a-b"),
    ListFunction("list_string_agg", "x separator?!", joined, "`array_to_string`, null where no element is a value; the separator is ',' "
                 "unless another one is given.", "list_string_agg(['a', NULL, 'b'])", "a,b", expansion=joined_values),
    ListFunction("list_dot_product", "x y", in_float64, "The sum of the products of elements in the same place, in float64.  Lists of "
                 "other lengths, and nulls in them, are an error.", "list_dot_product([1, 2], [3, 4])", 11.0, can_fail=True),
    ListFunction("list_negative_dot_product", "x y", in_float64, "-`list_dot_product`.", "list_negative_dot_product([1, 2], [3, 4])", -11.0,
                 can_fail=True, expansion=negative_product),
    ListFunction("array_cross_product", "x y", crossed, "The vector product of two lists of three numbers, in float64.  Other lengths are an "
                 "error, and null elements give null.", "array_cross_product([1, 2, 3], [4, 5, 6])", [-3.0, 6.0, -3.0], can_fail=True,
                 expansion=cross_product),
    ListFunction("list_distance", "x y", in_float64, "The Euclidean distance of two lists of one length without nulls, in float64.",
                 "list_distance([0, 0], [3, 4])", 5.0, can_fail=True),
    ListFunction("list_cosine_similarity", "x y", in_float64, "The cosine of the angle between two lists of one length without nulls; NaN "
                 "beside zeros alone, null of empty lists.", "list_cosine_similarity([1, 0], [1, 0])", 1.0, can_fail=True),
    ListFunction("list_cosine_distance", "x y", in_float64, "1 - `list_cosine_similarity`.", "list_cosine_distance([1, 0], [0, 1])", 1.0,
                 can_fail=True, expansion=cosine_distance),
)  # fmt: skip
