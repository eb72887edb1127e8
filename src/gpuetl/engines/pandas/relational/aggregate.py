"""Aggregate: rows reduced into their group's place, by key codes; strings and decimals by Acero's aggregation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import (
    Masked,
    canonical,
    from_masked,
    greatest_of,
    has_numbers,
    least_of,
    to_masked,
    whole,
    with_column,
)
from gpuetl.engines.pandas.columns.keys import Groups, encode_column, encode_keys
from gpuetl.engines.pandas.expressions.means import decimal_limbs, integer_limbs, nearest_floats, nearest_integers
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.engines.pandas.relational.aggregate_distributions import DISTRIBUTIONS
from gpuetl.engines.pandas.relational.aggregate_lists import array_agg, of_distinct, string_agg
from gpuetl.engines.pandas.relational.aggregate_moments import MOMENTS
from gpuetl.engines.pandas.relational.aggregate_picks import (
    cell,
    first_value,
    last_value,
    mad,
    median,
    quantile,
    quantile_disc,
    value_of_greatest,
    value_of_least,
)
from gpuetl.engines.pandas.relational.aggregate_sketches import SKETCHES
from gpuetl.engines.pandas.relational.aggregate_sums import SUMS, VARIANCES, decimal_sums, total_integers
from gpuetl.engines.pandas.relational.grouping import GroupedRows, grouped, reduced
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import Call
from gpuetl.plan.nodes import Aggregate, GroupWindow
from gpuetl.threads import in_threads
from gpuetl.types.data_types import DURATION, FLOAT64, INT64
from gpuetl.types.decimal_types import is_decimal

Handler = Callable[[GroupedRows, Call], Any]


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
    columns = {name: canonical(whole(frame.column(name)).take(first_rows)) for name in operation.kept}
    columns |= results_of(operation, frame, groups)
    return pa.table(columns, schema=operation.schema.to_arrow())


@run_operation.register
def aggregate_whole_groups(operation: GroupWindow, frame: pa.Table) -> pa.Table:
    """Add each call's result for a row's group; rows stay in place.

    Raises
    ------
    EvaluationError
        Where a sum leaves its type.
    """
    groups = encode_keys([frame.column(name) for name in operation.by], frame.num_rows)
    codes = pa.array(groups.codes)
    for name, result in results_of(operation.aggregate, frame, groups).items():
        frame = with_column(frame, name, whole(result).take(codes))
    return frame


def results_of(operation: Aggregate, frame: pa.Table, groups: Groups) -> dict[str, Any]:
    """Return each call's values, one a group."""
    rows = GroupedRows(operation, frame, groups)
    results = in_threads(lambda item: named_result(*item, rows), operation.calls.items())
    return dict(zip(operation.calls, results, strict=True))


def named_result(name: str, call: Call, rows: GroupedRows) -> Any:
    """Compute one call for each group; an error says which column."""
    try:
        result = AGGREGATES[call.function.name](rows, call)
    except EvaluationError as error:
        raise EvaluationError.of_column(name, error) from None
    return result if result.type == call.dtype else result.cast(call.dtype)


def count_rows(groups: Groups) -> Any:
    """Count each group's rows."""
    return pa.array(np.bincount(groups.codes, minlength=groups.count))


def count_values(groups: Groups, values: Any) -> Any:
    """Count each group's values that are not null."""
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    return pa.array(np.bincount(groups.codes[valid], minlength=groups.count))


def count_distinct(groups: Groups, *columns: Any) -> Any:
    """Count each group's distinct values that are not null; NaN is one, and -0.0 is 0.0.  Of several columns, rows."""
    valid = columns[0].is_valid()
    for column in columns[1:]:
        valid = pc.and_(valid, column.is_valid())
    codes = groups.codes[valid.to_numpy(zero_copy_only=False)]
    if len(columns) == 1:
        own, size = encode_column(columns[0].filter(valid))
    else:
        keys = encode_keys([column.filter(valid) for column in columns], len(codes))
        own, size = keys.codes, max(keys.count, 1)
    pairs = np.sort(codes * size + own)
    new = np.append(np.ones(min(1, len(pairs)), bool), pairs[1:] != pairs[:-1])
    return pa.array(np.bincount(pairs[new] // size, minlength=groups.count))


def count_true(groups: Groups, values: Any) -> Any:
    """Count each group's true values."""
    true = values.fill_null(False).to_numpy(zero_copy_only=False)
    return pa.array(np.bincount(groups.codes[true], minlength=groups.count))


def least(groups: Groups, values: Any) -> Any:
    """The least value, NaN only where all are; of booleans, whether all are true."""
    if not has_numbers(values.type):
        return grouped(groups, values, "min")
    masked = to_masked(canonical(values))
    return from_masked(reduced(groups, masked, np.fmin, greatest_of(masked.values.dtype)), values.type)


def greatest(groups: Groups, values: Any) -> Any:
    """The greatest value, NaN if any is; of booleans, whether any is true."""
    if not has_numbers(values.type):
        return grouped(groups, values, "max")
    masked = to_masked(canonical(values))
    return from_masked(reduced(groups, masked, np.maximum, least_of(masked.values.dtype)), values.type)


def product(groups: Groups, values: Any) -> Any:
    """The product of float64s, one after the other."""
    return from_masked(reduced(groups, to_masked(canonical(values)), np.multiply, 1.0), FLOAT64)


def bits(function: np.ufunc, neutral: int) -> Callable[[Groups, Any], Any]:
    """Return the handler that combines the bits of integers, of which those of `neutral` change none."""

    def handler(groups: Groups, values: Any) -> Any:
        masked = to_masked(values)
        own = np.array(neutral, np.int64).astype(masked.values.dtype)
        return from_masked(reduced(groups, masked, function, own), values.type)

    return handler


def mean(groups: Groups, values: Any) -> Any:
    """The mean: of floats their sum by their count, of others the nearest float64 or microsecond to the exact one."""
    counts = count_values(groups, values).to_numpy()
    divisors, found = np.maximum(counts, 1), counts > 0
    if is_decimal(values.type):
        sums = decimal_limbs(decimal_sums(groups, values))
        return from_masked(Masked(nearest_floats(sums, divisors, values.type.scale), found), FLOAT64)
    if values.type == FLOAT64:
        return from_masked(Masked(reduced(groups, to_masked(values), np.add, 0).values / divisors, found), FLOAT64)
    totals = total_integers(groups, values.cast(INT64))
    sums = decimal_limbs(totals) if is_decimal(totals.type) else integer_limbs(to_masked(totals).values)
    if values.type == DURATION:
        return from_masked(Masked(nearest_integers(sums, divisors), found), DURATION)
    return from_masked(Masked(nearest_floats(sums, divisors), found), FLOAT64)


def of_columns(handler: Callable[..., Any]) -> Handler:
    """Return the handler of a function that takes its arguments as columns."""
    return lambda rows, call: handler(rows.groups, *map(rows.argument, call.args))


def of_chunks(handler: Callable[..., Any]) -> Handler:
    """Return the handler of a function that takes its arguments in several chunks where all rows are one group."""
    return lambda rows, call: handler(rows.groups, *map(rows.chunks, call.args))


AGGREGATES: dict[str, Handler] = {
    "count_rows": of_columns(count_rows),
    "count": of_columns(count_values),
    "count_distinct": of_columns(count_distinct),
    "count_if": of_columns(count_true),
    "mean": of_columns(mean),
    "min": of_columns(least),
    "max": of_columns(greatest),
    "any": of_columns(greatest),
    "all": of_columns(least),
    "product": of_columns(product),
    "bitwise_and": of_columns(bits(np.bitwise_and, -1)),
    "bitwise_or": of_columns(bits(np.bitwise_or, 0)),
    "bitwise_xor": of_columns(bits(np.bitwise_xor, 0)),
    "array_agg": array_agg,
    "array_agg_distinct": array_agg,
    "string_agg": string_agg,
    "string_agg_distinct": string_agg,
    "median": median,
    "mad": mad,
    "quantile_disc": quantile_disc,
    "quantile": quantile,
    "cell": cell,
    "first": first_value,
    "last": last_value,
    "arg_min_null": value_of_least,
    "arg_max_null": value_of_greatest,
    **DISTRIBUTIONS,
    **SKETCHES,
    **{name: of_columns(function) for name, function in {**SUMS, **VARIANCES, **MOMENTS}.items()},
    "sum": of_chunks(SUMS["sum"]),
}
AGGREGATES |= of_distinct(AGGREGATES)
