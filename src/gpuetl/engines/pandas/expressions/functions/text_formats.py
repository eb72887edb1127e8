"""Values written by a field: Python's own formats round the exact value, half to even."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gpuetl.engines.no_result import NOT_FORMATTED
from gpuetl.engines.pandas.expressions.functions.text_rows import by_row
from gpuetl.errors import EvaluationError
from gpuetl.expressions.format_text import parse_field
from gpuetl.types.data_types import STRING

MOST = 1e38


def formatted(value: Any, written: str) -> str:
    """Return a value as its field says."""
    field = parse_field(written)
    if isinstance(value, float):
        finite = math.isfinite(value)
        if (finite and abs(value) >= MOST) or (not finite and field.zeros):
            raise EvaluationError(NOT_FORMATTED)
    align = f"{field.fill}{field.align}" if field.align else ""
    precision = f".{field.precision}" if field.precision >= 0 else ""
    signs = "+" * field.plus + "0" * field.zeros
    separator = "," if field.separator == "'" else field.separator
    value = value % (1 << 64) if field.bits else value
    text = format(value, f"{align}{signs}{field.width or ''}{separator}{precision}{field.kind}")
    return text.replace(",", "'") if field.separator == "'" else text


HANDLERS: dict[str, Callable[..., Any]] = {"formatted": by_row(formatted, STRING)}
