"""Thrift's compact protocol, as far as Parquet's footers and page headers need it.

Source: github.com/apache/thrift, doc/specs/thrift-compact-protocol.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

TRUE, FALSE, BYTE, I16, I32, I64, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 8, 9, 12

BYTES = [bytes([number]) for number in range(256)]


class Value(NamedTuple):
    """A value as it is written, and its kind, which stands in what holds it."""

    kind: int
    data: bytes


def varint(number: int) -> bytes:
    """Return a number of at least zero, seven bits a byte, the lowest first."""
    if number < 128:
        return BYTES[number]
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def zigzag(number: int) -> bytes:
    """Return a signed number of up to 64 bits as a varint that is short where the number is small."""
    return varint(number << 1 if number >= 0 else ~(number << 1))


def boolean(value: bool) -> Value:
    """Return a truth value of a struct: its kind says it all."""
    return Value(TRUE if value else FALSE, b"")


def byte(number: int) -> Value:
    """Return an integer of 8 bits."""
    return Value(BYTE, number.to_bytes(1, "little", signed=True))


def i16(number: int) -> Value:
    """Return an integer of 16 bits."""
    return Value(I16, zigzag(number))


@lru_cache(1 << 12)
def i32(number: int) -> Value:
    """Return an integer of 32 bits, or a member of an enumeration."""
    return Value(I32, zigzag(number))


@lru_cache(1 << 12)
def i64(number: int) -> Value:
    """Return an integer of 64 bits."""
    return Value(I64, zigzag(number))


def binary(data: bytes) -> Value:
    """Return bytes, or the UTF-8 of a text."""
    return Value(BINARY, varint(len(data)) + data)


def list_of(kind: int, values: Sequence[Value]) -> Value:
    """Return a list of values of one kind, which are no truth values."""
    size = len(values)
    head = bytes([size << 4 | kind]) if size < 15 else bytes([0xF0 | kind]) + varint(size)
    return Value(LIST, head + b"".join(value.data for value in values))


def struct(numbered: Mapping[int, Value | None]) -> Value:
    """Return a struct of fields by their numbers."""
    return Value(STRUCT, fields(numbered) + b"\0")


def fields(numbered: Mapping[int, Value | None], after: int = 0) -> bytes:
    """Return a part of a struct: fields that follow one by their numbers, which ascend by at most 15; None is left out.

    A struct is its parts and a zero.
    """
    parts, last = list[bytes](), after
    for number, value in numbered.items():
        if value is not None:
            kind, data = value
            parts += BYTES[number - last << 4 | kind], data
            last = number
    return b"".join(parts)
