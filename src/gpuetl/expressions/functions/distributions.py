"""The distinct values of a group, and how often each comes.  Nulls are skipped; NaN is one value, and -0.0 is 0.0."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from gpuetl.expressions.functions.aggregates import compared, of_texts, with_texts
from gpuetl.expressions.functions.function import Function, Rule, TypeMismatch, Typing, check_between
from gpuetl.expressions.ir import Expr
from gpuetl.types.data_types import FLOAT64, INT64, NULL

Aggregate = partial(Function, kind="aggregate", nulls="own")
MOST_VALUES = (1 << 31) - 1


def counted(args: Sequence[Expr]) -> Typing:
    """Any type that is compared, as keys of a map."""
    if args[0].dtype == NULL:
        raise TypeMismatch("takes values, got null", "Write CAST(x AS string), or another type.")
    return [args[0].dtype], pa.map_(args[0].dtype, INT64)


def values(args: Sequence[Expr]) -> Typing:
    """Any type that is compared, as elements of a list."""
    types, dtype = compared(args)
    return types, pa.list_(dtype)


def measured(args: Sequence[Expr]) -> Typing:
    """Any type that is compared."""
    return compared(args)[0], FLOAT64


def some_of(parameters: int) -> Rule:
    """Return the rule of so many parameters that are compared, and of how many values to list."""

    def rule(args: Sequence[Expr]) -> Typing:
        check_between(args[parameters], "number of values", 1, MOST_VALUES)
        types, dtype = compared(args[:parameters])
        return [*types, INT64], pa.list_(dtype)

    return rule


KNOWN, BOTH_KNOWN = "FILTER (WHERE x IS NOT NULL)", "FILTER (WHERE x IS NOT NULL AND y IS NOT NULL)"

FUNCTIONS = (
    Aggregate("histogram", "x", counted, "A map of the distinct values, ascending, to how often each comes; null of no values.",
              "map_values(histogram(x))", [2, 1]),
    Aggregate("entropy", "x", measured, "The entropy of the distinct values in bits: the sum of p·log2(1 / p); 0 of no values.",
              "entropy(x)", 0.9182958340544896, nested=True, rewrite=of_texts),
    Aggregate("approx_top_k", "x k!", some_of(1), "A list of the k most frequent values, exact, in the order of `values_by_frequency`.",
              "approx_top_k(x, 1)", [1], nested=True, definition="list_slice(values_by_frequency(x), 1, k)"),
    Aggregate("values_by_frequency", "x", values, "A list of the distinct values, the most frequent first, of those that tie the least; "
              "null of no values.", "values_by_frequency(x)", [1, 2], nested=True, rewrite=with_texts),
    Aggregate("min_n", "x n!", some_of(1), "`min(x, n)`: a list of the n least values, ascending; null of no values.", "min(x, 2)",
              [1, 1], nested=True, definition=f"list_slice(array_agg(x ORDER BY x) {KNOWN}, 1, n)"),
    Aggregate("max_n", "x n!", some_of(1), "`max(x, n)`: a list of the n greatest values, descending; null of no values.", "max(x, 2)",
              [2, 1], nested=True, definition=f"list_slice(array_agg(x ORDER BY x DESC) {KNOWN}, 1, n)"),
    Aggregate("min_by_n", "x y n!", some_of(2), "`min_by(x, y, n)`: a list of x of the n rows where y is least; rows where x or y is null "
              "are skipped; of rows that tie, the least x first.", "min_by(x, -x, 2)", [2, 1], nested=True,
              definition=f"list_slice(array_agg(x ORDER BY y, x) {BOTH_KNOWN}, 1, n)"),
    Aggregate("max_by_n", "x y n!", some_of(2), "`max_by(x, y, n)`: a list of x of the n rows where y is greatest, as in `min_by`.",
              "max_by(x, -x, 2)", [1, 1], nested=True, definition=f"list_slice(array_agg(x ORDER BY y DESC, x) {BOTH_KNOWN}, 1, n)"),
)  # fmt: skip
"""The examples are over x = 1, 1, 2, null, in the order of x."""

COUNTED: dict[tuple[str, int], str] = {
    **{(name, 2): f"{name}_n" for name in ("min", "max")},
    **{(alias, 3): f"{alias.replace('arg', '').strip('_')}_by_n" if alias.startswith("arg") else f"{alias}_n"
       for alias in ("min_by", "max_by", "arg_min", "arg_max", "argmin", "argmax")},
}  # fmt: skip
"""Functions that give lists where they are told how many values."""
COUNTED_NAMES = {name: written for (written, _), name in reversed(COUNTED.items())}
"""What users write for these."""
