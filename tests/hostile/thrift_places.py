"""Where the values of Parquet's Thrift structures stand (compact protocol), so that mutants can change single ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
INTEGERS = (I16, I32, I64)
DEEPEST = 20
ROW_GROUPS, COLUMNS, META_DATA = 4, 1, 3
PAGE_OFFSETS = (9, 11)
"""In a column's metadata: its data pages and its dictionary page."""
CHUNK_BYTES = 7
PAGE_BYTES = 3
"""In a page header: the bytes of the page as it is compressed."""


@dataclass(frozen=True)
class Value:
    """An integer, the length of a string, a list's header or a field's header: its bytes, and the fields to it."""

    kind: str
    start: int
    stop: int
    number: int
    fields: tuple[int, ...]


@dataclass(frozen=True)
class Page:
    """A page: where its header begins, where its data begins and ends."""

    start: int
    data: int
    stop: int


def varint(number: int) -> bytes:
    """Write an integer that is not negative as a varint."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def zigzag(number: int) -> bytes:
    """Write an integer as Thrift does."""
    return varint((number << 1) ^ (number >> 63) if number >= 0 else ((-number) << 1) - 1)


class Reader:
    """Walks a structure and notes its values."""

    def __init__(self, data: bytes, start: int) -> None:
        self.data, self.at = data, start
        self.values: list[Value] = []

    def number(self) -> int:
        """Read a varint."""
        result = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    def struct(self, fields: tuple[int, ...] = ()) -> None:
        """Read a structure."""
        last = 0
        if len(fields) > DEEPEST:
            raise ValueError("too deep")
        while True:
            start = self.at
            head = self.data[start]
            self.at += 1
            if head == 0:
                return
            kind = head & 0x0F
            if head >> 4:
                last += head >> 4
            else:
                written = self.number()
                last = (written >> 1) ^ -(written & 1)
            self.values.append(Value("field", start, self.at, head, (*fields, last)))
            if kind not in (TRUE, FALSE):
                self.value(kind, (*fields, last))

    def value(self, kind: int, fields: tuple[int, ...]) -> None:
        """Read a value of a kind."""
        start = self.at
        if kind in INTEGERS:
            written = self.number()
            self.values.append(Value("integer", start, self.at, (written >> 1) ^ -(written & 1), fields))
        elif kind in (TRUE, FALSE, BYTE):
            self.at += 1
        elif kind == DOUBLE:
            self.at += 8
        elif kind == BINARY:
            size = self.number()
            self.values.append(Value("length", start, self.at, size, fields))
            self.at += size
        elif kind in (LIST, SET):
            head = self.data[start]
            self.at += 1
            size = head >> 4 if head >> 4 < 15 else self.number()
            self.values.append(Value("list", start, self.at, size, fields))
            for place in range(size):
                self.value(head & 0x0F, (*fields, place))
        elif kind == STRUCT:
            self.struct(fields)
        else:
            raise ValueError("no such kind")


def values_at(data: bytes, start: int) -> tuple[list[Value], int]:
    """Return the values of the structure at a place, and where it ends; what cannot be read ends the list."""
    reader = Reader(data, start)
    with contextlib.suppress(IndexError, ValueError):
        reader.struct()
    return reader.values, reader.at


def footer_range(data: bytes) -> tuple[int, int]:
    """Return where a Parquet file's metadata begins and ends; the same place where its length is none."""
    if len(data) < 12:
        return 0, 0
    stop = len(data) - 8
    start = stop - int.from_bytes(data[stop : stop + 4], "little")
    return (start, stop) if 4 <= start <= stop else (stop, stop)


def pages(data: bytes) -> Iterator[Page]:
    """Yield the pages of all column chunks of a valid file."""
    start, stop = footer_range(data)
    values, _ = values_at(data[:stop], start)
    chunks: dict[tuple[int, ...], dict[int, int]] = {}
    for value in values:
        path = value.fields
        if (
            value.kind == "integer"
            and len(path) == 6
            and path[0] == ROW_GROUPS
            and path[2] == COLUMNS
            and path[4] == META_DATA
        ):
            chunks.setdefault(path[:4], {})[path[5]] = value.number
    for chunk in chunks.values():
        offsets = [chunk[name] for name in PAGE_OFFSETS if chunk.get(name, 0) > 0]
        at = min(offsets, default=0)
        end = min(at + chunk.get(CHUNK_BYTES, 0), start)
        while 4 <= at < end:
            header, data_start = values_at(data, at)
            size = next((v.number for v in header if v.fields == (PAGE_BYTES,) and v.kind == "integer"), -1)
            if size < 0 or data_start + size > len(data):
                break
            yield Page(at, data_start, data_start + size)
            at = data_start + size
