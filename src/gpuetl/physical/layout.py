"""How rows are split: the options of lowering, its choices, and row groups put together into partitions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from gpuetl.io.data_file import RowGroup
from gpuetl.records import dataclass

# Ways to lower a plan that move fewer rows, or take fewer tasks; each may be left out by name, as a pass may.


CHOICES = {
    "carry_windows": "A window over partitions in order passes its state from one to the next, without an exchange.",
    "keys_apart": "Rows are not exchanged where file metadata shows that equal keys are in one partition.",
    "aligned_reads": "An as-of join reads the right rows near each partition, where file metadata shows them.",
    "gather_groups": "Few expected groups are combined in one partition, without an exchange by key.",
    "batch_vocabularies": "A GPU numbers the values of several columns together, and looks them up together.",
    "fetch_pieces": "Workers fetch the pieces of large exchanges from each other, without a task for each piece.",
}
"""A sentence for each choice."""


# How rows are split: the options of lowering, and row groups put together to partitions.


LEAST_SHARE = 1 << 20
"""Rows that are worth a partition of their own, so that one more worker has something to do."""


@dataclass(frozen=True)
class Layout:
    """How rows are split: at most `partition_rows` rows a partition of a source; a side of a join of at most
    `broadcast_bytes` goes whole to every partition of the other.  A large source has `partitions` at least.  A window
    carries rows from partition to partition up to `state_share` of one, where it then needs no exchange; with keys it
    does so only where partitions are computed `in_turn` anyway, and the rows are more than the `exchanged_bytes` that
    an exchange holds at little cost, asked for where that decides; None is what memory allows.  On workers, which
    compute partitions `side_by_side`, what all of them carry, up to that share of one, is combined.
    With `keys_apart` footers are asked whether equal keys are in one partition already.  If it `gathers_groups`, few
    groups, no more than a side of a join that goes whole, meet in one partition.  With `aligned_reads` as-of joins read
    right rows that are near a left partition, by footers.  If it `batches_vocabularies`, those of the same rows in one
    partition are one operation.
    """

    partition_rows: int
    broadcast_bytes: int
    partitions: int = 1
    state_share: float = 0.0
    in_turn: bool = True
    side_by_side: bool = False
    exchanged_bytes: Callable[[], int] | None = int
    keys_apart: bool = False
    gathers_groups: bool = False
    aligned_reads: bool = False
    batches_vocabularies: bool = False


def first_groups(groups: list[RowGroup], rows: int) -> list[RowGroup]:
    """Return the first row groups that hold at least these rows; those of a CSV file may hold none."""
    before = accumulate((max(group.rows, 0) for group in groups), initial=0)
    return [group for group, count in zip(groups, before, strict=False) if count < rows]


def split_groups(groups: list[RowGroup], layout: Layout) -> tuple[tuple[RowGroup, ...], ...]:
    """Cut a list of row groups into partitions: not too large, and enough of them where there are many rows."""
    parts, rows = parts_of_at_most(groups, layout.partition_rows), sum(max(group.rows, 0) for group in groups)
    shares = min(layout.partitions, rows // LEAST_SHARE)
    return parts if shares < 2 or len(parts) > shares else even_parts(groups, shares)


def parts_of_at_most(groups: list[RowGroup], partition_rows: int) -> tuple[tuple[RowGroup, ...], ...]:
    """Cut a list of row groups into partitions of at most `partition_rows` rows, or one row group."""
    parts: list[list[RowGroup]] = [[]]
    rows = 0
    for group in groups:
        size = group.rows if group.rows >= 0 else partition_rows  # a CSV file does not say how many
        if parts[-1] and rows + size > partition_rows:
            parts.append([])
            rows = 0
        parts[-1].append(group)
        rows += size
    return tuple(map(tuple, parts))


def even_parts(groups: list[RowGroup], shares: int) -> tuple[tuple[RowGroup, ...], ...]:
    """Cut a list of row groups into up to `shares` partitions of about as many rows, at the nearest row groups."""
    rows = [max(group.rows, 0) for group in groups]
    parts: dict[int, list[RowGroup]] = {}
    for group, size, start in zip(groups, rows, accumulate(rows, initial=0), strict=False):
        parts.setdefault((2 * start + size) * shares // (2 * sum(rows) + 1), []).append(group)
    return tuple(map(tuple, parts.values()))
