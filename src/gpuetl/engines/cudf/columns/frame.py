"""A frame in device memory; its columns may lie in one buffer until they are asked for, as those of an exchange do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.columns.vector import Buffer, Vector
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

# A piece of an exchange: columns side by side in one buffer, which become arrays when they are asked for.
#
# An exchange of N partitions has N² pieces.  Most are only kept, sent and put below each other again, for which it is
# enough to know where their columns lie: an array of a column takes longer to make than to fill.


Places = NDArray[np.int64]
"""Where something lies, or how much there is of it."""
WORD_ROWS, WORD_BYTES = 32, 4


class StoredColumn(NamedTuple):
    """A column's type, that of its values in memory, how many of these a row has, and its place among the columns."""

    dtype: DataType
    values: np.dtype[np.generic]
    a_row: int
    place: int

    @property
    def width(self) -> int:
        """The bytes of a row."""
        return self.values.itemsize * self.a_row


class Layout:
    """What the pieces of an exchange have in common: the frame's columns in their order, and as they are stored.

    Layouts that are equal are one: see `layout_of`.
    """

    def __init__(self, names: tuple[str, ...], stored: tuple[tuple[str, StoredColumn], ...]) -> None:
        self.names, self.stored = names, dict(stored)
        self.width = sum(each.width for each in self.stored.values())

    def __reduce__(self) -> tuple[Callable[..., Layout], tuple[object, ...]]:
        return layout_of, (self.names, tuple(self.stored.items()))


def layout_of(names: tuple[str, ...], stored: tuple[tuple[str, StoredColumn], ...]) -> Layout:
    """Return the layout of some columns, in a frame's order, and in that of the buffer as they are stored."""
    with _LOCK:  # else two threads that ask at the same time get one each
        return _LAYOUTS(names, stored)


_LAYOUTS = lru_cache(1 << 10)(Layout)
_LOCK = Lock()


class PieceColumns(Mapping[str, Vector]):
    """The columns of a piece.

    Parameters
    ----------
    layout
        Of all pieces of the partition.
    dictionaries
        Of columns of strings, which all have one.
    memory
        The buffer: uint8[bytes].
    rows
        How many the piece has.
    places
        Where in the buffer each column's values begin, and its validity words: int64[2, columns].
    nulls
        How many each column has, int64[columns]; the words of one that has none are not read.
    """

    def __init__(
        self,
        layout: Layout,
        dictionaries: Mapping[str, Vector],
        memory: Buffer,
        rows: int,
        places: Places,
        nulls: Places,
    ) -> None:
        self.layout, self.dictionaries, self.memory = layout, dictionaries, memory
        self.rows, self.places, self.nulls = rows, places, nulls
        self.loaded_vectors: dict[str, Vector] = {}

    def __getitem__(self, name: str) -> Vector:
        loaded = self.loaded_vectors.get(name)
        if loaded is None:
            loaded = self.loaded_vectors[name] = self.vector(name)
        return loaded

    def __iter__(self) -> Iterator[str]:
        return iter(self.layout.names)

    def __len__(self) -> int:
        return len(self.layout.names)

    @property
    def nbytes(self) -> int:
        """The device memory that the columns take, without what lies between them; a dictionary's for each."""
        words = self.word_bytes * int(np.count_nonzero(self.nulls))
        return (
            self.rows * self.layout.width + words + sum(dictionary.nbytes for dictionary in self.dictionaries.values())
        )

    @property
    def word_bytes(self) -> int:
        """What a column's validity words take."""
        return -(-self.rows // WORD_ROWS) * WORD_BYTES

    def on(self, memory: Buffer) -> PieceColumns:
        """Return the columns of another buffer in which all lies as in this one; of none, only where it would lie."""
        return PieceColumns(self.layout, self.dictionaries, memory, self.rows, self.places, self.nulls)

    def vector(self, name: str) -> Vector:
        """Return a column on the memory of the buffer."""
        stored = self.layout.stored[name]
        start, words = self.places[:, stored.place].tolist()
        data = self.memory[start : start + self.rows * stored.width].view(stored.values)
        data = data.reshape(-1, stored.a_row) if stored.a_row > 1 else data
        nulls = int(self.nulls[stored.place])
        valid = self.memory[words : words + self.word_bytes].view("uint32") if nulls else None
        return Vector(stored.dtype, self.rows, data, valid, nulls, dictionary=self.dictionaries.get(name))


# The engine's own table, and how many rows it may have.


MAX_ROWS = (1 << 31) - 1
"""As many rows as a frame may have: kernels number rows in 32 bits, as libcudf does."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Columns of `rows` rows each, in the order of the schema; there may be rows without columns."""

    columns: Mapping[str, Vector]
    rows: int

    def select(self, names: tuple[str, ...]) -> Frame:
        """Return some of the columns, in that order."""
        return Frame({name: self.columns[name] for name in names}, self.rows)

    def without(self, names: Collection[str]) -> Frame:
        """Return the other columns."""
        return self.select(tuple(name for name in self.columns if name not in names)) if names else self

    def updated(self, columns: Mapping[str, Vector]) -> Frame:
        """Return the frame with columns added, or put in place of others of the same name."""
        return Frame({**self.columns, **columns}, self.rows)

    @property
    def nbytes(self) -> int:
        """The device memory that the columns take."""
        if isinstance(self.columns, PieceColumns):
            return self.columns.nbytes
        return sum(vector.nbytes for vector in self.columns.values())


def check_rows(rows: int) -> None:
    """Raise `EvaluationError` where rows that are put together are more than a frame has."""
    if rows > MAX_ROWS:
        raise EvaluationError(
            coded(
                "GE2008",
                f"a column would have {rows:,} rows, and a frame holds {MAX_ROWS:,}.  "
                "Run with smaller partitions, or filter or aggregate before rows must meet",
            )
        )
