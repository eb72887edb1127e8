"""What functions and steps take in Python, in types that editors and checkers read.

A constant is a Python value.  A string is a constant: a column is `col("name")`, and SQL text is `expr("a + b")`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from gpuetl.expressions.expression import Expression

Scalar: TypeAlias = bool | int | float | str | bytes | Decimal | date | time | timedelta
"""A constant that is not null; a `datetime` is a `date`."""
IntoExpression: TypeAlias = "Expression | Scalar | list[Expression | Scalar | None] | None"
"""An expression, or a constant; None is NULL, and a list is a list of these."""
Names: TypeAlias = str | Iterable[str]
"""One name, or several."""
OrderBy: TypeAlias = "str | Expression | Iterable[str | Expression]"
"""Columns or SQL expressions as text, each with `desc` or `nulls first` where wanted; and expressions, ascending."""

DateUnit = Literal[
    "millennium", "century", "decade", "year", "quarter", "month", "week", "day", "hour", "minute", "second",
    "millisecond", "microsecond",
]  # fmt: skip
"""A unit of `date_trunc` and `date_diff`."""
ZoneChoice = Literal["earliest", "latest", "raise"]
"""What becomes of a time that a zone's clock shows twice, or never."""
Rows: TypeAlias = tuple[int | None, int | None] | list[int | None]
"""The first and the last row of a frame, counted from the current one; None is an end of the group."""
Range: TypeAlias = tuple[timedelta | float | None, timedelta | float | None] | list[timedelta | float | None]
"""How far the order's key may be from the current row's, before and after it."""
RankMethod = Literal["min", "max", "average", "dense", "ordinal"]
"""How `rank` numbers rows that tie."""
