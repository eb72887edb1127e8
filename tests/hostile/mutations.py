"""Changes of a file: bits, bytes, pieces of other files, and single values of Parquet's metadata and page headers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from hostile.seed_files import SeedFile
from hostile.thrift_places import Page, Value, footer_range, pages, values_at, varint, zigzag

Mutation = Callable[[Random, SeedFile, SeedFile], bytes]
EXTREMES = (
    0, 1, -1, 2, 7, 127, 128, 255, 32767, 65535, 65536, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1,
    -(2**63),
)  # fmt: skip
BYTES = (0, 1, 2, 3, 0x7F, 0x80, 0xFE, 0xFF)
CSV_MARKS = (
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\xff",
    b'""',
    b'"a"b',
    b",,",
    b"\xef\xbb\xbf",
    b" ",
    b"\t",
    b"9" * 400,
)


@cache
def pages_of(seed: SeedFile) -> tuple[Page, ...]:
    """Return the pages of a file."""
    return tuple(pages(seed.data))


@cache
def footer_values(seed: SeedFile) -> tuple[Value, ...]:
    """Return the values of a file's metadata."""
    start, stop = footer_range(seed.data)
    return tuple(values_at(seed.data[:stop], start)[0])


def flip_bits(draw: Random, data: bytearray, start: int, stop: int) -> None:
    """Flip up to 8 bits of a range."""
    for _ in range(draw.choice((1, 1, 1, 2, 4, 8)) if stop > start else 0):
        data[draw.randrange(start, stop)] ^= 1 << draw.randrange(8)


def set_bytes(draw: Random, data: bytearray, start: int, stop: int) -> None:
    """Set a run of bytes of a range: to one value, or to random ones."""
    if stop > start:
        first = draw.randrange(start, stop)
        size = min(draw.choice((1, 1, 2, 4, 8, 64)), stop - first)
        data[first : first + size] = draw.choice((bytes([draw.choice(BYTES)]) * size, draw.randbytes(size)))


def change(draw: Random, data: bytearray, start: int, stop: int) -> bytes:
    """Change bits or bytes of a range."""
    draw.choice((flip_bits, set_bytes))(draw, data, start, stop)
    return bytes(data)


def bytes_anywhere(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Change bits or bytes anywhere."""
    return change(draw, bytearray(seed.data), 0, len(seed.data))


def truncation(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Cut the end, the beginning or a piece out."""
    first, last = sorted(draw.choices(range(len(seed.data) + 1), k=2))
    data = seed.data
    return draw.choice((data[:first], data[first:], data[:first] + data[last:], data[: len(data) - first % 64]))


def insertion(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Insert random bytes, or a piece of the same file once more."""
    data, at = seed.data, draw.randrange(len(seed.data) + 1)
    first = draw.randrange(len(data) + 1)
    piece = draw.choice((draw.randbytes(draw.randrange(1, 20)), data[first : first + draw.randrange(1, 500)]))
    return data[:at] + piece + data[at:]


def splice(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Join two files: a beginning and an end, or the data of one and the metadata of the other."""
    one, two = seed.data, other.data
    if seed.format == other.format == "parquet" and draw.random() < 0.5:
        return one[: footer_range(one)[0]] + two[footer_range(two)[0] :]
    return one[: draw.randrange(len(one) + 1)] + two[draw.randrange(len(two) + 1) :]


def footer_bytes(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Change bits or bytes of the metadata, its length or the magic bytes."""
    start, _ = footer_range(seed.data)
    return change(draw, bytearray(seed.data), start, len(seed.data))


def with_value(draw: Random, data: bytes, value: Value) -> bytes:
    """Return the bytes that stand for a changed value."""
    number = draw.choice((*EXTREMES, value.number + 1, value.number - 1, value.number * 2, draw.getrandbits(31)))
    if value.kind == "integer":
        return zigzag(max(-(2**63), min(number, 2**63 - 1)))
    if value.kind == "length":
        return varint(number & draw.choice((0xFF, 0xFFFF, 0xFFFFFFFF, 2**64 - 1)))
    head = data[value.start]
    if value.kind == "list":
        kind = head & 0x0F if draw.random() < 0.7 else draw.randrange(16)
        count = draw.choice((value.number + 1, max(0, value.number - 1), 0, number & 0x7FFFFFFF))
        return bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + varint(count)
    return bytes([draw.choice((head ^ 1 << draw.randrange(8), head & 0xF0, head & 0xF0 | draw.randrange(16), 0))])


def footer_value(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Change one to three values of the metadata, whose length mostly follows."""
    data = seed.data
    start, stop = footer_range(data)
    values = footer_values(seed)
    if not values:
        return footer_bytes(draw, seed, other)
    chosen = draw.sample(values, min(len(values), draw.choice((1, 1, 1, 2, 3))))
    footer = data[start:stop]
    for value in sorted(chosen, key=lambda one: -one.start):
        footer = footer[: value.start - start] + with_value(draw, data, value) + footer[value.stop - start :]
    length = len(footer) if draw.random() < 0.9 else draw.choice(EXTREMES) & 0xFFFFFFFF
    return data[:start] + footer + length.to_bytes(4, "little") + data[-4:]


def page_header(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Change a value of a page header; what is longer than before shortens the page, so that all offsets hold."""
    if not pages_of(seed):
        return bytes_anywhere(draw, seed, other)
    data, page = seed.data, draw.choice(pages_of(seed))
    values, _ = values_at(data, page.start)
    value = draw.choice(values)
    if draw.random() < 0.2:
        return change(draw, bytearray(data), page.start, page.data)
    written, size = with_value(draw, data, value), value.stop - value.start
    if value.kind in ("integer", "length") and len(written) < size:  # a varint may have more bytes than it needs
        written = bytes([*(byte | 0x80 for byte in written), *[0x80] * (size - len(written) - 1), 0])
    rest = data[value.stop : page.stop]
    longer = len(written) - size
    kept = rest[: len(rest) - longer] if longer > 0 else rest + bytes(-longer)
    return data[: value.start] + written + kept + data[page.stop :]


def page_data(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Change the data of a page, mostly its first bytes: levels, widths and lengths."""
    if not pages_of(seed):
        return bytes_anywhere(draw, seed, other)
    page = draw.choice(pages_of(seed))
    stop = page.stop if draw.random() < 0.4 else min(page.stop, page.data + 16)
    return change(draw, bytearray(seed.data), page.data, stop)


def csv_marks(draw: Random, seed: SeedFile, other: SeedFile) -> bytes:
    """Insert or delete quotes, delimiters, line ends and other bytes that have a meaning."""
    data = seed.data
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(data) + 1)
        data = data[:at] + draw.choice((*CSV_MARKS, b"")) + data[at + draw.randrange(3) :]
    return data


ANY: tuple[Mutation, ...] = (bytes_anywhere, truncation, insertion, splice)
OF_FORMAT: dict[str, tuple[Mutation, ...]] = {
    "parquet": (*ANY, footer_bytes, *[footer_value] * 4, *[page_header] * 3, *[page_data] * 3),
    "csv": (*ANY, *[csv_marks] * 4),
}


def mutate(draw: Random, seeds: tuple[SeedFile, ...]) -> tuple[SeedFile, str, bytes]:
    """Return the file that is changed, what was done to it, and the mutant."""
    own = [seed for seed in seeds if seed.format == "csv"] if draw.random() < 0.15 else seeds
    seed, other = draw.choice(own), draw.choice(own)
    mutation = draw.choice(OF_FORMAT[seed.format])
    return seed, mutation.__name__, mutation(draw, seed, other)
