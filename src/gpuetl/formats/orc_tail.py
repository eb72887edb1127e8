"""The end of an ORC file: the rows and bytes of its stripes, which Arrow does not hand over.

Source: orc.apache.org/specification/ORCv1 and its orc_proto.proto; the numbers are those of its fields.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

FOOTER, STRIPES = 2, 3
INDEX_BYTES, DATA_BYTES, FOOTER_BYTES, ROWS = 2, 3, 4, 5
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


class Stripe(NamedTuple):
    """A stripe: its rows, and its bytes in the file."""

    rows: int
    file_bytes: int


def stripes_of(tail: bytes) -> list[Stripe]:
    """Return the stripes in the struct FileTail, which Arrow hands over without compression.

    Raises
    ------
    ValueError
        For what is not one.
    """
    footer = messages(as_bytes(*messages(tail)[FOOTER]))
    return [stripe(messages(as_bytes(each))) for each in footer[STRIPES]]


def stripe(fields: Fields) -> Stripe:
    """Read the struct StripeInformation."""
    rows, *sizes = (sum(map(int, fields[number])) for number in (ROWS, INDEX_BYTES, DATA_BYTES, FOOTER_BYTES))
    return Stripe(rows, sum(sizes))


# Protocol buffers, as far as ORC's footer needs them.  Source: protobuf.dev/programming-guides/encoding.


Fields = defaultdict[int, list[int | bytes]]


def messages(data: bytes) -> Fields:
    """Return the values of a message by the numbers of its fields; those of fixed width are left out.

    Raises
    ------
    ValueError
        For bytes that are no message.
    """
    found, at = Fields(list), 0
    while at < len(data):
        head, at = varint(data, at)
        number, kind = head >> 3, head & 7
        if kind == VARINT:
            value, at = varint(data, at)
            found[number].append(value)
        elif kind == BYTES:
            size, at = varint(data, at)
            found[number].append(data[at : at + size])
            at += size
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            at += 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"its metadata has a field of the unknown kind {kind}")
    if at > len(data):
        raise ValueError("its metadata ends within a value")
    return found


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number, and the place after it."""
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("its metadata ends within a number")


def as_bytes(*values: int | bytes) -> bytes:
    """Return the only value of a field, which must be bytes."""
    (value,) = values or (b"",)
    if isinstance(value, int):
        raise ValueError("its metadata has a number for a struct")
    return value
