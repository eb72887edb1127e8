"""Column chunks in the footer of a Parquet file, found by a pattern and decoded when they are asked for.

A footer has a chunk for each leaf and row group.  A query asks about a few of them, but the position of a chunk is
known only after the one before it.  So `Chunks` first matches each chunk against a regular expression of what writers
write.  That checks what must hold of every chunk, and takes 2 µs where decoding takes 20.

A chunk that does not match is read by the general reader of `thrift_reader.py`.  The pattern accepts a chunk
only where
the general reader gives the same fields, and where these are right: see `TAIL`.

Source: github.com/apache/parquet-format, parquet.thrift; the numbers are those of its fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple, overload

from gpuetl.formats.thrift_reader import (
    BINARY,
    FALSE,
    I16,
    I32,
    I64,
    INTEGER32,
    INTEGER64,
    LIST,
    PRESENT,
    STRUCT,
    TEXT,
    TRUE,
    Fields,
    list_head,
    list_of,
    malformed,
    read_integer,
    skip,
    struct,
)

STATISTICS = struct({1: TEXT, 2: TEXT, 3: INTEGER64, 5: TEXT, 6: TEXT})
ENCODINGS = list_of(INTEGER32)
CHUNK_METADATA = struct({
    1: INTEGER32, 2: ENCODINGS, 3: list_of(TEXT), 4: INTEGER32, 5: INTEGER64, 6: INTEGER64, 7: INTEGER64,
    9: INTEGER64, 11: INTEGER64, 12: STATISTICS,
})  # fmt: skip
COLUMN_CHUNK = struct({3: CHUNK_METADATA, 8: PRESENT})
COLUMN_CHUNKS = list_of(COLUMN_CHUNK)
REQUIRED = (1, 2, 3, 4, 5, 6, 7, 9)
MOST_PHYSICAL = 7
LONGEST_BOUND = 64
"""Bytes of a bound that the pattern takes; each length takes time to compile."""
GENERAL_CHUNKS = 400
"""Chunks that are read without patterns first: as much work as to compile the patterns."""
LONGEST_LIST = 8
Match = re.Match[bytes]
Matcher = Callable[[bytes, int], Match | None]


class Leaf(NamedTuple):
    """A stored column without parts: the place of the column that it belongs to, and how its values are stored."""

    column: int
    path: tuple[bytes, ...]
    physical: int
    most_definitions: int
    most_repetitions: int
    ordered: bool = True
    """Whether bounds are in the order of the type; what other orders mean is not known."""


class Chunk(NamedTuple):
    """The values of a leaf in a row group; sizes in bytes, offsets from the file's beginning.

    Statistics are bytes as stored, None where there are none.  `old_bounds` are those of writers before 2017, which
    compare all values as signed.
    """

    encodings: tuple[int, ...]
    path: tuple[bytes, ...]
    codec: int
    values: int
    uncompressed_bytes: int
    compressed_bytes: int
    data_page: int
    dictionary_page: int | None
    nulls: int | None
    bounds: tuple[bytes, bytes] | None
    old_bounds: tuple[bytes, bytes] | None
    encrypted: bool

    @property
    def start(self) -> int:
        """The offset of the first page.  Some writers give 0 for a dictionary that is not there."""
        dictionary = self.dictionary_page
        return dictionary if dictionary and 0 < dictionary < self.data_page else self.data_page


class Chunks(Sequence[Chunk]):
    """The chunks of a row group, one for each leaf; each is decoded when it is first asked for."""

    __slots__ = ("_data", "_found", "_leaves", "_starts")

    def __init__(
        self, data: bytes, leaves: Sequence[Leaf], starts: Sequence[int], found: Sequence[Match | Chunk]
    ) -> None:
        self._data, self._leaves, self._starts, self._found = data, leaves, starts, list(found)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, place: int) -> Chunk: ...

    @overload
    def __getitem__(self, place: slice) -> list[Chunk]: ...

    def __getitem__(self, place: int | slice) -> Chunk | list[Chunk]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        found = self._found[place]
        if not isinstance(found, Chunk):
            found = self._found[place] = decoded(self._data, self._leaves[place], self._starts[place], found)
        return found

    def compressed_bytes(self, place: int) -> int:
        """Return the bytes of a chunk in the file, without decoding the rest of it."""
        found = self._found[place]
        if isinstance(found, Chunk):
            return found.compressed_bytes
        return read_integer(self._data, found.start(COMPRESSED))[0]

    def encrypted(self) -> Iterator[int]:
        """Yield the places of encrypted chunks, which no pattern matches."""
        for place, found in enumerate(self._found):
            if isinstance(found, Chunk) and found.encrypted:
                yield place


class FoundChunks(NamedTuple):
    """The chunks of a row group before they are checked: where each begins, and its match or its fields."""

    data: bytes
    starts: list[int]
    found: list[Match | Fields]

    def checked(self, place: int, leaves: Sequence[Leaf]) -> Chunks:
        """Return the chunks of the row group at a place.

        Raises
        ------
        BadFooter
            Where there is not one chunk for each leaf, or one contradicts its leaf.
        """
        if len(self.found) != len(leaves):
            raise malformed(f"row group {place} has {len(self.found)} columns, and the schema {len(leaves)}")
        made = [
            column_chunk(place, leaf, one) if isinstance(one, dict) else one
            for leaf, one in zip(leaves, self.found, strict=True)
        ]
        return Chunks(self.data, leaves, self.starts, made)


def find_chunks(data: bytes, at: int, leaves: Sequence[Leaf]) -> tuple[FoundChunks | None, int]:
    """Read the list of a row group's chunks; return None for it where it is a list of another kind."""
    kind, count, start = list_head(data, at)
    if kind != STRUCT:
        return None, skip(data, at, LIST, 0)
    if count != len(leaves) or not _General.is_over(count):
        read_fields, at = COLUMN_CHUNKS.read(data, at)
        return FoundChunks(data, [0] * count, read_fields), at
    at, starts, found = start, list[int](), list[Match | Fields]()
    tail_of, read = tail(), COLUMN_CHUNK.read
    for head_of, path, path_bytes in leaf_patterns(tuple(leaves)):
        starts.append(at)
        if (head := head_of(data, at)) and data.startswith(path, end := head.end()):
            ended = tail_of(data, end + path_bytes)
            if ended is not None:
                found.append(ended)
                at = ended.end()
                continue
        fields, at = read(data, at)
        found.append(fields)
    return FoundChunks(data, starts, found), at


class _General:
    """Counts the chunks that this process has read without patterns."""

    chunks = 0

    @classmethod
    def is_over(cls, count: int) -> bool:
        """Tell whether patterns are worth it by now; `count` chunks follow."""
        if cls.chunks >= GENERAL_CHUNKS:
            return True
        cls.chunks += count
        return cls.chunks >= GENERAL_CHUNKS


def no_match(data: bytes, at: int) -> None:
    """Match nothing."""


def decoded(data: bytes, leaf: Leaf, start: int, found: Match) -> Chunk:
    """Return a chunk that begins at `start` and whose end is a match of `TAIL`."""
    head_of = head(leaf.physical)
    matched = head_of(data, start) if head_of else None
    assert matched is not None
    encodings, _ = ENCODINGS.read(data, matched.start(1))
    stated = found.start(STATISTICS_GROUP)  # -1 where it is not there
    statistics: Fields = STATISTICS.read(data, stated)[0] if stated >= 0 else {}
    codec, values, uncompressed, compressed, data_page = (
        read_integer(data, found.start(group))[0] for group in range(1, DICTIONARY)
    )
    dictionary = read_integer(data, found.start(DICTIONARY))[0] if found.start(DICTIONARY) >= 0 else None
    return Chunk(
        tuple(encodings), leaf.path, codec, values, uncompressed, compressed, data_page, dictionary,
        statistics.get(3), pair(statistics, 6, 5), pair(statistics, 2, 1), False,
    )  # fmt: skip


def column_chunk(place: int, leaf: Leaf, chunk: Fields) -> Chunk:
    """Return a chunk of a leaf in the row group at a place, from its fields.

    One whose metadata is encrypted has no values and no bytes, as far as anybody can tell.
    """
    found, hidden = chunk.get(3), 8 in chunk
    if found is None and hidden:
        return Chunk((), leaf.path, 0, 0, 0, 0, 0, None, None, None, None, True)
    if found is None or any(found.get(number) is None for number in REQUIRED):
        raise malformed(f"column {shown(leaf)} in row group {place} lacks what each column has")
    if found[1] != leaf.physical or min(found[5], found[6], found[7]) < 0:
        raise malformed(f"column {shown(leaf)} in row group {place} has another type than in the schema, or no size")
    statistics = found.get(12) or {}
    return Chunk(
        tuple(found[2]), tuple(found[3]), found[4], found[5], found[6], found[7], found[9], found.get(11),
        statistics.get(3), pair(statistics, 6, 5), pair(statistics, 2, 1), hidden,
    )  # fmt: skip


def pair(fields: Fields, least: int, greatest: int) -> tuple[bytes, bytes] | None:
    """Return two fields, None where one is not there."""
    return (fields[least], fields[greatest]) if least in fields and greatest in fields else None


def shown(leaf: Leaf) -> str:
    """Return a leaf's path for a message."""
    return "'" + ".".join(name.decode(errors="backslashreplace") for name in leaf.path) + "'"


@lru_cache(16)
def leaf_patterns(leaves: tuple[Leaf, ...]) -> tuple[tuple[Matcher, bytes, int], ...]:
    """Return for each leaf what matches the head of its chunks, its path as it is written, and the path's bytes."""
    patterns = []
    for leaf in leaves:
        path = list_bytes(BINARY, len(leaf.path)) + b"".join(unsigned_bytes(len(name)) + name for name in leaf.path)
        patterns.append((head(leaf.physical) or no_match, path, len(path)))
    return tuple(patterns)


def list_bytes(kind: int, count: int) -> bytes:
    """Write the head of a list."""
    return bytes([count << 4 | kind]) if count < 15 else bytes([15 << 4 | kind]) + unsigned_bytes(count)


def unsigned_bytes(number: int) -> bytes:
    """Write a number without a sign."""
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def headers(*kinds: int) -> bytes:
    """Return the pattern of a field's first byte, for fields of these kinds whose numbers rise by 1 to 15."""
    return b"[" + b"".join(re.escape(bytes([step << 4 | kind])) for step in range(1, 16) for kind in kinds) + b"]"


def lists(kind: int, element: bytes) -> bytes:
    """Return the pattern of a list of up to `LONGEST_LIST` elements."""
    counts = range(LONGEST_LIST + 1)
    return b"(?:%s)" % b"|".join(b"%s(?:%s){%d}" % (re.escape(bytes([n << 4 | kind])), element, n) for n in counts)


NUMBER = rb"[\x80-\xff]{0,9}[\x00-\x7f]"
"""A number of up to 10 bytes, as `read_unsigned` reads it."""
POSITIVE = b"(?:[%s]|[%s][\\x80-\\xff]{0,8}[\\x00-\\x7f])" % (
    b"".join(re.escape(bytes([byte])) for byte in range(0, 128, 2)),
    b"".join(re.escape(bytes([byte])) for byte in range(128, 256, 2)),
)
"""A number with a sign that is 0 or more: the lowest bit is the sign."""
INTEGER_FIELD = headers(I16, I32, I64) + NUMBER
COMPRESSED, DICTIONARY, STATISTICS_GROUP = 4, 6, 7
"""Groups of `TAIL`."""


@cache
def head(physical: int) -> Matcher | None:
    """Return what matches a chunk up to its path: the file's offset, then metadata: the type, and group 1, encodings.

    None for a type that Parquet does not have.
    """
    if not 0 <= physical <= MOST_PHYSICAL:
        return None
    kind = re.escape(bytes([physical << 1]))
    pattern = b"\\x26%s\\x1c\\x15%s\\x19(%s)\\x19" % (NUMBER, kind, lists(I32, NUMBER))
    return re.compile(pattern, re.DOTALL).match


@cache
def tail() -> Matcher:
    r"""Return what matches a chunk after its path.

    The groups are the codec (1), the values (2), the uncompressed (3) and the compressed bytes (4), the offset of the
    first data page (5), and if they are there, the offset of the dictionary (6) and the statistics (7).

    A first byte such as \x26 is a field's step from the number before (2) and its kind (6, a 64-bit integer).  Numbers
    only rise, so no field comes twice.  What follows the statistics, or the encoding statistics where there are none,
    is not needed, and is matched only so that the end is found.  No part can match in two ways: the first byte of each
    decides.  So the time is in proportion to the bytes.
    """
    lengths = (8, 4, 1, 0, *sorted({*range(LONGEST_BOUND + 1)} - {8, 4, 1, 0}))
    text = b"(?:%s)" % b"|".join(b"%s.{%d}" % (re.escape(bytes([n])), n) for n in lengths)
    statistics = b"(?:%s|%s%s|%s)*\\x00" % (INTEGER_FIELD, headers(BINARY), text, headers(TRUE, FALSE))
    numbers = b"(?:%s)*\\x00" % INTEGER_FIELD
    of_encodings = lists(STRUCT, numbers)
    sizes = b"(?:%s|%s%s)*\\x00" % (INTEGER_FIELD, headers(LIST), lists(I64, NUMBER))
    rest = b"(?:%s|%s%s|%s(?:%s|%s))*" % (
        INTEGER_FIELD, headers(STRUCT), sizes, headers(LIST), of_encodings, lists(I64, NUMBER)
    )  # fmt: skip
    pattern = (
        b"\\x15(%s)\\x16(%s)\\x16(%s)\\x16(%s)\\x26(%s)" % (NUMBER, POSITIVE, POSITIVE, POSITIVE, NUMBER)
        + b"(?:\\x26(%s))?" % NUMBER
        + b"(?:(?(6)\\x1c|\\x3c)(%s))?" % statistics
        + b"(?(7)%s|(?:(?(6)\\x29|\\x49)%s%s)?)\\x00" % (rest, of_encodings, rest)
        + numbers
    )
    return re.compile(pattern, re.DOTALL).match
