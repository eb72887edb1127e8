"""What a join asks of a side's rows, however they are found: which slot has a key, and which row has a slot."""

from __future__ import annotations

from abc import ABC, abstractmethod

from gpuetl.engines.cudf.columns.keys import Keys
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.records import dataclass


@dataclass(frozen=True, eq=False)
class Lookup(ABC):
    """A side's rows by slot.

    `slots` (int32) are those of its rows, -1 for a null key that matches nothing; `owners` (int32) is a row that has
    the slot's key, -1 where none has; `repeated` tells whether two rows have the same.
    """

    slots: Array
    owners: Array
    repeated: bool
    machine: Machine

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self.owners)

    @abstractmethod
    def find(self, others: Keys, slots: bool) -> tuple[Array, Array]:
        """Return each row's slot, or the row that owns it, as int32, -1 for none; and how many are found (uint64)."""
