"""Aggregate: rows reduced into their group's place, by key codes; strings and decimals by Acero's aggregation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.backends.pandas.columns import canonical, from_masked, has_numbers, to_masked, whole
from gpuetl.backends.pandas.combines import greatest_of, least_of
from gpuetl.backends.pandas.decimals import halves
from gpuetl.backends.pandas.grouped_rows import GroupedRows, reduced
from gpuetl.backends.pandas.keys import Groups, encode_column, encode_keys
from gpuetl.backends.pandas.moments import MOMENTS
from gpuetl.backends.pandas.operation import run_operation
from gpuetl.backends.pandas.picks import first_value, last_value, value_of_greatest, value_of_least
from gpuetl.backends.pandas.quantiles import median, mode, quantile
from gpuetl.backends.pandas.segments import Masked
from gpuetl.backends.pandas.threads import in_threads
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import Call
from gpuetl.expressions.types import FLOAT64, INT64
from gpuetl.plan.nodes import Aggregate

Handler = Callable[[GroupedRows, Call], Any]

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
    first_rows = pa.array(groups.first_rows)
    columns = {name: whole(frame.column(name)).take(first_rows) for name in operation.by}
    rows = GroupedRows(operation, frame, groups)
    results = in_threads(lambda item: named_result(*item, rows), operation.calls.items())
    columns |= dict(zip(operation.calls, results, strict=True))
    return pa.table(columns, schema=operation.schema.to_arrow())


def named_result(name: str, call: Call, rows: GroupedRows) -> Any:
    """Compute one call for each group; an error says which column."""
    try:
        result = AGGREGATES[call.function.name](rows, call)
    except (pa.ArrowInvalid, EvaluationError) as error:
        raise EvaluationError(f"column '{name.partition(':')[0]}': {call.function.name}: {error}") from None
    return result if result.type == call.dtype else result.cast(call.dtype)


def grouped(groups: Groups, values: Any, function: str, options: Any = None) -> Any:
    """Run one of Acero's hash aggregates, on one thread so that groups keep their order."""
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
    own, size = encode_column(values.filter(valid))
    pairs = np.sort(groups.codes[valid.to_numpy(zero_copy_only=False)] * size + own)
    new = np.append(np.ones(min(1, len(pairs)), bool), pairs[1:] != pairs[:-1])
    return pa.array(np.bincount(pairs[new] // size, minlength=groups.count))


def count_true(groups: Groups, values: Any) -> Any:
    """Count each group's true values."""
    true = values.fill_null(False).to_numpy(zero_copy_only=False)
    return pa.array(np.bincount(groups.codes[true], minlength=groups.count))


def total(groups: Groups, values: Any) -> Any:
    """Sum each group's values, one after the other; integers exactly, whatever the order."""
    if pa.types.is_duration(values.type):
        return total(groups, values.cast(INT64)).cast(values.type)
    if pa.types.is_decimal(values.type):
        return decimal_total(groups, values)
    if values.type == INT64 and not fits_int64(values):
        return wide_total(groups, values).cast(INT64)
    return from_masked(reduced(groups, to_masked(values), np.add, 0), values.type)


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
        return total(groups, values).cast(WIDE)
    return grouped(groups, values.cast(WIDE), "sum")


def half_total(which: int) -> Callable[[Groups, Any], Any]:
    """Return the handler that sums the high (0) or the low (1) halves of decimals."""
    return lambda groups, values: grouped(groups, halves(values)[which], "sum")


def least(groups: Groups, values: Any) -> Any:
    """The least value, NaN only where all are; of truth values, whether all are true."""
    if not has_numbers(values.type):
        return grouped(groups, values, "min")
    masked = to_masked(canonical(values))
    return from_masked(reduced(groups, masked, np.fmin, greatest_of(masked.values.dtype)), values.type)


def greatest(groups: Groups, values: Any) -> Any:
    """The greatest value, NaN if any is; of truth values, whether any is true."""
    if not has_numbers(values.type):
        return grouped(groups, values, "max")
    masked = to_masked(canonical(values))
    return from_masked(reduced(groups, masked, np.maximum, least_of(masked.values.dtype)), values.type)


def mean(groups: Groups, values: Any) -> Any:
    """The mean of float64 values."""
    x = to_masked(values)
    sums, counts = reduced(groups, x, np.add, 0), np.bincount(groups.codes[x.valid], minlength=groups.count)
    return from_masked(Masked(sums.values / np.maximum(counts, 1), sums.valid), FLOAT64)


def of_columns(handler: Callable[..., Any]) -> Handler:
    """Return the handler of a function that takes its arguments as columns."""
    return lambda rows, call: handler(rows.groups, *map(rows.column, call.args))


AGGREGATES: dict[str, Handler] = {
    "count_rows": of_columns(count_rows),
    "count": of_columns(count_values),
    "count_distinct": of_columns(count_distinct),
    "count_if": of_columns(count_true),
    "sum": of_columns(total),
    "wide_sum": of_columns(wide_total),
    "high_sum": of_columns(half_total(0)),
    "low_sum": of_columns(half_total(1)),
    "mean": of_columns(mean),
    "min": of_columns(least),
    "max": of_columns(greatest),
    "any": of_columns(greatest),
    "all": of_columns(least),
    "mode": mode,
    "median": median,
    "quantile": quantile,
    "first": first_value,
    "last": last_value,
    "min_by": value_of_least,
    "max_by": value_of_greatest,
    **{name: of_columns(function) for name, function in MOMENTS.items()},
}
