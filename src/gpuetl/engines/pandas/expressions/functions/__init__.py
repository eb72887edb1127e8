"""Handlers of the scalar functions, by name.  Arguments have the types that the function table says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuetl.engines.pandas.expressions.functions import (  # fmt: skip
    arithmetic,
    binary,
    calendar,
    characters,
    formats,
    hashing,
    integers,
    json,
    json_editing,
    list_aggregates,
    list_edits,
    list_statistics,
    lists,
    logic,
    mathematics,
    means,
    nested,
    nested_text,
    ordering,
    parsing,
    paths,
    readable,
    regex,
    rounding,
    strings,
    text_formats,
    timestamps,
    zones,
)

SCALARS: dict[str, Callable[..., Any]] = {
    **arithmetic.HANDLERS, **rounding.HANDLERS, **integers.HANDLERS, **mathematics.HANDLERS, **logic.HANDLERS,
    **strings.HANDLERS, **regex.HANDLERS, **characters.HANDLERS, **paths.HANDLERS, **readable.HANDLERS,
    **text_formats.HANDLERS,
    **calendar.HANDLERS, **timestamps.HANDLERS,
    **formats.HANDLERS, **parsing.HANDLERS, **zones.HANDLERS, **lists.HANDLERS, **list_edits.HANDLERS,
    **list_aggregates.HANDLERS,
    **list_statistics.HANDLERS,
    **nested.HANDLERS,
    **nested_text.HANDLERS,
    **binary.HANDLERS,
    **json.HANDLERS,
    **json_editing.HANDLERS,
    **hashing.HANDLERS, **ordering.HANDLERS,
    **means.HANDLERS,
}  # fmt: skip
SCALARS |= {name: timestamps.in_microseconds(SCALARS[name], dtype) for name, dtype in timestamps.OPERATORS.items()}
SCALARS |= {name: timestamps.or_time(sign, SCALARS[name]) for name, sign in (("add", 1), ("subtract", -1))}
"""`case` and `coalesce` are not here: they decide which rows their operands see (evaluate.py)."""
