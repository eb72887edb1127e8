"""What a join checks before it is built: that keys do not repeat, and that the result fits."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.no_result import written
from gpuetl.engines.pandas.columns.column import MAX_ROWS
from gpuetl.engines.pandas.joins.rows import KeyCodes, count_codes
from gpuetl.errors import EvaluationError, listing
from gpuetl.messages import coded
from gpuetl.plan.nodes import Join

Ints = NDArray[np.int64]


def check_unique(operation: Join, side: int, frame: pa.Table, codes: Ints, size: int) -> None:
    """Raise `EvaluationError` where a code repeats in the left (0) or right (1) side; -1 may."""
    counts = count_codes(codes, size)
    if counts.max() < 2:
        return
    name, names = operation.written_sides[side]
    first = int(np.flatnonzero(codes == counts.argmax())[0])
    columns = (operation.left_on, operation.right_on)[side]
    raise EvaluationError(
        coded(
            "GE2004",
            f"the join is not {operation.written_validate}: {listing(names)} repeats on the {name} side, "
            f"{written_key(frame, columns, names, first)} is in more than one row.  "
            "Make the keys distinct, or relax validate",
        )
    )


def check_size(operation: Join, left: pa.Table, right: pa.Table, rows: int, keys: KeyCodes | None = None) -> None:
    """Raise `EvaluationError` where a result of `rows` rows is more than a frame or this machine's memory holds."""
    payload = right.select(operation.payload)
    size = rows * sum(frame.nbytes / max(1, frame.num_rows) for frame in (left, payload))
    memory = physical_memory()
    if rows <= MAX_ROWS and size <= memory:
        return
    why = most_repeated(operation, left, keys) if keys else every_row(left, right)
    raise EvaluationError(
        coded(
            "GE2008",
            f"the join would have {rows:,} rows (about {size / 1e9:,.1f} GB): a frame holds {MAX_ROWS:,} at most, "
            f"and this machine has {memory / 1e9:,.1f} GB.  {why}",
        )
    )


def physical_memory() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def every_row(left: pa.Table, right: pa.Table) -> str:
    """Say what a cross join multiplies."""
    counts = f"Each of {left.num_rows:,} rows on the left side meets each of {right.num_rows:,} on the right"
    return f"{counts}.  Filter or aggregate a side first, or join on keys"


def most_repeated(operation: Join, left: pa.Table, keys: KeyCodes) -> str:
    """Name the key that gives most rows."""
    counts = count_codes(keys.left, keys.size), count_codes(keys.right, keys.size)
    worst = int((counts[0] * counts[1]).argmax())  # below 2^62: each side has fewer than 2^31 rows
    row = int(np.flatnonzero(keys.left == worst)[0]) if counts[0][worst] else 0
    sides = operation.written_sides
    found = {name: f"{count[worst]:,}" for (name, _), count in zip(sides, counts, strict=True)}
    return (
        f"{written_key(left, operation.left_on, sides[0][1], row)} repeats most: in {found['left']} rows on the left "
        f"side, {found['right']} on the right.  Join on more columns, or make the keys of one side distinct"
    )


def written_key(frame: pa.Table, columns: Sequence[str], names: Sequence[str], row: int) -> str:
    """Return the key of a row with the names that the user knows."""
    values = (written(frame.column(column)[row]) for column in columns)
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
