"""The footer of a Parquet file, read without trust: schema, row groups, and column chunks with their statistics.

pyarrow ends the process where it is asked for a column chunk whose metadata is encrypted or contradicts the schema: its
C++ throws through Python.  So it is only asked for the Arrow schema, of a footer without row groups.

Source: github.com/apache/parquet-format, parquet.thrift; the numbers are those of its fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl.io.thrift import (
    BINARY,
    INTEGER32,
    INTEGER64,
    LIST,
    PRESENT,
    TEXT,
    Field,
    Fields,
    MalformedThrift,
    list_head,
    list_of,
    parsed,
    read_binary,
    read_list_bytes,
    struct,
)
from gpuetl.messages import coded

MAGIC, ENCRYPTED_MAGIC = b"PAR1", b"PARE"
TAIL_BYTES = 8
FIRST_READ = 1 << 16
"""Bytes at the end of a file that are read at once: most footers are shorter."""
MOST_LEVELS = 100
"""Levels of a schema; pyarrow's limit, too."""
MOST_COLUMNS = 100_000
PAGE_ROWS = 1 << 31
"""A page has fewer rows than this."""
LEAST_PAGE_BYTES = 8
BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY = range(8)
OPTIONAL, REPEATED = 1, 2

DAMAGED = "Get the file again, write it anew, or take it out of the source's path."
DECRYPT = "Decrypt it with the tool that wrote it."

STATISTICS = struct({1: TEXT, 2: TEXT, 3: INTEGER64, 5: TEXT, 6: TEXT})
CHUNK_METADATA = struct({
    1: INTEGER32, 2: list_of(INTEGER32), 3: list_of(TEXT), 4: INTEGER32, 5: INTEGER64, 6: INTEGER64, 7: INTEGER64,
    9: INTEGER64, 11: INTEGER64, 12: STATISTICS,
})  # fmt: skip
COLUMN_CHUNK = struct({3: CHUNK_METADATA, 8: PRESENT})
ROW_GROUP = struct({1: list_of(COLUMN_CHUNK), 3: INTEGER64})
AS_WRITTEN = Field(LIST, read_list_bytes)
FILE_METADATA = struct({2: AS_WRITTEN, 4: list_of(ROW_GROUP), 5: AS_WRITTEN, 6: TEXT, 7: list_of(struct({1: PRESENT}))})
EMPTY_HEAD, EMPTY_ROWS = b"\x15\x02\x19", b"\x16\x00\x19\x0c"
"""The footer of no rows: its version and the head of its schema; then zero rows, and no row groups."""


class BadFooter(ValueError):
    """A footer that cannot be used: a coded message that follows a file's name, and a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message)


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


class StoredSchema(NamedTuple):
    """A schema as the file has it: Arrow's, and the leaves in the order of their chunks.

    `other_names` has the columns whose names are not UTF-8, by the names that stand for them in the Arrow schema.
    """

    arrow: Any
    leaves: tuple[Leaf, ...]
    other_names: dict[str, bytes]
    replaced: bytes
    """The schema as it is written, with plain names."""


class FileMetadata(NamedTuple):
    """What a footer says; `stored` is equal for files whose columns are stored alike."""

    schema: StoredSchema
    stored: bytes
    created_by: str
    groups: list[tuple[int, list[Chunk]]]
    encrypted: frozenset[str]
    """Columns that are encrypted in any row group."""


def footer_bytes(file: Any) -> bytes:
    """Return the footer of a binary file that is open, Python's or Arrow's, by one read where it is short.

    Raises
    ------
    BadFooter
        For a file that is not Parquet, is encrypted, or is cut short.
    OSError
        For one that cannot be read.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - FIRST_READ))
    tail: bytes = file.read(FIRST_READ)
    if tail.endswith(ENCRYPTED_MAGIC):
        raise BadFooter(coded("GE1442", "is encrypted, and gpuetl has no keys"), DECRYPT)
    if size < TAIL_BYTES + len(MAGIC) or not tail.endswith(MAGIC):
        what = "its size is 0 bytes" if not size else "the bytes PAR1 are missing at its end"
        raise BadFooter(coded("GE1403", f"is not a Parquet file that can be read: {what}"))
    declared = int.from_bytes(tail[-TAIL_BYTES:-4], "little")
    if declared > size - TAIL_BYTES - len(MAGIC):
        raise malformed(f"it declares {declared:,} bytes of metadata, more than the file has")
    if declared + TAIL_BYTES > len(tail):
        file.seek(size - TAIL_BYTES - declared)
        tail = file.read(declared) + tail[-TAIL_BYTES:]
    return tail[len(tail) - TAIL_BYTES - declared : -TAIL_BYTES]


def read_footer(data: bytes) -> FileMetadata:
    """Return what a footer says.  Time and memory are in proportion to its bytes, whatever it declares.

    Raises
    ------
    BadFooter
        For one that contradicts itself, is encrypted, or declares more than any file has.
    pa.ArrowException, OSError
        For a schema that pyarrow does not read.
    """
    try:
        found = parsed(FILE_METADATA.read, data)
    except MalformedThrift as error:
        raise malformed(str(error)) from None
    if found.get(2) is None or found.get(4) is None:
        raise malformed("it has no schema, or no row groups")
    orders = tuple(1 in order for order in found.get(7) or ())
    schema = stored_schema(found[2], found.get(5) or b"", orders)
    groups = [row_group(place, group, schema.leaves) for place, group in enumerate(found[4])]
    hidden = {leaf.column for _, own in groups for leaf, one in zip(schema.leaves, own, strict=True) if one.encrypted}
    encrypted = frozenset(schema.arrow.names[column] for column in hidden)
    return FileMetadata(schema, found[2], (found.get(6) or b"").decode(errors="replace"), groups, encrypted)


def row_group(place: int, group: Fields, leaves: Sequence[Leaf]) -> tuple[int, list[Chunk]]:
    """Return the rows and chunks of a row group, of which there is one for each leaf."""
    rows, chunks = group.get(3), group.get(1)
    if rows is None or chunks is None or len(chunks) != len(leaves):
        raise malformed(f"row group {place} has {len(chunks or ())} columns, and the schema {len(leaves)}")
    made = [column_chunk(place, leaf, chunk) for leaf, chunk in zip(leaves, chunks, strict=True)]
    most = max((chunk.compressed_bytes // LEAST_PAGE_BYTES + 1) * PAGE_ROWS for chunk in made) if made else 0
    if rows < 0 or (rows > most and not any(chunk.encrypted for chunk in made)):
        raise BadFooter(coded("GE1443", f"declares {rows:,} rows in row group {place}, more than its bytes can hold"))
    return rows, made


def column_chunk(place: int, leaf: Leaf, chunk: Fields) -> Chunk:
    """Return a chunk of a leaf in the row group at a place.

    One whose metadata is encrypted has no values and no bytes, as far as anybody can tell.
    """
    found, hidden = chunk.get(3), 8 in chunk
    if found is None and hidden:
        return Chunk((), leaf.path, 0, 0, 0, 0, 0, None, None, None, None, True)
    if found is None or any(found.get(number) is None for number in (1, 2, 3, 4, 5, 6, 7, 9)):
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


@lru_cache(1 << 8)
def stored_schema(elements: bytes, key_values: bytes, orders: tuple[bool, ...]) -> StoredSchema:
    """Return a schema from the bytes in which it is written: files of one source mostly have the same."""
    tree = SchemaTree(parsed_elements(elements))
    replaced, others = bytearray(elements), dict[str, bytes]()
    for column, (name, end) in tree.names:
        if not is_utf8(name):
            replaced[end - len(name) : end] = plain_name(name)
            top = tree.columns[column]
            others[plain_name(top).decode()] = top
    key_values = b"\x19" + key_values if key_values and not others else b""
    arrow = arrow_metadata(EMPTY_HEAD + bytes(replaced) + EMPTY_ROWS + key_values + b"\0").schema.to_arrow_schema()
    if len(arrow) != len(tree.columns):
        raise malformed(f"its schema has {len(tree.columns)} columns, and Arrow reads {len(arrow)}")
    ordered = orders if len(orders) == len(tree.leaves) else (False,) * len(tree.leaves)
    leaves = (leaf._replace(ordered=known) for leaf, known in zip(tree.leaves, ordered, strict=True))
    return StoredSchema(arrow, tuple(leaves), others, bytes(replaced))


def renamed(data: bytes, metadata: FileMetadata) -> Any:
    """Return a footer as pyarrow's, with plain names in the place of those that are not UTF-8."""
    return arrow_metadata(data.replace(metadata.stored, metadata.schema.replaced, 1))


def arrow_metadata(footer: bytes) -> Any:
    """Let pyarrow read a footer."""
    return pq.read_metadata(pa.BufferReader(MAGIC + footer + len(footer).to_bytes(4, "little") + MAGIC))


def parsed_elements(elements: bytes) -> list[Fields]:
    """Return the elements of a schema, each name with the position after it."""
    try:
        _, count, _ = list_head(elements, 0)
        if count > MOST_COLUMNS + 1:  # the first element is the schema itself
            raise BadFooter(coded("GE1443", f"declares {count - 1:,} columns, and gpuetl reads up to {MOST_COLUMNS:,}"))
        return parsed(ELEMENTS.read, elements) or []
    except MalformedThrift as error:
        raise malformed(str(error)) from None


def read_placed(data: bytes, at: int) -> tuple[tuple[bytes, int], int]:
    """Read a name with the position after it."""
    name, end = read_binary(data, at)
    return (name, end), end


ELEMENT = struct({1: INTEGER32, 3: INTEGER32, 4: Field(BINARY, read_placed), 5: INTEGER32})
ELEMENTS = list_of(ELEMENT)


class SchemaTree:
    """The elements of a schema as a tree: its columns, and the leaves below them.

    `names` has the column of each element, and its name with where that ends in the schema's bytes.
    """

    def __init__(self, elements: Sequence[Fields]) -> None:
        self.columns: list[bytes] = []
        self.leaves: list[Leaf] = []
        self.names: list[tuple[int, tuple[bytes, int]]] = []
        self._read(elements)

    def _read(self, elements: Sequence[Fields]) -> None:
        """Walk the elements, each of which is followed by its children."""
        if not elements or any(4 not in element for element in elements):
            raise malformed("its schema has no columns, or one without a name")
        open_groups = [(children_of(elements[0]), tuple[bytes, ...](), 0, 0)]
        for element in elements[1:]:
            while open_groups and not open_groups[-1][0]:
                open_groups.pop()
            if not open_groups or len(open_groups) > MOST_LEVELS:
                raise malformed("its schema has columns that belong to none, or that lie too deeply inside each other")
            left, path, definitions, repetitions = open_groups[-1]
            open_groups[-1] = (left - 1, path, definitions, repetitions)
            below = self._add(element, path, definitions, repetitions)
            if below is not None:
                open_groups.append(below)
        if any(left for left, *_ in open_groups):
            raise malformed("its schema declares more columns than it has")

    def _add(
        self, element: Fields, path: tuple[bytes, ...], definitions: int, repetitions: int
    ) -> tuple[int, tuple[bytes, ...], int, int] | None:
        """Add an element; return the group that it opens, if it is one."""
        name: bytes = element[4][0]
        if not path:
            self.columns.append(name)
        column, path, how = len(self.columns) - 1, (*path, name), element.get(3, 0)
        self.names.append((column, element[4]))
        definitions, repetitions = definitions + (how in (OPTIONAL, REPEATED)), repetitions + (how == REPEATED)
        if children_of(element) or 1 not in element:
            return children_of(element), path, definitions, repetitions
        self.leaves.append(Leaf(column, path, element[1], definitions, repetitions))
        return None


def children_of(element: Fields) -> int:
    """Return how many children an element of a schema declares."""
    children: int = element.get(5, 0)
    if children < 0:
        raise malformed("its schema declares less than no columns")
    return children


def is_utf8(name: bytes) -> bool:
    """Tell whether a name is text."""
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def plain_name(name: bytes) -> bytes:
    """Return what stands for a name that is not UTF-8, in as many bytes."""
    return name if is_utf8(name) else bytes(byte if byte < 128 else ord("?") for byte in name)


def malformed(what: str) -> BadFooter:
    """Word metadata that cannot be right."""
    return BadFooter(coded("GE1440", f"has metadata that contradicts itself: {what}"), DAMAGED)
