"""Handlers of the scalar functions, by name.  Arguments have the types that the function table says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuetl.backends.pandas.functions import arithmetic, logic, mathematics, regex, strings, temporal

SCALARS: dict[str, Callable[..., Any]] = {
    **arithmetic.HANDLERS, **mathematics.HANDLERS, **logic.HANDLERS, **strings.HANDLERS, **regex.HANDLERS,
    **temporal.HANDLERS,
}  # fmt: skip
"""`case` and `coalesce` are not here: they decide which rows their operands see (evaluate.py)."""
