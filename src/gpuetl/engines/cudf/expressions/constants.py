"""Constants as arguments of kernels: what is compiled for one value serves for all others."""

from __future__ import annotations

import struct
from dataclasses import field
from typing import Any

import numpy as np

from gpuetl.engines.cudf.device.types import c_type, whole_number
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Literal
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING, DataType, is_floating, is_list
from gpuetl.types.decimal_types import is_decimal

MOST = 128
"""Arguments of one kernel that are constants, or a few more: it takes 4 KB of all kinds on older drivers."""
Constant = int | bytes
"""A word of 64 bits, or the bytes of a text."""


@dataclass
class Constants:
    """The arguments of a kernel's text, `k0` and so on, and how its parameters are declared.

    Values of the pipeline's parameters are arguments.  So are the strings of kernels that write `strings`: there it
    gains little to compile them in, and a pipeline in which a separator is edited has its kernel already.
    """

    strings: bool = False
    parameters: list[str] = field(default_factory=list)
    values: list[Constant] = field(default_factory=list)

    def passed(self, literal: Literal) -> str | None:
        """Pass a constant; return its C++ text, or None for one that is written where it is used.

        These are nulls, decimals, lists, what would be too many arguments, and other constants of the text, with which
        the compiler may calculate.
        """
        wanted = literal.declared or (self.strings and literal.dtype == STRING)
        if not wanted or literal.value is None or len(self.values) >= MOST:
            return None
        if is_decimal(literal.dtype) or is_list(literal.dtype):
            return None
        if literal.dtype == STRING:
            data = literal.value.encode()
            return f"Text{{{self.add('const char*', data)}, {self.add('int64_t', len(data))}}}"
        word = self.add("int64_t", word_of(literal.value, literal.dtype))
        bits = f"double_of_bits({word})" if is_floating(literal.dtype) else word
        return f"{c_type(literal.dtype)}({bits})"

    def add(self, c_type: str, value: Constant) -> str:
        """Add an argument; return its name."""
        name = f"k{len(self.values)}"
        self.parameters.append(f"{c_type} {name}")
        self.values.append(value)
        return name

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return [f"k{place}" for place in range(len(self.values))]


def word_of(value: Any, dtype: DataType) -> int:
    """Return the 64 bits of a number, a truth value or a time, as a signed integer; of a float those of its double."""
    if is_floating(dtype):
        return int(struct.unpack("<q", struct.pack("<d", float(value)))[0])
    word = whole_number(value, dtype)
    return word - (1 << 64) if word >= 1 << 63 else word


def arguments(constants: list[Constant], machine: Machine) -> list[Any]:
    """Return constants as a launch takes them: texts are on the device."""
    return [
        machine.arrays.asarray(np.frombuffer(value or b"\0", np.uint8)) if isinstance(value, bytes) else value
        for value in constants
    ]
