"""The engine's own table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuetl.backends.cudf.vector import Vector


@dataclass(frozen=True, eq=False)
class Frame:
    """Columns of `rows` rows each, in the order of the schema; there may be rows without columns."""

    columns: Mapping[str, Vector]
    rows: int

    def select(self, names: tuple[str, ...]) -> Frame:
        """Return some of the columns, in that order."""
        return Frame({name: self.columns[name] for name in names}, self.rows)

    def updated(self, columns: Mapping[str, Vector]) -> Frame:
        """Return the frame with columns added, or put in the place of others of the same name."""
        return Frame({**self.columns, **columns}, self.rows)

    @property
    def nbytes(self) -> int:
        """The device memory that the columns take."""
        return sum(vector.nbytes for vector in self.columns.values())
