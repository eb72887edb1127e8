"""Join: equal keys get equal codes; each left row takes the right rows of its code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.backends.pandas.columns import arange, whole
from gpuetl.backends.pandas.gather import take_or_null, take_rows
from gpuetl.backends.pandas.keys import encode_keys
from gpuetl.backends.pandas.operation import run_operation
from gpuetl.backends.pandas.segments import Masked
from gpuetl.errors import EvaluationError
from gpuetl.expressions.types import common_type
from gpuetl.plan.nodes import Join

Ints = NDArray[np.int64]
MAX_ROWS = (1 << 31) - 1


@run_operation.register
def join_tables(operation: Join, left: pa.Table, right: pa.Table) -> pa.Table:
    """Join two frames; rows come in the order of the left ones, then of the right ones.

    Raises
    ------
    EvaluationError
        Where `validate` is broken, or the result would have 2^31 rows or more.
    """
    left_codes, right_codes = joint_codes(operation, left, right)
    check_unique(operation, left_codes, right_codes)
    by_code = np.argsort(right_codes, kind="stable")
    by_code = by_code[right_codes[by_code] >= 0]
    count = int(max(left_codes.max(initial=-1), right_codes.max(initial=-1))) + 1
    sizes = np.bincount(right_codes[by_code], minlength=count + 1)  # the last, empty one is for code -1
    starts = np.cumsum(sizes) - sizes
    matches = sizes[left_codes]
    left_rows, right_rows = matching_rows(operation, matches, starts[left_codes], by_code)
    payload = [name for name in operation.schema if name not in left.column_names]
    kept = left if left_rows is None else take_rows(left, left_rows)
    columns = dict(zip(kept.column_names, kept.columns, strict=True))
    columns |= {name: take_or_null(right.column(name), right_rows) for name in payload}
    return pa.table(columns, schema=operation.schema.to_arrow())


def joint_codes(operation: Join, left: pa.Table, right: pa.Table) -> tuple[Ints, Ints]:
    """Number the keys of both sides together; -1 for a key with a null, which matches nothing."""
    pairs = list(zip(operation.left_on, operation.right_on, strict=True))
    keys = [both_sides(left.column(a), right.column(b)) for a, b in pairs]
    codes = encode_keys(keys, left.num_rows + right.num_rows).codes
    if not operation.nulls_equal:
        for key in keys:
            if key.null_count:
                codes = np.where(key.is_valid().to_numpy(zero_copy_only=False), codes, -1)
    return codes[: left.num_rows], codes[left.num_rows :]


def both_sides(left: Any, right: Any) -> Any:
    """Put two key columns below each other, in the type in which they meet."""
    dtype = common_type(left.type, right.type)
    return pa.concat_arrays([whole(pc.cast(left, dtype)), whole(pc.cast(right, dtype))])


def check_unique(operation: Join, left_codes: Ints, right_codes: Ints) -> None:
    """Check what `validate` promises of each side's keys."""
    for side, codes, checked in (
        ("left", left_codes, ("one_to_one", "one_to_many")),
        ("right", right_codes, ("one_to_one", "many_to_one")),
    ):
        kept = codes[codes >= 0]
        if operation.validate in checked and len(kept) and np.bincount(kept).max() > 1:
            on = operation.left_on if side == "left" else operation.right_on
            row = int(np.flatnonzero(codes == np.bincount(kept).argmax())[1])
            raise EvaluationError(
                f"the join is not {operation.validate}: {', '.join(on)} repeats on the {side} side, "
                f"again in row {row}.  Make the keys distinct, or relax validate"
            )


def matching_rows(operation: Join, matches: Ints, starts: Ints, by_code: Ints) -> tuple[Ints | None, Masked]:
    """Return the left and right row numbers of the result.

    A left row without a match has no right one; None stands for every left row once, in order.
    """
    repeats = np.maximum(matches, 1) if operation.how == "left" else matches
    total = int(repeats.sum())
    if total > MAX_ROWS:
        raise EvaluationError(
            f"the join would have {total:,} rows, more than {MAX_ROWS:,}.  Check its keys: each side repeats them"
        )
    left_rows = None if bool((repeats == 1).all()) else np.repeat(arange(len(matches)), repeats)
    offset = arange(total) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    found = np.repeat(matches > 0, repeats)
    position = np.where(found, np.repeat(starts, repeats) + offset, 0)
    right_rows = by_code[position] if len(by_code) else np.zeros(total, np.int64)
    return left_rows, Masked(right_rows, found)
