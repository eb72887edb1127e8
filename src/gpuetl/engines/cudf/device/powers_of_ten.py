"""The header `powers_of_ten.cuh`, with which floats are written and read; it is not a file, since it is calculated."""

from __future__ import annotations

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
