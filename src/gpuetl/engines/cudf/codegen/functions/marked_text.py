"""Statements that write a text with marks in the places of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gpuetl.engines.cudf.codegen.cuda_types import c_text
from gpuetl.expressions.functions.marked_text import TEXT, VALUE, pieces_of
from gpuetl.expressions.ir import Expr, Literal


def statements(
    form: Expr, values: Iterable[str], put_value: Callable[[str], str], put_text: Callable[[str], str]
) -> str:
    """Return the code that writes the text of the constant `form`, with each of the values in the place of its mark."""
    assert isinstance(form, Literal)
    rest, put = iter(values), {VALUE: put_value, TEXT: put_text}
    pieces = filter(None, pieces_of(form.value))
    return "; ".join(put[piece](next(rest)) if piece in put else f"out.put({c_text(piece)})" for piece in pieces)
