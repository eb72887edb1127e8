"""Handlers of the scalar functions, by name.  Arguments have the types that the function table says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuetl.backends.pandas.functions import arithmetic, hashing, lists, logic, strings, temporal

SCALARS: dict[str, Callable[..., Any]] = {
    **arithmetic.HANDLERS, **logic.HANDLERS, **strings.HANDLERS, **temporal.HANDLERS, **hashing.HANDLERS,
    **lists.HANDLERS,
}  # fmt: skip
"""`case` is not here: it decides which rows its branches see (evaluate.py)."""
