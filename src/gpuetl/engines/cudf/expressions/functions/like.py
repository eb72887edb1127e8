"""LIKE and ILIKE: the pattern is read here, and its frequent forms need no wildcards."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.device.types import c_text, c_words
from gpuetl.engines.cudf.expressions.functions.code_points import lower_case
from gpuetl.engines.cudf.expressions.functions.device import Device, Library
from gpuetl.expressions.characters import to_lower
from gpuetl.expressions.ir import Call, Literal
from gpuetl.expressions.like import Part, Wildcard, parse_like

WORDS = {Wildcard.ONE: 0x110000, Wildcard.ANY: 0x110001}
"""As in like.cuh."""


def parts_of(call: Call) -> Sequence[Part]:
    """Return the constant pattern's texts and wildcards."""
    return parse_like(*(arg.value for arg in call.args[1:] if isinstance(arg, Literal)))


def like(call: Call, args: Sequence[str]) -> str:
    """Compare bytes where there is a `%` at the ends only."""
    match parts_of(call):
        case []:
            return f"byte_length({args[0]}) == 0"
        case [str(whole)]:
            return f"same_text({args[0]}, {c_text(whole)})"
        case [str(prefix), Wildcard.ANY]:
            return f"starts_with({args[0]}, {c_text(prefix)})"
        case [Wildcard.ANY, str(suffix)]:
            return f"ends_with({args[0]}, {c_text(suffix)})"
        case [Wildcard.ANY, str(part), Wildcard.ANY]:
            return f"contains({args[0]}, {c_text(part)})"
    return f"like({args[0]}, {pattern_of(parts_of(call))}, AsWritten{{}})"


def ilike(call: Call, args: Sequence[str]) -> str:
    """Compare with the pattern in lower case; the text is put in lower case as it is read."""
    lowered = ["".join(map(to_lower, part)) if isinstance(part, str) else part for part in parts_of(call)]
    return f"like({args[0]}, {pattern_of(lowered)}, InLowerCase{{{lower_case()}}})"


def pattern_of(parts: Sequence[Part]) -> str:
    """Return a `LikePattern`."""
    words = [word for part in parts for word in (map(ord, part) if isinstance(part, str) else [WORDS[part]])]
    return f"LikePattern{{{c_words(words)}, {len(words)}}}"


HEADER = "like.cuh"
FUNCTIONS: dict[str, Device | Library] = {"like": Device(like), "ilike": Device(ilike)}
