"""What is known of columns before a row is read: as much as the text of a program depends on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import inf
from typing import NamedTuple, cast

import numpy as np

from gpuetl.engines.cudf.columns.vector import NO_DATA, Buffer, Vector, element_type, field_types, has_bytes
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING, DataType

MOST_KEPT = 4096
NO_OFFSETS = {bits: cast("Buffer", np.empty(0, f"int{bits}")) for bits in (32, 64)}


@dataclass(frozen=True)
class Kind:
    """The type of a column, and how it lies in memory; strings of programs do not depend on whether there are nulls.

    Parameters
    ----------
    dtype
        The Arrow type of the language.
    rows
        Of a dictionary: how many strings it likely has.
    dictionary
        Of strings that are coded: the kind of their dictionary.
    elements
        Of lists and maps: the kind of their elements.
    fields
        Of structs: the kinds of their fields.
    offset_bits
        Of strings: 32, or 64 from 2^31 bytes on.
    """

    dtype: DataType
    rows: float = 0
    dictionary: Kind | None = None
    elements: Kind | None = None
    offset_bits: int = 32
    fields: tuple[Kind, ...] = ()

    @classmethod
    def of(cls, dtype: DataType) -> Kind:
        """Return the kind of a column that no dictionary codes."""
        inner = element_type(dtype)
        return cls(dtype, elements=cls.of(inner) if inner else None, fields=tuple(map(cls.of, field_types(dtype))))

    @classmethod
    def coded(cls, strings: float) -> Kind:
        """Return the kind of coded strings, given how many strings their dictionary has."""
        return cls(STRING, dictionary=cls(STRING, rows=strings))


class Kinds(NamedTuple):
    """The kinds of a frame's columns, and how many rows it likely has."""

    columns: Mapping[str, Kind]
    rows: float = inf


def columns_of_kinds(kinds: Mapping[str, Kind]) -> dict[str, Vector]:
    """Return columns of these kinds without rows or memory, for functions that write programs."""
    return {name: column_of_kind(kind) for name, kind in kinds.items()}


@lru_cache(MOST_KEPT)
def column_of_kind(kind: Kind) -> Vector:
    """Return a column of a kind, without rows and without memory."""
    if kind.dictionary is not None:
        return Vector(kind.dtype, 0, NO_DATA, dictionary=column_of_kind(kind.dictionary))
    if kind.elements is not None:
        return Vector(kind.dtype, 0, NO_DATA, offsets=NO_OFFSETS[32], elements=column_of_kind(kind.elements))
    if kind.fields:
        return Vector(kind.dtype, 0, NO_DATA, fields=tuple(map(column_of_kind, kind.fields)))
    offsets = NO_OFFSETS[kind.offset_bits] if has_bytes(kind.dtype) else None
    return Vector(kind.dtype, 0, NO_DATA, offsets=offsets)
