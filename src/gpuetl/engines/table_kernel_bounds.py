"""How many rows a kernel may make of a unit, a row, a group or a partition, and the errors where it makes more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.errors import EvaluationError
from gpuetl.messages import coded, recoded
from gpuetl.plan.nodes import KernelTable
from gpuetl.user_kernels.contract import KernelMismatch

MOST_ROWS = 2**31 - 1


def most_rows(operation: KernelTable, sizes: Sequence[int], arguments: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return how many rows units of these sizes may make (int64[units]).

    Raises
    ------
    EvaluationError
        Where that is no number, or the rows of all units may be 2^31 or more.
    """
    distinct, places = np.unique(np.asarray(sizes, np.int64), return_inverse=True)
    try:
        bounds = [operation.most_rows(int(size), arguments) for size in distinct]
    except KernelMismatch as error:
        raise EvaluationError(recoded(f"kernel '{operation.contract.entry}': {error}", error)) from None
    found = np.array([min(bound, MOST_ROWS + 1) for bound in bounds], np.int64)[places]
    check_total(operation, sum(map(int, found)))
    return found


def check_total(operation: KernelTable, total: int) -> None:
    """Refuse a partition whose rows may be 2^31 or more."""
    if total > MOST_ROWS:
        what = f"kernel '{operation.contract.entry}' may make {total:,} rows of a partition, more than {MOST_ROWS:,}"
        raise EvaluationError(coded("GE2008", f"{what}.  Read smaller partitions, or declare fewer: rows"))


def too_many(operation: KernelTable, rows: int, count: int, bound: int, row: int | None) -> EvaluationError:
    """Return the error of a unit of so many `rows` that makes more than it may; `row` is its place in the input."""
    unit = "a row" if operation.per == "row" else f"a {operation.per} of {rows:,} row{'s' * (rows != 1)}"
    what = f"kernel '{operation.contract.entry}' makes {count:,} row{'s' * (count != 1)} of {unit}"
    what = f"{what}, and rows: {operation.rows} allows {bound:,}"
    hint = "Declare more rows, or let the kernel make fewer."
    return EvaluationError(coded("GE1903", what), hint, row, operation.reads if row is not None else ())


def not_counted(operation: KernelTable, row: int | None) -> EvaluationError:
    """Return the error of a unit for which the kernel did not say how many rows it made."""
    unit = "a row" if operation.per == "row" else f"a {operation.per}"
    what = f"kernel '{operation.contract.entry}' did not set counts for {unit}"
    hint = "Set it also where it is 0: each row, group or partition has one."
    return EvaluationError(coded("GE1903", what), hint, row, operation.reads if row is not None else ())
