"""The text of device code: headers with those that they include, and the closed set of kernels.

A kernel of the closed set contains nothing of a pipeline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

# The header `powers_of_ten.cuh`, with which floats are written and read; it is not a file, since it is calculated.


LEAST, GREATEST = -342, 324
"""Reading a float64 takes 10^-342 to 10^308, writing one 10^-292 to 10^324."""


def powers_of_ten_header() -> str:
    """Return the header's text."""
    powers = map(leading_bits, range(LEAST, GREATEST + 1))
    rows = ", ".join(f"{{{power >> 64:#x}, {power & (1 << 64) - 1:#x}}}" for power in powers)
    return f"""#pragma once
TABLE uint64_t POWERS_OF_TEN[][2] = {{{rows}}};

// The first 128 bits of 10^e, for e from {LEAST} to {GREATEST}; they are all of it from 0 to 55.
DEVICE uint128_t power_of_ten(int e) {{
    const uint64_t* halves = POWERS_OF_TEN[e - ({LEAST})];
    return uint128_t(halves[0]) << 64 | halves[1];
}}
"""


def leading_bits(exponent: int) -> int:
    """Return the first 128 bits of 10 to the exponent, the first of them 1: those of 5 to it."""
    power: int = 5 ** abs(exponent)
    bits = power << 128 if exponent >= 0 else (1 << (128 + power.bit_length())) // power
    return bits >> (bits.bit_length() - 128)


# The text of device code: headers with those that they include, each once.


DEVICE = Path(__file__).parents[1] / "device"
_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def headers_text(names: Iterable[str]) -> str:
    """Return headers and those that they include, each once."""
    return _text_of(tuple(names))


@cache
def _text_of(names: tuple[str, ...]) -> str:
    included: dict[str, None] = {}
    return "".join(_with_includes(name, included) for name in names)


def _with_includes(name: str, included: dict[str, None]) -> str:
    if name in included:
        return ""
    included[name] = None
    return _INCLUDE.sub(lambda hit: _with_includes(hit[1], included), header_text(name)).replace("#pragma once\n", "")


@cache
def header_text(name: str) -> str:
    """Return the text of a file of device code, or of the header that is calculated."""
    if name == "powers_of_ten.cuh":
        return powers_of_ten_header()
    return (DEVICE / name).read_text(encoding="utf-8")


# Kernels that contain nothing of a pipeline: each is written once, for whatever columns there are.
#
# A file of `device/closed` is a program.  What differs between columns is an argument: their addresses, their widths,
# and
# whether they have validity words.


FOLDER = "closed"


def closed_programs() -> list[str]:
    """Return the names of all programs."""
    return sorted(path.stem for path in (DEVICE / FOLDER).glob("*.cu"))


def common_programs() -> list[str]:
    """Return the names of those that most plans need: not JSON, keys of many columns, encoders and measurements."""
    others = {"deltas", "distinct_values", "json", "pages", "stencil", "wide_keys", "wide_lookup"}
    return [name for name in closed_programs() if name not in others]


@cache
def closed_source(*programs: str) -> str:
    """Return the text of programs, with each header that they include once."""
    return headers_text(f"{FOLDER}/{program}.cu" for program in programs)
