"""Aggregate: Acero's grouped aggregation on key codes, guarded where its rules are not the contract's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.backends.pandas.columns import canonical, from_masked, to_masked, whole
from gpuetl.backends.pandas.decimals import halves
from gpuetl.backends.pandas.evaluate import evaluate_column
from gpuetl.backends.pandas.keys import Groups, encode_keys
from gpuetl.backends.pandas.operation import run_operation
from gpuetl.backends.pandas.segments import Masked
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import Call
from gpuetl.expressions.types import FLOAT64, INT64, is_floating
from gpuetl.plan.nodes import Aggregate

MAX_DIGITS = 38
WIDE = pa.decimal128(MAX_DIGITS, 0)


@run_operation.register
def aggregate_groups(operation: Aggregate, frame: pa.Table) -> pa.Table:
    """Compute one row a group, in order of first appearance; without keys there is always one.

    Raises
    ------
    EvaluationError
        Where a sum leaves its type.
    """
    groups = encode_keys([frame.column(name) for name in operation.by], frame.num_rows)
    if not operation.by and groups.count == 0:
        groups = Groups(groups.codes, np.zeros(1, np.int64))
    rows = pa.array(groups.first_rows)
    columns = {name: whole(frame.column(name)).take(rows) for name in operation.by}
    for name, call in operation.calls.items():
        columns[name] = named_result(name, call, frame, groups)
    return pa.table(columns, schema=operation.schema.to_arrow())


def named_result(name: str, call: Call, frame: pa.Table, groups: Groups) -> Any:
    """Compute one call for each group; an error says which column."""
    values = [whole(evaluate_column(argument, frame)) for argument in call.args]
    try:
        result = AGGREGATES[call.function.name](groups, *values)
    except (pa.ArrowInvalid, EvaluationError) as error:
        raise EvaluationError(f"column '{name.partition(':')[0]}': {call.function.name}: {error}") from None
    return result if result.type == call.dtype else result.cast(call.dtype)


def grouped(groups: Groups, values: Any, function: str, options: Any = None) -> Any:
    """Run one of Acero's hash aggregates, on one thread so that float sums repeat bit by bit."""
    table = pa.table({"code": groups.codes, "value": values})
    result = table.group_by("code", use_threads=False).aggregate([("value", function, options)])
    if result.num_rows < groups.count:  # no rows and no keys: the one group is empty
        return pa.nulls(groups.count, result.column(f"value_{function}").type)
    return whole(result.column(f"value_{function}"))


def count_rows(groups: Groups) -> Any:
    """Count each group's rows."""
    return pa.array(np.bincount(groups.codes, minlength=groups.count))


def count_values(groups: Groups, values: Any) -> Any:
    """Count each group's values that are not null."""
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    return pa.array(np.bincount(groups.codes[valid], minlength=groups.count))


def count_distinct(groups: Groups, values: Any) -> Any:
    """Count each group's distinct values that are not null; NaN is one, and -0.0 is 0.0."""
    valid = values.is_valid()
    kept = encode_keys([pa.array(groups.codes).filter(valid), values.filter(valid)], pc.sum(valid).as_py() or 0)
    return pa.array(
        np.bincount(groups.codes[valid.to_numpy(zero_copy_only=False)][kept.first_rows], minlength=groups.count)
    )


def total(groups: Groups, values: Any) -> Any:
    """Sum each group's values; integers exactly, whatever the order."""
    if pa.types.is_duration(values.type):
        return total(groups, values.cast(INT64)).cast(values.type)
    if values.type == INT64 and not fits_int64(values):
        return wide_total(groups, values).cast(INT64)
    if pa.types.is_decimal(values.type):
        return decimal_total(groups, values)
    return grouped(groups, values, "sum")


def decimal_total(groups: Groups, values: Any) -> Any:
    """Sum decimals; in 76 digits where 38 might not hold the sum, since Acero wraps there and the cast raises."""
    digits, scale = values.type.precision, values.type.scale
    if digits + len(str(len(values))) <= MAX_DIGITS:
        return grouped(groups, values, "sum")
    total = grouped(groups, values.cast(pa.decimal256(2 * MAX_DIGITS, scale)), "sum")
    return total.cast(pa.decimal128(MAX_DIGITS, scale))


def fits_int64(values: Any) -> bool:
    """Tell whether no sum of any of the values can leave int64."""
    limits = pc.min_max(values).as_py()
    greatest = max(abs(limits["min"] or 0), abs(limits["max"] or 0))
    return bool(greatest * len(values) < 1 << 63)


def wide_total(groups: Groups, values: Any) -> Any:
    """Sum integers, or durations in microseconds, in 38 decimal digits."""
    if pa.types.is_duration(values.type):
        values = values.cast(INT64)
    if fits_int64(values):
        return grouped(groups, values, "sum").cast(WIDE)
    return grouped(groups, values.cast(WIDE), "sum")


def half_total(which: int) -> Callable[[Groups, Any], Any]:
    """Return the handler that sums the high (0) or the low (1) halves of decimals."""
    return lambda groups, values: grouped(groups, halves(values)[which], "sum")


def least(groups: Groups, values: Any) -> Any:
    """The least value; Acero skips NaN where there is another value, as the contract does."""
    return extreme(groups, values, "min")


def greatest(groups: Groups, values: Any) -> Any:
    """The greatest value; NaN if any is, which Acero skips."""
    result = extreme(groups, values, "max")
    if not is_floating(values.type) or not pc.any(pc.is_nan(values)).as_py():
        return result
    any_nan = grouped(groups, pc.is_nan(values), "any")
    return pc.if_else(pc.fill_null(any_nan, False), pa.scalar(float("nan"), values.type), result)


def extreme(groups: Groups, values: Any, function: str) -> Any:
    """Acero's least or greatest value; durations, for which it has none, as integers."""
    if pa.types.is_duration(values.type):
        return grouped(groups, values.cast(INT64), function).cast(values.type)
    return grouped(groups, canonical(values), function)


def truth(function: str) -> Callable[[Groups, Any], Any]:
    """Return the handler of `any` or `all`: null where the group has no value."""
    options = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
    return lambda groups, values: grouped(groups, values, function, options)


def spread(function: str) -> Callable[[Groups, Any], Any]:
    """Return the handler of the sample variance or deviation: null where the group has fewer than two values."""
    options = pc.VarianceOptions(ddof=1, min_count=2)
    return lambda groups, values: grouped(groups, values, function, options)


def mean(groups: Groups, values: Any) -> Any:
    """The mean of float64 values."""
    return grouped(groups, values, "mean")


def median(groups: Groups, values: Any) -> Any:
    """The exact median: the middle of the sorted values, NaN greatest."""
    masked = to_masked(canonical(values))
    codes, kept = groups.codes[masked.valid], masked.values[masked.valid]
    order = np.lexsort((kept, codes))
    kept = kept[order]
    sizes = np.bincount(codes, minlength=groups.count)
    starts = np.cumsum(sizes) - sizes
    valid = sizes > 0
    low, high = starts + np.maximum(sizes - 1, 0) // 2, starts + sizes // 2
    padded = np.append(kept, 0.0)
    with np.errstate(invalid="ignore"):
        middle = padded[np.where(valid, low, 0)] / 2 + padded[np.where(valid, high, 0)] / 2
    middle = np.where(low == high, padded[np.where(valid, low, 0)], middle)
    return from_masked(Masked(middle, valid), FLOAT64)


AGGREGATES: dict[str, Callable[..., Any]] = {
    "count_rows": count_rows,
    "count": count_values,
    "count_distinct": count_distinct,
    "sum": total,
    "wide_sum": wide_total,
    "high_sum": half_total(0),
    "low_sum": half_total(1),
    "mean": mean,
    "min": least,
    "max": greatest,
    "var": spread("variance"),
    "std": spread("stddev"),
    "median": median,
    "any": truth("any"),
    "all": truth("all"),
}
