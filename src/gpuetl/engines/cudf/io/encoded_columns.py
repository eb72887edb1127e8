"""Columns of one type that kernels encode together, and what encoders give: pages, statistics, strings on the host."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from gpuetl.engines.cudf.columns.validity import empty_values
from gpuetl.engines.cudf.columns.vector import Vector, storage_type
from gpuetl.engines.cudf.io.definition_levels import Levels
from gpuetl.engines.cudf.io.parquet_metadata import Limits
from gpuetl.engines.cudf.io.threaded_file import Piece
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, DataType, is_floating

# Texts of a dictionary in host memory, where limits are looked up, and as a file has them.


class HostTexts(Sequence[bytes]):
    """Texts in host memory."""

    def __init__(self, texts: Vector, machine: Machine) -> None:
        self.machine = machine
        self.offsets = machine.host(texts.required_offsets).astype(np.int64)
        self.data = machine.host(texts.data)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, at: Any) -> Any:
        return self.data[self.offsets[at] : self.offsets[at + 1]].tobytes()

    @cached_property
    def plain(self) -> np.ndarray[Any, Any]:
        """Return all of them as PLAIN encodes them: each behind its length of 4 bytes."""
        sizes = np.diff(self.offsets)
        starts = self.offsets[:-1] + 4 * np.arange(len(self))
        heads = (starts[:, None] + np.arange(4)).reshape(-1)
        encoded = np.empty(len(self.data) + 4 * len(self), np.uint8)
        encoded[heads] = sizes.astype("<u4").view(np.uint8)
        rest = np.ones(len(encoded), bool)
        rest[heads] = False
        encoded[rest] = self.data
        return encoded

    @cached_property
    def d_plain(self) -> Array:
        """Return what is in `plain` in device memory."""
        return self.machine.arrays.asarray(self.plain)


# Columns of one type, which kernels take together: a launch, and what it allocates, costs the host the same.


class Column(NamedTuple):
    """A column of a batch; `texts` are those that its values are numbers of."""

    vector: Vector
    texts: HostTexts | None
    levels: Levels


@dataclass(frozen=True, eq=False)
class Stack:
    """Columns' values of one type, without nulls; in memory for all rows, of which the valid ones come first."""

    values: Sequence[Array]
    stored: str
    levels: Sequence[Levels]
    machine: Machine

    @property
    def column_pages(self) -> int:
        """The pages of a column."""
        return self.levels[0].pages

    @property
    def pages(self) -> int:
        """The pages of all columns."""
        return len(self.levels) * self.column_pages

    @property
    def counts(self) -> list[int]:
        """The values of each page, when the host has been told."""
        return [count for each in self.levels for count in each.counts]

    @cached_property
    def table(self) -> Array:
        """Where each column's values lie, and where it is written where its pages begin: int64[columns, 2]."""
        address = self.machine.address
        places = [(address(v), address(each.d_starts)) for v, each in zip(self.values, self.levels, strict=True)]
        return self.machine.arrays.asarray(np.array(places, np.int64))

    def split(self, pages: Sequence[Any]) -> list[Sequence[Any]]:
        """Return what is of pages by columns."""
        size = self.column_pages
        return [pages[at : at + size] for at in range(0, len(pages), size)]


def stack_of(columns: Sequence[Column], machine: Machine) -> Stack:
    """Return the values that are not null of columns of one type: a column's own memory where none can be."""
    stored = storage_type(columns[0].vector.codes.dtype)
    return Stack(valid_values(columns, machine), stored, [column.levels for column in columns], machine)


def valid_values(columns: Sequence[Column], machine: Machine) -> list[Array]:
    """Copy the values of columns that may have nulls."""
    nullable = [column for column in columns if column.levels.valid is not None]
    if not nullable:
        return [column.vector.data for column in columns]
    rows, dtype = nullable[0].levels.rows, nullable[0].vector.codes.dtype
    memory = empty_values(dtype, rows * len(nullable), machine)
    own = {id(column): memory[at * rows : (at + 1) * rows] for at, column in enumerate(nullable)}
    table = [
        [
            machine.address(each)
            for each in (c.vector.data, c.levels.valid, c.levels.through, own[id(c)])
            if each is not None
        ]
        for c in nullable
    ]
    entry = f"compact_bytes{np.dtype(storage_type(dtype)).itemsize}"
    arguments: list[Any] = [rows * len(nullable), rows, machine.arrays.asarray(np.array(table, np.int64))]
    machine.launch(machine.closed("pages"), entry, arguments[0], arguments)
    values: dict[int, Array] = {id(column): column.vector.data for column in columns} | own
    return [values[id(column)] for column in columns]


# Least and greatest values of column chunks, from numbers in their order: `ordered` of parquet.cuh turned back.


DOUBLE = struct.Struct("<d")
SIGN, ALL = 1 << 63, (1 << 64) - 1
LimitsOf = Callable[[int, int], Limits | None]
"""Makes limits of the numbers of a least and a greatest value."""


def ranges_found(measured: np.ndarray[Any, Any]) -> list[list[int]]:
    """Return the two numbers of each page's `Range`."""
    pages: list[list[int]] = measured.view(np.uint64).reshape(-1, 2).tolist()
    return pages


def merged(ranges: Sequence[list[int]]) -> tuple[int, int] | None:
    """Return the least and the greatest number of pages, stored as `Range` does; None where there is no value."""
    least, greatest = ranges[0] if len(ranges) == 1 else map(max, zip(*ranges, strict=True))
    return None if least == greatest == 0 else (least ^ ALL, greatest)


@cache
def limits_of(dtype: DataType) -> LimitsOf:
    """Return what makes limits of a type's numbers, as PLAIN encodes them."""
    if is_floating(dtype):
        return lambda least, greatest: float_limits(least, greatest, "<f" if storage_type(dtype) == "float32" else "<d")
    if dtype == BOOL:
        return lambda least, greatest: (bytes([least]), bytes([greatest]))
    storage = storage_type(dtype)
    width = 8 if storage.endswith("64") else 4
    if storage.startswith("u"):
        return lambda least, greatest: (least.to_bytes(width, "little"), greatest.to_bytes(width, "little"))
    return lambda least, greatest: (signed(least, width), signed(greatest, width))


def signed(number: int, width: int) -> bytes:
    """Return a signed integer, whose number has the sign turned over."""
    return (number - SIGN).to_bytes(width, "little", signed=True)


def float_limits(least: int, greatest: int, form: str) -> Limits:
    """Return a float's limits; zeros have the signs that include the other zero, as the format asks."""
    low, high = (float_of(number) for number in (least, greatest))
    return struct.pack(form, -0.0 if low == 0 else low), struct.pack(form, 0.0 if high == 0 else high)


def float_of(number: int) -> float:
    """Return the float of a number."""
    bits = number ^ SIGN if number & SIGN else number ^ ALL
    (value,) = DOUBLE.unpack(bits.to_bytes(8, "little"))
    return float(value)


def text_limits(texts: Sequence[bytes]) -> LimitsOf:
    """Return what makes limits of the numbers of texts; as pyarrow, none of texts of over 4 KiB."""

    def limits(least: int, greatest: int) -> Limits | None:
        found = texts[least], texts[greatest]
        return found if max(map(len, found)) <= 4096 else None

    return limits


# What encoders give: the values of pages as pieces of a file.


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The distinct values, encoded as PLAIN, that a chunk's codes stand for."""

    data: Piece
    entries: int


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column's values, page by page.

    Parameters
    ----------
    encoding
        The format's number of it, in row groups without a dictionary.
    pages
        The pieces of each page's values, in which nulls take no place.
    ranges
        The two numbers of each page's `Range`; None where limits are not known.
    limits
        Makes limits of the numbers in `ranges`.
    dictionaries
        Of each row group, with which its column chunk begins, and of which its pages have codes; empty where none has.
    """

    encoding: int
    pages: Sequence[list[Piece]]
    ranges: Sequence[list[int]] | None = None
    limits: LimitsOf | None = None
    dictionaries: Sequence[Dictionary | None] = ()

    def dictionary(self, group: int) -> Dictionary | None:
        """Return that of a row group."""
        return self.dictionaries[group] if self.dictionaries else None

    def limits_between(self, pages: range) -> Limits | None:
        """Return the limits of pages, where they are known."""
        if self.ranges is None or self.limits is None:
            return None
        ends = merged(self.ranges[pages.start : pages.stop])
        return self.limits(*ends) if ends else None


class Encoder(Protocol):
    """Encodes columns of one kind: first it measures on the device, then, with the measures on the host, it encodes."""

    def __init__(self, columns: Sequence[Column], machine: Machine) -> None: ...

    @property
    def measures(self) -> Sequence[Array]:
        """Arrays of 64-bit numbers that the host must know."""

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> list[Encoded]:
        """Encode each column, given the measures; the device may still be at it when this returns."""
