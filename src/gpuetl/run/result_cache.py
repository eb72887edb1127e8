"""The rows that tables in Python have computed, kept in host memory so that the next cell of a notebook has them.

Ibis and Polars run the whole query each time that rows are shown, and `.cache()` keeps them by hand.  DuckDB keeps a
relation only if the user makes a table of it.  gpuetl takes the lazy tables of Ibis and Polars, and DuckDB's relations
that name each other.  It keeps the rows that were asked for, up to a number of bytes.  Their key changes with anything
that may change them: see `result_keys.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from threading import RLock

import pyarrow as pa

from gpuetl.errors import InvalidPipeline
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.units import read_size, size

LIMIT_BYTES = 1_000_000_000


@dataclass(frozen=True)
class KeptRows:
    """Rows of a table: all of them, or the first ones.

    `rules` are the keys of the contracts' rules that held when they were computed, `warnings` those of the run.
    """

    table: pa.Table
    is_whole: bool
    rules: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()

    def first(self, count: int | None) -> pa.Table | None:
        """Return the first rows, or all (None); None where too few are kept."""
        if count is None:
            return self.table if self.is_whole else None
        return self.table.slice(0, count) if self.is_whole or self.table.num_rows >= count else None


class ResultCache:
    """Rows by key, least recently used ones first to go.

    One cache serves all pipelines of the process: a pipeline that a cell builds again finds the rows.

        >>> import gpuetl
        >>> gpuetl.result_cache.limit = "2 GB"
        >>> gpuetl.result_cache
        <ResultCache: 0 B of 2.0 GB in 0 results>
    """

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, KeptRows] = OrderedDict()
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"<ResultCache: {self.summary}>"

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def summary(self) -> str:
        """How much is kept, and of how much at most."""
        count = len(self._kept)
        return f"{size(self.used)} of {size(self.limit)} in {count} result{'s' * (count != 1)}"

    @property
    def used(self) -> int:
        """Bytes that the rows take."""
        return sum(kept.table.get_total_buffer_size() for kept in self._kept.values())

    @property
    def limit(self) -> int:
        """Bytes that the rows may take; set it to a number, or to text such as `2 GB`.  0 keeps nothing."""
        return self._limit

    @limit.setter
    def limit(self, value: int | str) -> None:
        try:
            limit = read_size(value) if isinstance(value, str) else int(value)
        except (TypeError, ValueError):
            limit = -1
        if limit < 0:
            message = coded("GE3004", f"the limit of the result cache takes bytes or a size, got {value!r}")
            raise InvalidPipeline.because(message, 'Write a number of bytes, or text such as "2 GB".')
        with self._lock:
            self._limit = limit
            self._shrink()

    def find(self, key: str | None) -> KeptRows | None:
        """Return what is kept under a key."""
        if key is None:
            return None
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: str | None, rows: KeptRows) -> None:
        """Keep rows, unless more of them are kept already, or they are larger than the limit."""
        if key is None:
            return
        with self._lock:
            if (known := self._kept.get(key)) and is_better(known, rows):
                return
            compact = compacted(rows.table)
            if compact.get_total_buffer_size() > self._limit:
                return
            self._kept[key] = replace(rows, table=compact)
            self._kept.move_to_end(key)
            self._shrink()

    def clear(self) -> None:
        """Keep nothing of what is kept now."""
        with self._lock:
            self._kept.clear()

    def _shrink(self) -> None:
        used = self.used
        while self._kept and used > self._limit:
            _, rows = self._kept.popitem(last=False)
            used -= rows.table.get_total_buffer_size()


def is_better(known: KeptRows, rows: KeptRows) -> bool:
    """Return whether what is kept has all that the rows have."""
    if known.is_whole != rows.is_whole:
        return known.is_whole
    return known.rules >= rows.rules and known.table.num_rows >= rows.table.num_rows


def compacted(table: pa.Table) -> pa.Table:
    """Return a table on memory of its own where it is a small part of larger memory."""
    if table.get_total_buffer_size() <= 2 * table.nbytes + 4096:
        return table
    return table.take(pa.array(range(table.num_rows), pa.int64()))


result_cache = ResultCache()
"""The cache of this process."""
