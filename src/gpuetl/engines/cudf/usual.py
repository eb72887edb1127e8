"""Programs that many pipelines ask for and that contain nothing of a pipeline: they are built with the closed set.

Their texts are what a plan's list would have, so a run finds them in the wheel or in the cache as it finds its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from gpuetl.engines.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.engines.cudf.expressions.programs import evaluated
from gpuetl.engines.cudf.frame import MAX_ROWS
from gpuetl.engines.cudf.windows.compute import output_programs
from gpuetl.engines.cudf.windows.functions import WINDOW_FUNCTIONS, WindowCall
from gpuetl.engines.cudf.windows.rows import WindowRows
from gpuetl.expressions.ir import Call
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import Scope, resolve
from gpuetl.types.data_types import FLOAT64, INT64, NAMED, STRING

INT32 = NAMED["int32"]
TEXT, CODED_TEXT = Kind(STRING), Kind.coded(0)
WIDE = [Kind(INT64), Kind(FLOAT64)]
NUMBERS = [Kind(INT32), *WIDE]
EXPRESSIONS = {
    "upper(x)": [TEXT],
    "lower(x)": [TEXT],
    "trim(x)": [TEXT],
    "x IS NOT NULL": [TEXT, CODED_TEXT, *NUMBERS],
    "true": [TEXT],
    "'a text'": [TEXT],
}
"""Expressions of a column `x`, and its kinds.  A text that is a constant is a number in programs."""
FRAMES = {
    "rolling_sum(x, 2)": WIDE,
    "rolling_mean(x, 2)": WIDE,
    "rolling_min(x, 2)": NUMBERS,
    "rolling_max(x, 2)": NUMBERS,
}
"""The length of a frame is an argument.  Narrow integers are widened before they are added."""


def usual_programs() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each program."""
    for sql, kinds in EXPRESSIONS.items():
        for kind in kinds:
            expr = resolve(parse_expression(sql), Scope({"x": kind.dtype}, {}))
            yield from ((named(sql, kind), text.source) for text in evaluated({"": expr}, Kinds({"x": kind})).texts)
    for sql, kinds in FRAMES.items():
        for kind in kinds:
            yield from ((named(sql, kind), text) for text in window_texts(sql, kind) if "KERNEL fold_frames" in text)
    for place, text in enumerate(window_texts("row_number()", TEXT)):
        yield f"row_number(), part {place + 1}", text


def named(sql: str, kind: Kind) -> str:
    """Return a program's name."""
    return f"{sql} of {'coded ' if kind.dictionary else ''}{kind.dtype}"


def window_texts(sql: str, kind: Kind) -> list[str]:
    """Return the texts of a call of a window function."""
    call = resolve(parse_expression(sql), Scope({"x": kind.dtype}, {}, ("window",)))
    assert isinstance(call, Call)
    nothing = cast("Any", None)
    rows = WindowRows(columns_of_kinds({"x": kind}), MAX_ROWS, nothing, nothing, nothing)
    return output_programs([WINDOW_FUNCTIONS[call.function.name](WindowCall(call, None, rows.rows))], rows)
