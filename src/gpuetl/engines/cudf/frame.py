"""The engine's own table, and how many rows it may have."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gpuetl.engines.cudf.columns.piece import PieceColumns
from gpuetl.engines.cudf.vector import Vector
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.records import dataclass

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
        """Return the frame with columns added, or put in the place of others of the same name."""
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
