"""What encoders give: the values of pages as pieces of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.sinks.footer import Limits
from gpuetl.engines.cudf.sinks.pieces import Piece
from gpuetl.engines.cudf.sinks.stack import Column
from gpuetl.engines.cudf.sinks.statistics import LimitsOf, merged
from gpuetl.records import dataclass


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
