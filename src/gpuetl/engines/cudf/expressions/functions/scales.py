"""What decimals of two scales gain where they are compared, since no decimal of 38 digits holds both."""

from __future__ import annotations

from gpuetl.expressions.ir import Call, Cast
from gpuetl.types.decimal_types import is_decimal

HEADER = "decimal_comparisons.cuh"
COMPARING = frozenset((
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "is_distinct", "is_not_distinct", "in",
    "nullif",
))  # fmt: skip


def has_scales(call: Call) -> bool:
    """Tell whether a call compares decimals of two scales."""
    compares = call.function.name in COMPARING
    return compares and any(gained_digits(call, place) for place in range(1, len(call.args)))


def gained_digits(call: Call | Cast, place: int = 1) -> str:
    """Return how many digits the first argument and another gain after the point; nothing where scales are equal."""
    assert isinstance(call, Call)
    left, right = call.args[0].dtype, call.args[place].dtype
    if not is_decimal(left) or not is_decimal(right) or left.scale == right.scale:
        return ""
    scale = max(left.scale, right.scale)
    return f"{scale - left.scale}, {scale - right.scale}"
