"""Which columns are arrays of numbers, told in the same words by every engine."""

from __future__ import annotations

from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.types.data_types import BOOL, DataType, is_floating, is_integer, type_name


def check_array(name: str, dtype: DataType, nulls: int) -> None:
    """Raise `EvaluationError` for a column that is not one of numbers or truth values, or has a null."""
    if not (is_integer(dtype) or is_floating(dtype) or dtype == BOOL):
        hint = "Cast it to a number, or leave it out, in a step before"
        raise EvaluationError(
            coded("GE3008", f"column '{name}' is {type_name(dtype)}, and an array has numbers.  {hint}")
        )
    if nulls:
        raise EvaluationError(
            coded(
                "GE3008", f"column '{name}' has {nulls} nulls, and an array has none.  Use fill_null in a step before"
            )
        )
