"""Lists and texts of a group's values, and aggregates of its distinct values.

`ORDER BY` in the call gives the order, as in `string_agg(name, ', ' ORDER BY ts DESC)`; else `order_by` of the step does.
Without one, values are in ascending order, nulls last.  So are the values of rows that tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from gpuetl.expressions.functions.aggregates import in_float64, mean_type, sort_key, split_order, total_type_of
from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.functions.ordering import canonical, order_text
from gpuetl.expressions.ir import ABSENT, Call, Expr, Literal
from gpuetl.types.data_types import BOOL, NULL, STRING, can_compare, type_name
from gpuetl.types.nested_types import is_nested

Aggregate = partial(Function, kind="aggregate", nulls="own")

SEPARATOR = ","


def list_of(args: Sequence[Expr]) -> Typing:
    """Any type; a condition."""
    fixed(BOOL, returns=BOOL)([arg for arg in args[1:] if arg != ABSENT])
    return [args[0].dtype, BOOL][: len(args)], pa.list_(args[0].dtype)


def list_of_distinct(args: Sequence[Expr]) -> Typing:
    """A type that is compared; a condition."""
    if not can_compare(args[0].dtype):
        raise TypeMismatch(f"takes values that are compared, got {type_name(args[0].dtype)}")
    return list_of(args)


def in_order_of_texts(call: Call) -> Call:
    """Return a list of distinct nested values with a key of its own: they are told apart by it alone."""
    args, order = split_order(call)
    x, *rest = args
    if not is_nested(x.dtype):
        return call
    return replace(call, args=(canonical(x), *rest, *(order or [sort_key(order_text(x), descending=False)])))


def joined(args: Sequence[Expr]) -> Typing:
    """Strings, and a constant string."""
    if args[0].dtype not in (STRING, NULL):
        raise TypeMismatch(f"takes strings, got {type_name(args[0].dtype)}", "Write CAST(x AS string).")
    if len(args) > 1 and args[1].dtype != STRING:
        raise TypeMismatch(f"takes a string as separator, got {type_name(args[1].dtype)}")
    return [STRING] * len(args), STRING


def collected_arguments(call: Call) -> tuple[Expr, Expr]:
    """Return the x of `array_agg`, and the condition `only`; of `string_agg` the separator, a constant."""
    x, *options = split_order(call)[0]
    if call.function.name.startswith("string_agg"):
        return x, options[0] if options else Literal(SEPARATOR, STRING)
    return x, options[0] if options and options[0] != ABSENT else Literal(True, BOOL)


FUNCTIONS = (
    Aggregate("array_agg", "x only?", list_of,
              "A list of the values with the nulls, of the rows where `only` is true, which FILTER sets; null of no rows.",
              "list_length(array_agg(x))", 4, nested=True),
    Aggregate("array_agg_distinct", "x only?", list_of_distinct, "`array_agg(DISTINCT x)`: a list of the distinct values; null is one.",
              "list_length(array_agg(DISTINCT x))", 3, nested=True, rewrite=in_order_of_texts),
    Aggregate("string_agg", "x separator?!", joined,
              "The strings that are not null, with a separator between them: a comma if none is given; null of none.",
              "string_agg(CAST(x AS string), '-')", "1-1-2"),
    Aggregate("string_agg_distinct", "x separator?!", joined, "`string_agg(DISTINCT x)`: the same of distinct strings.",
              "string_agg(DISTINCT CAST(x AS string))", "1,2"),
    Aggregate("sum_distinct", "x", total_type_of, "`sum(DISTINCT x)`: the sum of the distinct values.", "sum(DISTINCT x)", 3,
              can_fail=True),
    Aggregate("mean_distinct", "x", mean_type, "`mean(DISTINCT x)`: the mean of the distinct values.", "mean(DISTINCT x)", 1.5),
    Aggregate("product_distinct", "x", in_float64, "`product(DISTINCT x)`: the product of the distinct values.", "product(DISTINCT x)", 2.0),
    Aggregate("median_distinct", "x", in_float64, "`median(DISTINCT x)`: the median of the distinct values.", "median(DISTINCT x)", 1.5),
    Aggregate("var_distinct", "x", in_float64, "`var(DISTINCT x)`: the sample variance of the distinct values.", "var(DISTINCT x)", 0.5),
    Aggregate("std_distinct", "x", in_float64, "`std(DISTINCT x)`: the sample standard deviation of the distinct values.", "std(DISTINCT x)",
              0.5**0.5),
)  # fmt: skip
"""The examples are over x = 1, 1, 2, null, in the order of x."""

OF_DISTINCT = {
    name: name.removesuffix("_distinct")
    for name in (function.name for function in FUNCTIONS)
    if name.endswith("_distinct") and not name.startswith(("array", "string"))
}
"""Aggregates that another one computes, of each group's distinct values."""
