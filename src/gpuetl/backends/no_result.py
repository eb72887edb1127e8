"""Values for which an expression has no result, told in the same words by every engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.errors import EvaluationError

DAY = 86_400_000_000
NULL_INSTEAD = {"CAST(": "TRY_CAST", "strptime(": "try_strptime"}
"""By what an expression begins with, the function that does the same and gives null where there is no result."""


class NoResult(EvaluationError):
    """An expression has no result in a row, if it is of columns, for these values.

    Parameters
    ----------
    expression
        Its SQL.
    row
        The row of the partition, from 0; None where all values are constants.
    values
        The arguments, as `pyarrow.Scalar`s.
    reason
        Why, such as "overflow".
    """

    def __init__(self, expression: str, row: int | None, values: Sequence[Any], reason: str) -> None:
        self.expression, self.row, self.values, self.reason = expression, row, tuple(values), reason
        where = f" in row {row}" if row is not None else ""
        super().__init__(f"{expression} has no result{where}, for {', '.join(map(shown, values))}: {reason}")
        other = next((other for start, other in NULL_INSTEAD.items() if expression.startswith(start)), "")
        self.hint = f"{other} gives null where there is no result." if other else ""

    def in_row(self, row: int | None) -> NoResult:
        """Return the error of another row: that of the whole frame, after it was met in some of its rows."""
        return NoResult(self.expression, row, self.values, self.reason)


def shown(value: pa.Scalar) -> str:
    """Return a value's text, also of a moment in a year that Python does not have."""
    try:
        return str(value.as_py())
    except (OverflowError, ValueError):
        days, micros = (value.value, 0) if pa.types.is_date(value.type) else divmod(value.value, DAY)
        return f"{np.datetime64(days, 'D')}" + (f" {timedelta(microseconds=micros)}" if micros else "")
