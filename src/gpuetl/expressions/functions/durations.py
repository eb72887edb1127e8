"""The rules of operators between durations and numbers."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.expressions.functions.function import Rule, Typing
from gpuetl.expressions.ir import Expr
from gpuetl.types.data_types import DURATION, INT64, NULL, DataType, is_integer


def or_durations(numbers: Rule, **results: DataType) -> Rule:
    """The rule of numbers, and where an argument is a duration the result by shape: `di` is a duration and an integer."""

    def rule(args: Sequence[Expr]) -> Typing:
        shape = "".join(map(_letter, args))
        if shape not in results:
            return numbers(args)
        return [DURATION if letter == "d" else INT64 for letter in shape], results[shape]

    return rule


def _letter(arg: Expr) -> str:
    return "d" if arg.dtype == DURATION else "i" if is_integer(arg.dtype) or arg.dtype == NULL else "-"
