"""Which checkpoints go: by age, by number for each stage, or the oldest of all where they take too much room."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator

from gpuetl.state.checkpoints import CheckpointStore, StoredCheckpoint

LIMIT_BYTES = 50_000_000_000
"""Of all checkpoints of a state folder, unless the user says otherwise."""
DEAD_AFTER_S = 24 * 3600.0
"""The age of files without a manifest from which no run is still writing them."""


def removals(
    store: CheckpointStore, older_than_s: float | None = None, keep_last: int = 0, now: float | None = None
) -> Iterator[StoredCheckpoint]:
    """Yield what is to go: checkpoints older than so many seconds, but for the last ones of each stage.

    Without an age all go but for these.  Files of runs that died go after a day.
    """
    moment = time.time() if now is None else now
    by_stage: dict[str, list[StoredCheckpoint]] = {}
    for stored in store.stored():
        if stored.manifest is None:
            if moment - stored.changed > (DEAD_AFTER_S if older_than_s is None else max(older_than_s, DEAD_AFTER_S)):
                yield stored
            continue
        by_stage.setdefault(stored.manifest.stage, []).append(stored)
    for group in by_stage.values():
        group.sort(key=lambda one: -one.changed)
        for stored in group[keep_last:]:
            if older_than_s is None or moment - stored.changed > older_than_s:
                yield stored


def beyond_limit(stored: Iterable[StoredCheckpoint], limit: int, in_use: Collection[str]) -> Iterator[StoredCheckpoint]:
    """Yield the oldest checkpoints, until those that stay take no more than a limit; those `in_use`, by key, stay."""
    found = sorted(stored, key=lambda one: one.changed)
    total = sum(one.bytes for one in found)
    for one in found:
        if total <= limit:
            return
        if one.key not in in_use and one.manifest is not None:
            total -= one.bytes
            yield one
