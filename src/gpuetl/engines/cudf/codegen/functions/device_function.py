"""How one function of the language is written in CUDA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from typing import Literal as Choice

from gpuetl.expressions.ir import Call, Cast
from gpuetl.records import dataclass

Spelling = Callable[[Any, Sequence[str]], str]
"""Gives the C++ code of a call or cast from the code of its arguments."""


@dataclass(frozen=True)
class Device:
    """A function of a header in `engines/cudf/device`.

    Where the function table says that nulls propagate, it gets plain values and is not called for nulls; else it gets
    `Maybe`s.  Where the table says that it can fail, its first argument is a `Fault`.

    Parameters
    ----------
    spelling
        The C++ function's name; or what gives the code of the whole call from the code of its arguments, in which
        `at` is the `Fault` and `out` the text that is written.
    result_form
        `value`; `maybe` where the C++ function returns a `Maybe`; `text` where it writes a text, as
        `void name(out, [at,] arguments…)`; `maybe_text` where it returns whether it wrote one.
    fails
        Of casts: whether it can fail.
    """

    spelling: str | Spelling
    result_form: Choice["value", "maybe", "text", "maybe_text"] = "value"
    fails: bool = False

    def can_fail(self, expr: Call | Cast) -> bool:
        """Return whether there are values without a result, of which `at` is told."""
        return expr.function.fails_for(expr.args) if isinstance(expr, Call) else self.fails

    def text(self, expr: Call | Cast, arguments: Sequence[str]) -> str:
        """Return the C++ code of a call."""
        if not isinstance(self.spelling, str):
            return self.spelling(expr, arguments)
        before = ["out"] * self.writes + ["at"] * self.can_fail(expr)
        return f"{self.spelling}({', '.join([*before, *arguments])})"

    @property
    def writes(self) -> bool:
        """Whether it writes a text."""
        return self.result_form in ("text", "maybe_text")


@dataclass(frozen=True)
class Library:
    """A function that is computed for whole columns: of the call and its arguments' columns, as a column."""

    compute: Callable[..., Any]


def with_outcome(cast: Cast, text: str) -> Device:
    """Return the device function of a cast whose text gives an `Outcome` (casts.cuh); `{}` stands for its operand."""
    if cast.lenient:
        return Device(lambda _, args: f"lenient({text.format(*args)})", result_form="maybe")
    return Device(lambda _, args: f"strict(at, {text.format(*args)})", fails=True)
