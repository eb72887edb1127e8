"""Keys of any type as unsigned numbers in the order of the contract, packed into as few 64-bit words as they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuetl.backends.cudf.columns.validity import valid_rows
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector, storage_type
from gpuetl.expressions.types import NULL, STRING, is_floating
from gpuetl.plan.node import SortKey

WIDTH = 64


@dataclass(frozen=True, eq=False)
class Digit:
    """Unsigned numbers (uint64) below 2**bits, equal where a key is, in its order."""

    values: Array
    bits: int


def key_digits(vector: Vector, key: SortKey, machine: Machine) -> list[Digit]:
    """Return a column as digits, the most significant first.

    NaN is the greatest value, -0.0 is 0.0, texts are in the order of their bytes; nulls stand where the key says.
    """
    if vector.dtype == NULL:
        return [Digit(machine.arrays.zeros(vector.rows, "uint64"), 0)]
    valid = valid_rows(vector, machine).astype(bool) if vector.nulls else None
    digits = [measured(values, valid, machine) for values in ordered_values(vector, machine)]
    if key.descending:
        digits = [Digit(machine.arrays.uint64((1 << digit.bits) - 1) - digit.values, digit.bits) for digit in digits]
    return digits if valid is None else with_nulls(digits, valid, key.nulls_first, machine)


def ordered_values(vector: Vector, machine: Machine) -> list[Array]:
    """Return uint64 arrays in whose order the values are."""
    arrays = machine.arrays
    if vector.dtype == STRING:
        codes, _ = machine.sorted_texts(vector)
        return [codes.astype("uint64")]
    if is_floating(vector.dtype):
        return [ordered_bits(vector.data, machine)]
    if storage_type(vector.dtype) == "V16":
        high, low = signed(vector.data[:, 1], machine), vector.data[:, 0].view("uint64")
        return [high, arrays.ascontiguousarray(low)]
    if vector.data.dtype.kind == "u":
        return [vector.data.astype("uint64")]
    return [signed(vector.data.astype("int64"), machine)]


def signed(values: Array, machine: Machine) -> Array:
    """Return int64 values with the sign turned over: unsigned, in the same order."""
    return machine.arrays.ascontiguousarray(values).view("uint64") ^ machine.arrays.uint64(1 << 63)


def ordered_bits(values: Array, machine: Machine) -> Array:
    """Return floats' bits in the order of the floats, with one zero and one NaN, the greatest."""
    arrays = machine.arrays
    wide = values.astype("float64")
    wide = arrays.where(wide == 0, 0.0, wide)
    wide = arrays.where(arrays.isnan(wide), arrays.float64("nan"), wide)
    bits = wide.view("uint64")
    negative = (bits >> arrays.uint64(63)).astype(bool)
    return arrays.where(negative & ~arrays.isnan(wide), ~bits, bits | arrays.uint64(1 << 63))


def measured(values: Array, valid: Array | None, machine: Machine) -> Digit:
    """Return the values less the least of them, and the bits that the greatest needs; any value stands for nulls."""
    arrays = machine.arrays
    if not len(values):
        return Digit(values, 0)
    if valid is not None:
        least = int(arrays.where(valid, values, arrays.uint64(2**64 - 1)).min())
        greatest = int(arrays.where(valid, values, arrays.uint64(0)).max())
    else:
        least, greatest = int(values.min()), int(values.max())
    if least > greatest:  # all are null
        return Digit(arrays.zeros(len(values), "uint64"), 0)
    return Digit(values - arrays.uint64(least), (greatest - least).bit_length())


def with_nulls(digits: list[Digit], valid: Array, first: bool, machine: Machine) -> list[Digit]:
    """Put a digit before them that says where the nulls are, whose other digits are zero."""
    arrays = machine.arrays
    flag = Digit((valid if first else ~valid).astype("uint64"), 1)
    cleared = [Digit(arrays.where(valid, digit.values, arrays.uint64(0)), digit.bits) for digit in digits]
    return [flag, *cleared]


def pack(digits: Sequence[Digit], machine: Machine) -> list[Digit]:
    """Return the digits side by side in as few words as hold them whole, the most significant first."""
    words: list[Digit] = []
    for digit in digits:
        if not digit.bits:
            continue
        if words and words[-1].bits + digit.bits <= WIDTH:
            last = words.pop()
            shifted = last.values << machine.arrays.uint64(digit.bits)
            words.append(Digit(shifted | digit.values, last.bits + digit.bits))
        else:
            words.append(digit)
    return words
