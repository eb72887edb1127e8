"""What an upsert did with the rows of its target."""

from __future__ import annotations

from gpuetl.records import dataclass


@dataclass(frozen=True)
class RowChanges:
    """New rows that were inserted, and those that replaced others; rows that stay in partitions that are rewritten.

    `partitions` are how many were rewritten, and how many there are; None for a sink without partitions.
    """

    inserted: int
    updated: int
    kept: int
    partitions: tuple[int, int] | None = None

    def __str__(self) -> str:
        """Word them: `2 inserted, 1 updated, 7 kept, 1 of 3 partitions rewritten`."""
        rows = f"{self.inserted:,} inserted, {self.updated:,} updated, {self.kept:,} kept"
        if self.partitions is None:
            return rows
        done, of = self.partitions
        return f"{rows}, {done:,} of {of:,} partition{'s' * (of != 1)} rewritten"
