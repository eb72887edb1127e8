"""Strings: UTF-8, counted in code points, compared by bytes."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, fixed
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.expressions.types import BOOL, INT64, STRING

text = fixed(STRING, STRING, STRING, returns=STRING)
tested = fixed(STRING, STRING, returns=BOOL)
cut = fixed(STRING, INT64, INT64, returns=STRING)

MAX_WIDTH = 2**31 - 1


def padded(args: Sequence[Expr]) -> Typing:
    """A text, the length that it is filled to, and what fills it."""
    typing = fixed(STRING, INT64, STRING, returns=STRING)(args)
    if isinstance(args[1], Literal) and args[1].value > MAX_WIDTH:
        raise TypeMismatch(f"takes a length up to {MAX_WIDTH:,}, got {args[1].value:,}")
    return typing


FUNCTIONS = (
    Function("concat", "x y", text, "`x || y`; null if either is.", "'ab' || 'cd'", "abcd"),
    Function("length", "text", fixed(STRING, returns=INT64), "The number of code points.", "length('añb')", 3),
    Function("upper", "text", text, "In upper case, code point by code point.", "upper('añb')", "AÑB"),
    Function("lower", "text", text, "In lower case, code point by code point.", "lower('AÑB')", "añb"),
    Function("trim", "text", text, "Without white space at both ends.", "trim('  ab ')", "ab"),
    Function("ltrim", "text", text, "Without white space at the start.", "ltrim('  ab ')", "ab "),
    Function("rtrim", "text", text, "Without white space at the end.", "rtrim('  ab ')", "  ab"),
    Function("substring", "text start! length?!", cut, "`length` code points (all) from the 1-based `start`.",
             "substring('gpuetl', 2, 3)", "pue"),
    Function("left", "text count!", cut, "The first `count` code points.", "left('gpuetl', 3)", "gpu"),
    Function("right", "text count!", cut, "The last `count` code points.", "right('gpuetl', 3)", "etl"),
    Function("replace", "text old! new!", text, "Every `old` replaced by `new`, from the left.",
             "replace('a-b-c', '-', '+')", "a+b+c"),
    Function("reverse", "text", text, "The code points in reverse order.", "reverse('abc')", "cba"),
    Function("lpad", "text length! fill?!", padded,
             "Filled at the start (with spaces) to `length` code points; longer text is kept whole.",
             "lpad('7', 3, '0')", "007"),
    Function("rpad", "text length! fill?!", padded,
             "Filled at the end (with spaces) to `length` code points; longer text is kept whole.",
             "rpad('7', 3, '0')", "700"),
    Function("starts_with", "text prefix!", tested, "Whether text begins with `prefix`.", "starts_with('gpuetl', 'gpu')", True),
    Function("ends_with", "text suffix!", tested, "Whether text ends with `suffix`.", "ends_with('gpuetl', 'etl')", True),
    Function("contains", "text part!", tested, "Whether text contains `part`.", "contains('gpuetl', 'ue')", True),
    Function("like", "text pattern!", tested, "`text LIKE pattern`: % is any text, _ one code point.", "'gpuetl' LIKE 'g%l'", True),
)  # fmt: skip
