"""The footer of a Parquet file, read without trust: schema, row groups, and column chunks with their statistics.

pyarrow ends the process where it is asked for a column chunk whose metadata is encrypted or contradicts the schema: its
C++ throws through Python.  So it is only asked for the Arrow schema, of a footer without row groups.

Source: github.com/apache/parquet-format, parquet.thrift; the numbers are those of its fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from math import inf
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl.formats.parquet_chunks import Chunks, FoundChunks, Leaf, find_chunks
from gpuetl.formats.thrift_reader import (
    BINARY,
    INTEGER32,
    INTEGER64,
    LIST,
    PRESENT,
    STRUCT,
    TEXT,
    BadFooter,
    Field,
    Fields,
    MalformedThrift,
    list_head,
    list_of,
    malformed,
    parsed,
    read_binary,
    read_list_bytes,
    struct,
    struct_reader,
)
from gpuetl.messages import coded
from gpuetl.records import dataclass

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
MOST_RECENT = 4
BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY = range(8)
OPTIONAL, REPEATED = 1, 2

DECRYPT = "Decrypt it with the tool that wrote it."

AS_WRITTEN = Field(LIST, read_list_bytes)
ORDERS = list_of(struct({1: PRESENT}))
ORDERED = b"\x1c\x00\x00"
"""The order of the type, as it is written: a struct with the field 1, an empty struct."""
EMPTY_HEAD, EMPTY_ROWS = b"\x15\x02\x19", b"\x16\x00\x19\x0c"
"""The footer of no rows: its version and the head of its schema; then zero rows, and no row groups."""


@dataclass(frozen=True, eq=False)
class StoredSchema:
    """A schema as the file has it: Arrow's, and the leaves in the order of their chunks.

    `other_names` has the columns whose names are not UTF-8, by the names that stand for them in the Arrow schema.
    Files whose columns are stored alike share one.
    """

    arrow: Any
    leaves: tuple[Leaf, ...]
    other_names: dict[str, bytes]
    replaced: bytes
    """The schema as it is written, with plain names."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.arrow.names)

    @cached_property
    def types(self) -> dict[str, Any]:
        """The Arrow types of the columns."""
        return {field.name: field.type for field in self.arrow}

    @cached_property
    def repeated(self) -> str | None:
        """The name of two columns, if there is one."""
        return min((name for name, count in Counter(self.names).items() if count > 1), default=None)

    @cached_property
    def places(self) -> dict[str, tuple[int, ...]]:
        """The places of each column's leaves."""
        found: dict[str, list[int]] = {}
        for place, leaf in enumerate(self.leaves):
            found.setdefault(self.names[leaf.column], []).append(place)
        return {name: tuple(each) for name, each in found.items()}

    @cached_property
    def field_places(self) -> dict[str, tuple[int, ...]]:
        """The places of the leaves of fields, by their paths with dots, as `s.a`."""
        found: dict[str, list[int]] = {}
        for place, leaf in enumerate(self.leaves):
            inner = [name.decode(errors="replace") for name in leaf.path[1:]]
            for depth in range(1, len(inner) + 1):
                found.setdefault(".".join((self.names[leaf.column], *inner[:depth])), []).append(place)
        return {path: tuple(each) for path, each in found.items()}


class FileMetadata(NamedTuple):
    """What a footer says; `stored` is equal for files whose columns are stored alike."""

    schema: StoredSchema
    stored: bytes
    created_by: str
    groups: list[tuple[int, Chunks]]
    encrypted: frozenset[str]
    """Columns that are encrypted in any row group."""
    data: bytes
    """The footer itself."""


def footer_bytes(file: Any) -> bytes:
    """Return the footer of a binary file that is open, Python's or Arrow's: see `footer_at`."""

    def read_at(start: int, size: int) -> bytes:
        file.seek(start)
        data: bytes = file.read(size)
        return data

    return footer_at(file.seek(0, 2), read_at)


def footer_at(size: int, read_at: Callable[[int, int], bytes]) -> bytes:
    """Return the footer of a file of `size` bytes, of which `read_at` reads some: by one read where it is short.

    Raises
    ------
    BadFooter
        For a file that is not Parquet, is encrypted, or is cut short.
    OSError
        For one that cannot be read.
    """
    tail = read_at(max(0, size - FIRST_READ), min(size, FIRST_READ))
    if tail.endswith(ENCRYPTED_MAGIC):
        raise BadFooter(coded("GE1442", "is encrypted, and gpuetl has no keys"), DECRYPT)
    if size < TAIL_BYTES + len(MAGIC) or not tail.endswith(MAGIC):
        what = "its size is 0 bytes" if not size else "the bytes PAR1 are missing at its end"
        raise BadFooter(coded("GE1403", f"is not a Parquet file that can be read: {what}"))
    declared = int.from_bytes(tail[-TAIL_BYTES:-4], "little")
    if declared > size - TAIL_BYTES - len(MAGIC):
        raise malformed(f"it declares {declared:,} bytes of metadata, more than the file has")
    if declared + TAIL_BYTES > len(tail):
        tail = read_at(size - TAIL_BYTES - declared, declared) + tail[-TAIL_BYTES:]
    return tail[len(tail) - TAIL_BYTES - declared : -TAIL_BYTES]


def read_footer(data: bytes) -> FileMetadata:
    """Return what a footer says.  Time and memory are in proportion to its bytes, whatever it declares.

    Costs about 20 µs, and 2 µs for each column chunk; a chunk that somebody asks about costs 8 µs more.

    Raises
    ------
    BadFooter
        For one that contradicts itself, is encrypted, or declares more than any file has.
    pa.ArrowException, OSError
        For a schema that pyarrow does not read.
    """
    try:
        found = parsed(FooterReader().read, data)
    except MalformedThrift as error:
        raise malformed(str(error)) from None
    elements, groups = found.get(2), found.get(4)
    if elements is None or groups is None:
        raise malformed("it has no schema, or no row groups")
    schema = stored_schema(elements, found.get(5) or b"", found.get(7) or ())
    made = [row_group(place, group, schema.leaves) for place, group in enumerate(groups)]
    hidden = {schema.leaves[place].column for _, chunks in made for place in chunks.encrypted()}
    encrypted = frozenset(schema.names[column] for column in hidden)
    return FileMetadata(schema, elements, (found.get(6) or b"").decode(errors="replace"), made, encrypted, data)


class FooterReader:
    """Reads the fields of one footer; the chunks by the schema that comes before them."""

    recent: ClassVar[tuple[bytes, ...]] = ()
    """The last schemas as they are written: bytes that begin with one have that schema."""

    def __init__(self) -> None:
        self.leaves: tuple[Leaf, ...] = ()
        self.elements: bytes | None = None
        group = struct({1: Field(LIST, self.chunks), 3: INTEGER64})
        self.read = struct_reader({
            2: Field(LIST, self.schema), 4: list_of(group), 5: AS_WRITTEN, 6: TEXT, 7: Field(LIST, read_orders),
        })  # fmt: skip

    def schema(self, data: bytes, at: int) -> tuple[bytes, int]:
        """Read the schema as it is written.  Files of one source mostly have the same one."""
        recent = FooterReader.recent
        elements = next((known for known in recent if data.startswith(known, at)), None)
        if elements is None:
            elements, _ = read_list_bytes(data, at)
            self.leaves = tuple(schema_tree(elements).leaves)
            FooterReader.recent = (elements, *recent[: MOST_RECENT - 1])
        else:
            self.leaves = tuple(schema_tree(elements).leaves)
        if self.elements not in (None, elements):
            raise malformed("it has two schemas")
        self.elements = elements
        return elements, at + len(elements)

    def chunks(self, data: bytes, at: int) -> tuple[FoundChunks | None, int]:
        """Read the chunks of a row group."""
        return find_chunks(data, at, self.leaves)


def read_orders(data: bytes, at: int) -> tuple[tuple[bool, ...] | None, int]:
    """Read for each leaf whether bounds are in the order of its type."""
    kind, count, start = list_head(data, at)
    ordered = ORDERED * count if kind == STRUCT else b""
    if ordered and data.startswith(ordered, start):
        return (True,) * count, start + len(ordered)
    orders, at = ORDERS.read(data, at)
    return None if orders is None else tuple(1 in order for order in orders), at


def row_group(place: int, group: Fields, leaves: Sequence[Leaf]) -> tuple[int, Chunks]:
    """Return the rows and chunks of a row group, of which there is one for each leaf."""
    rows, found = group.get(3), group.get(1)
    if rows is None or found is None:
        count = len(found.found if found else ())
        raise malformed(f"row group {place} has {count} columns, and the schema {len(leaves)}")
    chunks: Chunks = found.checked(place, leaves)
    if rows < 0 or (rows > PAGE_ROWS * bool(chunks) and rows > most_rows(chunks)):
        raise BadFooter(coded("GE1443", f"declares {rows:,} rows in row group {place}, more than its bytes can hold"))
    return rows, chunks


def most_rows(chunks: Chunks) -> float:
    """Return how many rows the bytes of chunks can hold: no one knows of encrypted ones."""
    if any(chunks.encrypted()):
        return inf
    return max((chunk.compressed_bytes // LEAST_PAGE_BYTES + 1) * PAGE_ROWS for chunk in chunks) if chunks else 0


@lru_cache(1 << 8)
def stored_schema(elements: bytes, key_values: bytes, orders: tuple[bool, ...]) -> StoredSchema:
    """Return a schema from the bytes in which it is written: files of one source mostly have the same."""
    tree = schema_tree(elements)
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


@lru_cache(1 << 4)
def schema_tree(elements: bytes) -> SchemaTree:
    """Return a schema from the bytes in which it is written.

    Raises
    ------
    BadFooter
        For one that contradicts itself, or has more columns than gpuetl reads.
    """
    return SchemaTree(parsed_elements(elements))


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
