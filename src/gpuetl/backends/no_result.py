"""Values for which an expression has no result, told in the same words by every engine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.errors import EvaluationError
from gpuetl.expressions.decimals import MAX_DIGITS

DAY = 86_400_000_000
NULL_INSTEAD = {"CAST(": "TRY_CAST", "strptime(": "try_strptime"}
"""By what an expression begins with, the function that does the same and gives null where there is no result."""


NUMBER = re.compile(r"[+-]?(?P<before>[0-9]+)(?:\.(?P<after>[0-9]*))?(?P<exponent>[eE][+-]?[0-9]+)?")
TO_NUMBER = re.compile(r" AS (?:u?int|decimal)[^ ]*\)$")
INT64_DIGITS, USUAL_DIGITS = 19, 18


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
        if other == "TRY_CAST" and (wider := number_type(expression, self.values)):
            self.hint = f"{wider} holds this value; TRY_CAST would give null in its place."

    def in_row(self, row: int | None) -> NoResult:
        """Return the error of another row: that of the whole frame, after it was met in some of its rows."""
        return NoResult(self.expression, row, self.values, self.reason)


def number_type(expression: str, values: Sequence[Any]) -> str:
    """Return a type that holds a text which was cast to a number, and is one; nothing for other casts and texts.

    To read such a text as null would lose it.
    """
    text = values[0].as_py() if len(values) == 1 and pa.types.is_string(values[0].type) else ""
    if not TO_NUMBER.search(expression) or not (found := NUMBER.fullmatch(text.strip(" \t"))):
        return ""
    before, after = len(found["before"].lstrip("0")), len(found["after"] or "")
    if found["exponent"] or before + after > MAX_DIGITS:
        return "float64"
    if not after and before < INT64_DIGITS:
        return "int64"
    return f"decimal({USUAL_DIGITS if before + after <= USUAL_DIGITS else MAX_DIGITS},{after})"


def shown(value: pa.Scalar) -> str:
    """Return a value's text, also of a moment in a year that Python does not have."""
    try:
        return str(value.as_py())
    except (OverflowError, ValueError):
        days, micros = (value.value, 0) if pa.types.is_date(value.type) else divmod(value.value, DAY)
        return f"{np.datetime64(days, 'D')}" + (f" {timedelta(microseconds=micros)}" if micros else "")
