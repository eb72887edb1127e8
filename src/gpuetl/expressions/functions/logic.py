"""Comparison, three-valued logic, conditions and nulls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, anything, fixed
from gpuetl.expressions.functions.meeting import meet, mixed
from gpuetl.expressions.functions.nested_comparison import compared_anyhow, null_unless_equal, of_parts
from gpuetl.expressions.functions.nested_elements import extreme
from gpuetl.expressions.ir import Expr
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, NULL, STRING, can_compare, type_name, value_kinds


def connected(args: Sequence[Expr]) -> Typing:
    """Booleans, any number of them."""
    return fixed(*[BOOL] * len(args), returns=BOOL)(args)


def branches(args: Sequence[Expr]) -> Typing:
    """Pairs of a condition and a value, then the value for the rest, if there is one."""
    pairs = len(args) // 2
    for condition in args[: 2 * pairs : 2]:
        if condition.dtype not in (BOOL, NULL):
            raise TypeMismatch(coded("GE1117", f"takes a condition after WHEN, got {type_name(condition.dtype)}"))
    values = [*args[1 : 2 * pairs : 2], *args[2 * pairs :]]
    dtype = meet(values, "mix")
    return [*[BOOL, dtype] * pairs, *[dtype] * (len(args) % 2)], dtype


def ordered(args: Sequence[Expr]) -> Typing:
    """Arguments that meet in one type, whose values are compared."""
    types, dtype = mixed(args)
    if not can_compare(dtype):
        raise TypeMismatch(coded("GE1115", f"does not take {value_kinds(dtype)}"), "Such values are only passed on.")
    return types, dtype


def bins(args: Sequence[Expr]) -> Typing:
    """What is compared, a list of breaks and one of labels: a CASE takes its place before it is typed."""
    return [arg.dtype for arg in args], STRING


Comparison = partial(Function, nested=True, rewrite=of_parts)

FUNCTIONS = (
    Comparison("equal", "x y", compared_anyhow, "`x = y`.", "1 = 1", True),
    Comparison("not_equal", "x y", compared_anyhow, "`x <> y`.", "1 <> 1", False),
    Comparison("less", "x y", compared_anyhow, "`x < y`.", "1 < 2", True),
    Comparison("less_equal", "x y", compared_anyhow, "`x <= y`.", "2 <= 1", False),
    Comparison("greater", "x y", compared_anyhow, "`x > y`.", "2 > 1", True),
    Comparison("greater_equal", "x y", compared_anyhow, "`x >= y`.", "1 >= 2", False),
    Comparison("is_distinct", "x y", compared_anyhow, "`x IS DISTINCT FROM y`: `<>` where null is a value; never null.",
             "1 IS DISTINCT FROM NULL", True, nulls="own"),
    Comparison("is_not_distinct", "x y", compared_anyhow, "`x IS NOT DISTINCT FROM y`: `=` where null is a value; never null.",
             "NULL IS NOT DISTINCT FROM NULL", True, nulls="own"),
    Comparison("in", "x value more*", compared_anyhow, "`x IN (…)`: null if x is null, or if it is not found and a value is null.",
             "2 IN (1, 2)", True, nulls="own"),
    Function("and", "x y more*", connected, "Kleene AND: false and null is false.  Both sides are computed for every "
             "row: an error in one is not hidden by the other.  To guard a cast, write `CASE` or `TRY_CAST`.",
             "false AND NULL", False, nulls="own"),
    Function("or", "x y more*", connected, "Kleene OR: true or null is true.  Both sides are computed for every row, "
             "as of `and`.", "true OR NULL", True, nulls="own"),
    Function("not", "x", connected, "Kleene NOT: null of null.", "NOT false", True),
    Function("is_null", "x", anything(BOOL), "`x IS NULL`; NaN is not null.", "NULL IS NULL", True, nulls="own",
             nested=True),
    Function("case", "condition value more*", branches,
             "`CASE WHEN condition THEN value … ELSE value END`: the first branch whose condition is true, else null.  "
             "`if(condition, value, otherwise)` is short for it.",
             "CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END", "b", nulls="own", nested=True),
    Function("cut", "x breaks! labels?! left_closed?!", bins,
             "The label of the bin of x, where `breaks`, a list of constants, ascend: n breaks make n + 1 bins.  A break belongs to "
             "the bin below it, or, with `left_closed`, to the one above.  Without labels, a bin is a text such as `(0, 10]`.  "
             "NaN is in the last bin.",
             "cut(12, [0, 10], ['low', 'middle', 'high'])", "high", definition="CASE WHEN x <= 0 THEN '' END"),
    Function("coalesce", "x more*", mixed, "The first value that is not null; what can fail is computed only for rows "
             "that are still null.", "coalesce(NULL, 2, 3)", 2, nulls="own", nested=True),
    Comparison("nullif", "x y", null_unless_equal, "Null where x equals y, else x.", "nullif(1, 1)", None, nulls="own"),
    Function("greatest", "x more*", ordered, "The greatest value that is not null; NaN is the greatest.",
             "greatest(1, NULL, 3)", 3, nulls="own", nested=True, rewrite=extreme),
    Function("least", "x more*", ordered, "The least value that is not null; NaN is the greatest.",
             "least(1, NULL, 3)", 1, nulls="own", nested=True, rewrite=extreme),
)  # fmt: skip
