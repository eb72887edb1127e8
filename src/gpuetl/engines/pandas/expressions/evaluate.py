"""Typed expressions on Arrow columns.  A value is a column of the frame's length, or a scalar."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import EMPTY_LIST, OVERFLOW, NoResult
from gpuetl.engines.pandas.columns.column import Column as Values
from gpuetl.engines.pandas.columns.column import Masked, repeated, take_or_null, whole
from gpuetl.engines.pandas.columns.lists import Elements, lists_of
from gpuetl.engines.pandas.expressions.casts import cast_value
from gpuetl.engines.pandas.expressions.functions import SCALARS
from gpuetl.engines.pandas.expressions.text_sizes import check_sizes
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import (
    Call,
    Cast,
    Column,
    Expr,
    Lambda,
    Literal,
    can_fail,
    columns_of,
    element_column,
    over_elements,
)
from gpuetl.expressions.nested_casts import nested_cast
from gpuetl.expressions.syntax import STRUCT
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.types.data_types import NULL
from gpuetl.types.nested_types import is_nested

TYPED = (STRUCT, "list_value", "list_concat", "list_zipped", "map", "map_concat")
"""Functions whose handlers take the type of the result first: their arguments may be none, or do not say it."""


def evaluate_column(expr: Expr, frame: pa.Table) -> Values:
    """Return the expression's value as a column of the frame's length and the expression's type.

    Raises
    ------
    EvaluationError
        Where a value has no result, naming the expression, the row and the values.
    """
    value = evaluate(expr, frame)
    if isinstance(value, pa.Scalar):
        return repeated(value, frame.num_rows)
    return value


@singledispatch
def evaluate(expr: Expr, frame: pa.Table) -> Any:
    """Return the value of an expression."""
    raise NotImplementedError(f"the pandas backend cannot evaluate {type(expr).__name__}")


@evaluate.register
def column_value(expr: Column, frame: pa.Table) -> Any:
    """Look the column up."""
    return frame.column(expr.name)


@evaluate.register
def literal_value(expr: Literal, frame: pa.Table) -> Any:
    """Make a scalar."""
    return pa.scalar(expr.value, expr.dtype)


@evaluate.register
def cast_of(expr: Cast, frame: pa.Table) -> Any:
    """Convert, exactly where the user asked for it; nested values part by part."""
    if (is_nested(expr.operand.dtype) or is_nested(expr.dtype)) and expr.operand.dtype != expr.dtype:
        return evaluate(nested_cast(expr.operand, expr.dtype, expr.lenient, expr.implicit), frame)
    value = evaluate(expr.operand, frame)
    return checked(lambda v: cast_value(v, expr.dtype, expr.lenient, expr.implicit), [value], expr)


@evaluate.register
def call_value(expr: Call, frame: pa.Table) -> Any:
    """Apply the function's handler; CASE and COALESCE look at their operands themselves."""
    if lazy := {"case": first_true_branch, "coalesce": first_valid}.get(expr.function.name):
        return lazy(expr, frame)
    if expr.function.expansion:
        return evaluate(expr.function.expansion(expr), frame)
    if folds := {"list_transform": transformed_lists, "list_reduce": reduced_lists}.get(expr.function.name):
        return folds(expr, frame)
    if expr.function.nulls == "propagate" and any(argument.dtype == NULL for argument in expr.args):
        return pa.scalar(None, expr.dtype)

    def handler(*values: Any) -> Any:
        typed = (expr.dtype, *values) if expr.function.name in TYPED else values
        result = SCALARS[expr.function.name](*typed)
        return result if result.type == expr.dtype else pc.cast(result, expr.dtype)

    values = [evaluate(argument, frame) for argument in expr.args]
    check_sizes(expr, values)
    return checked(handler, values, expr)


def transformed_lists(expr: Call, frame: pa.Table) -> Any:
    """Compute a lambda over the elements of lists, beside the columns of their rows that it reads."""
    value, function = evaluate(expr.args[0], frame), expr.args[1]
    assert isinstance(function, Lambda)
    read = sorted(columns_of(function.body))
    alone = isinstance(value, pa.Scalar) and not read
    lists = whole(repeated(value, 1 if alone else frame.num_rows) if isinstance(value, pa.Scalar) else value)
    elements = Elements.of(lists)
    rows = pa.array(elements.rows)
    places = np.arange(len(rows)) - elements.parts.starts[elements.rows] + 1
    columns = {name: frame.column(name).take(rows) for name in read}
    for variable, values in zip(function.parameters, (elements.values, pa.array(places)), strict=False):
        columns[element_column(variable.name)] = values
    try:
        found = whole(evaluate_column(over_elements(function), pa.table(columns)))
    except NoResult as error:
        raise error.in_row(None if error.row is None or alone else int(elements.rows[error.row])) from None
    result = lists_of(found, elements.parts.lengths, elements.valid)
    return result[0] if alone else result


def reduced_lists(expr: Call, frame: pa.Table) -> Any:
    """Compute a lambda over the value so far and the next element, of all lists that have one, place by place."""
    source, function, *initial = expr.args
    assert isinstance(function, Lambda)
    elements = Elements.of(whole(evaluate_column(source, frame)))
    lengths, start = elements.parts.lengths, int(not initial)
    if not initial and (empty := np.flatnonzero(elements.valid & (lengths == 0))).size:
        row = int(empty[0]) if columns_of(expr) else None
        raise NoResult(expr, row, [pa.scalar([], source.dtype)], EMPTY_LIST)
    read = frame.select(sorted(columns_of(function.body)))
    rows = np.flatnonzero(elements.valid if initial else lengths > 0)
    if initial:
        value = whole(evaluate_column(initial[0], frame)).take(pa.array(rows))
    else:
        value = elements.values.take(pa.array(elements.parts.starts[rows])).cast(expr.dtype)
    pieces, done = [pa.nulls(1, expr.dtype)], np.zeros(elements.count, np.int64)
    for step in itertools.count(start):
        more = lengths[rows] > step
        done[rows[~more]] = sum(map(len, pieces)) + np.arange(np.count_nonzero(~more))
        pieces.append(value.filter(pa.array(~more)))
        rows, value = rows[more], value.filter(pa.array(more))
        if not len(rows):
            return pa.concat_arrays(pieces).take(pa.array(done))
        following = elements.values.take(pa.array(elements.parts.starts[rows] + step))
        places = pa.array(np.full(len(rows), step + 1))
        columns = {name: read.column(name).take(pa.array(rows)) for name in read.column_names}
        for variable, values in zip(function.parameters, (value, following, places), strict=False):
            columns[element_column(variable.name)] = values
        try:
            value = whole(evaluate_column(over_elements(function), pa.table(columns)))
        except NoResult as error:
            constant = error.row is None or not columns_of(expr)
            raise error.in_row(None if constant else int(rows[error.row])) from None
    raise AssertionError


def checked(handler: Callable[..., Any], values: Sequence[Any], expr: Expr) -> Any:
    """Call the handler; where it fails, find the first row that makes it fail."""
    try:
        return handler(*values)
    except (pa.ArrowInvalid, EvaluationError) as error:
        row, found = first_failure(handler, values)
        why = failure(handler, found) or error  # Arrow may have met another row first
        raise NoResult(expr, row, found, why.what if isinstance(why, EvaluationError) else OVERFLOW) from None
    except pa.ArrowCapacityError:
        what = coded("GE2008", f"{shown_sql(expr)} makes more than 2 GiB of text in one partition")
        raise EvaluationError(what, "Run with fewer rows a partition: --partition-rows.") from None


def first_failure(handler: Callable[..., Any], values: Sequence[Any]) -> tuple[int | None, list[Any]]:
    """Halve the rows until the first one that fails is left."""
    columns = [value for value in values if not isinstance(value, pa.Scalar)]
    if not columns or not len(columns[0]):
        return None, list(values)
    low, high = 0, len(columns[0])
    while high - low > 1:
        middle = (low + high) // 2
        if failure(handler, [_slice(value, low, middle) for value in values]):
            high = middle
        else:
            low = middle
    return low, [value if isinstance(value, pa.Scalar) else value[low] for value in values]


def failure(handler: Callable[..., Any], values: Sequence[Any]) -> Exception | None:
    """Return what the handler raises for these values, if it does."""
    try:
        handler(*values)
    except (pa.ArrowInvalid, EvaluationError) as error:
        return error
    return None


def _slice(value: Any, start: int, stop: int) -> Any:
    return value if isinstance(value, pa.Scalar) else value.slice(start, stop - start)


def first_true_branch(expr: Call, frame: pa.Table) -> Any:
    """CASE: each row takes the first branch whose condition is true; what can fail sees only its rows."""
    pairs = [(expr.args[i], expr.args[i + 1]) for i in range(0, len(expr.args) - 1, 2)]
    rest: Expr = expr.args[-1] if len(expr.args) % 2 else Literal(None, expr.dtype)
    condition_rows: list[Any] = []
    left = pa.scalar(True)
    for condition, _ in pairs:
        true = pc.and_(left, pc.fill_null(branch_value(condition, frame, left), False))
        left = pc.and_not(left, true)
        condition_rows.append(true)
    result = branch_value(rest, frame, left)
    for (_, value), rows in zip(reversed(pairs), reversed(condition_rows), strict=True):
        result = pc.if_else(rows, branch_value(value, frame, rows), result)
    return result


def first_valid(expr: Call, frame: pa.Table) -> Any:
    """COALESCE: each row takes the first operand that is not null there; what can fail sees only rows still null."""
    result = evaluate(expr.args[0], frame)
    for operand in expr.args[1:]:
        result = pc.coalesce(result, branch_value(operand, frame, pc.is_null(result)))
    return result


def branch_value(expr: Expr, frame: pa.Table, rows: Any) -> Any:
    """Return a branch's values; where it can fail, only the rows that take it are computed, the others are null.

    So a constant without a result fails where a row takes it, or where the branch is every row's.
    """
    if not can_fail(expr) or (isinstance(rows, pa.Scalar) and rows.as_py()):
        return evaluate(expr, frame)
    mask = whole(repeated(rows, frame.num_rows) if isinstance(rows, pa.Scalar) else rows)
    if not pc.any(mask).as_py():
        return pa.scalar(None, expr.dtype)
    try:
        values = evaluate_column(expr, frame.filter(mask))
    except NoResult as error:
        row = None if error.row is None else pc.indices_nonzero(mask)[error.row].as_py()
        raise error.in_row(row) from None
    condition_rows = mask.to_numpy(zero_copy_only=False)
    return take_or_null(values, Masked(np.cumsum(condition_rows) - condition_rows, condition_rows))
