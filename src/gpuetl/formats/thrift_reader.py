"""Thrift's compact protocol, read as Parquet's metadata needs it, and the error for metadata that cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gpuetl.messages import coded

# The error for metadata of a Parquet file that cannot be used.


DAMAGED = "Get the file again, write it anew, or take it out of the source's path."


class BadFooter(ValueError):
    """A footer that cannot be used: a coded message that follows a file's name, and a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message)


def malformed(what: str) -> BadFooter:
    """Word metadata that cannot be right."""
    return BadFooter(coded("GE1440", f"has metadata that contradicts itself: {what}"), DAMAGED)


# Thrift's compact protocol, read as Parquet's metadata needs it: nothing that the bytes declare is trusted.
#
# Source: github.com/apache/thrift, doc/specs/thrift-compact-protocol.md.  A field of another type than expected is
# skipped, as generated readers do, and the last of several fields with one number counts.
#
# A reader is a function that takes bytes and the position of a value, and returns the value and the position after it.
# Time and memory are in proportion to the bytes that are there, whatever sizes they declare.  A reader raises
# `MalformedThrift` for bytes that are not what they declare, and `IndexError` where they end early.


TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
FIXED_BYTES = {TRUE: 1, FALSE: 1, BYTE: 1, DOUBLE: 8, UUID: 16}
MOST_LEVELS = 40
"""Structs and lists inside each other: Parquet's metadata needs 8."""
MOST_VARINT_BYTES = 10

Fields = dict[int, Any]
Reader = Callable[[bytes, int], tuple[Any, int]]


class MalformedThrift(ValueError):
    """Bytes that are not what they declare."""


class Field(NamedTuple):
    """A field that is read: the kind that it must have, and its reader."""

    kind: int
    read: Reader


def parsed(read: Reader, data: bytes) -> Any:
    """Return the value at the beginning of bytes.

    Raises
    ------
    MalformedThrift
        For bytes that end early, nest too deeply, or declare more than follows.
    """
    try:
        return read(data, 0)[0]
    except IndexError:
        raise MalformedThrift("it ends within a value") from None


def struct_reader(wanted: Mapping[int, Field]) -> Reader:
    """Return the reader of a struct, which gives its wanted fields by number."""
    readers = {number << 4 | field.kind: field.read for number, field in wanted.items()}

    def read(data: bytes, at: int) -> tuple[Fields, int]:
        found: Fields = {}
        number = 0
        while head := data[at]:
            at += 1
            kind = head & 15
            if head > 15:
                number += head >> 4
            else:
                number, at = read_integer(data, at)
            reader = readers.get(number << 4 | kind)
            if reader is not None:
                found[number], at = reader(data, at)
            elif kind > FALSE:  # a boolean's kind is its value
                at = skip(data, at, kind, 0)
        return found, at + 1

    return read


def list_reader(element: Field) -> Reader:
    """Return the reader of a list, which gives its elements; None where they are of another kind."""

    def read(data: bytes, at: int) -> tuple[list[Any] | None, int]:
        kind, count, start = list_head(data, at)
        if kind != element.kind:
            return None, skip(data, at, LIST, 0)
        at, elements, read_one = start, list[Any](), element.read
        for _ in range(count):
            value, at = read_one(data, at)
            elements.append(value)
        return elements, at

    return read


def struct(wanted: Mapping[int, Field]) -> Field:
    """Return a field that is a struct."""
    return Field(STRUCT, struct_reader(wanted))


def list_of(element: Field) -> Field:
    """Return a field that is a list."""
    return Field(LIST, list_reader(element))


def list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the kind and number of a list's elements, and the position of the first; each takes a byte or more."""
    head = data[at]
    count, at = head >> 4, at + 1
    if count == 15:
        count, at = read_unsigned(data, at)
    if count > len(data) - at:
        raise MalformedThrift(f"a list declares {count:,} values where {len(data) - at:,} bytes follow")
    return head & 15, count, at


def read_list_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """Read a list as the bytes in which it is written."""
    end = skip(data, at, LIST, 0)
    return data[at:end], end


def read_binary(data: bytes, at: int) -> tuple[bytes, int]:
    """Read a binary value, or the UTF-8 of a string."""
    size, at = read_unsigned(data, at)
    end = at + size
    if end > len(data):
        raise MalformedThrift(f"a value declares {size:,} bytes where {len(data) - at:,} follow")
    return data[at:end], end


def read_unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of up to 64 bits without a sign."""
    value = data[at]
    at += 1
    if value < 128:
        return value, at
    value &= 127
    for shift in range(7, 7 * MOST_VARINT_BYTES, 7):
        part = data[at]
        at += 1
        value |= (part & 127) << shift
        if part < 128:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise MalformedThrift("a number has more than 64 bits")


def read_integer(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of up to 64 bits."""
    value = data[at]
    if value < 128:
        return value >> 1 ^ -(value & 1), at + 1
    value, at = read_unsigned(data, at)
    return value >> 1 ^ -(value & 1), at


def skip(data: bytes, at: int, kind: int, level: int) -> int:
    """Return the position after a value that is not read."""
    if I16 <= kind <= I64:
        while data[at] > 127:
            at += 1
        return at + 1
    if kind == BINARY:
        return read_binary(data, at)[1]
    if kind in FIXED_BYTES:
        return within(data, at + FIXED_BYTES[kind])
    if level > MOST_LEVELS:
        raise MalformedThrift(f"more than {MOST_LEVELS} values lie inside each other")
    if kind == STRUCT:
        return skip_struct(data, at, level + 1)
    if kind in (LIST, SET):
        inner, count, at = list_head(data, at)
        for _ in range(count):
            at = skip(data, at, inner, level + 1)
        return at
    if kind == MAP:
        return skip_map(data, at, level + 1)
    raise MalformedThrift(f"it has a value of the unknown kind {kind}")


def skip_struct(data: bytes, at: int, level: int) -> int:
    """Return the position after a struct."""
    while head := data[at]:
        at += 1
        if head < 16:
            _, at = read_unsigned(data, at)
        if head & 15 > FALSE:
            at = skip(data, at, head & 15, level)
    return at + 1


def skip_map(data: bytes, at: int, level: int) -> int:
    """Return the position after a map."""
    count, at = read_unsigned(data, at)
    if count > len(data) - at:
        raise MalformedThrift(f"a map declares {count:,} values where {len(data) - at:,} bytes follow")
    if count:
        kinds, at = data[at], at + 1
        for _ in range(count):
            at = skip(data, skip(data, at, kinds >> 4, level), kinds & 15, level)
    return at


def within(data: bytes, end: int) -> int:
    """Return a position, which must be within the bytes or at their end."""
    if end > len(data):
        raise MalformedThrift("it ends within a value")
    return end


INTEGER32, INTEGER64, TEXT = Field(I32, read_integer), Field(I64, read_integer), Field(BINARY, read_binary)
PRESENT = struct({})
"""A struct of which only counts that it is there."""
