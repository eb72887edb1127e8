"""`gpuetl clean FILE`: checkpoints of a pipeline, removed."""

from __future__ import annotations

import re
import time
from argparse import ArgumentTypeError
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpuetl.errors import RunFailed, system_reason
from gpuetl.messages import coded, redacted
from gpuetl.units import duration, size

if TYPE_CHECKING:
    from gpuetl.places.paths import FilePath
    from gpuetl.state.checkpoints import StoredCheckpoint

PIPELINES = (".yaml", ".yml")
AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def age(text: str) -> float:
    """Return the seconds of an age such as 7d."""
    if not (found := AGE.fullmatch(text.strip())):
        raise ArgumentTypeError(f"'{text}' is not an age such as 12h, 7d or 4w")
    return float(found[1]) * SECONDS[found[2].lower()]


def whole_number(text: str) -> int:
    """Return a number of checkpoints."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)


def is_pipeline(path: FilePath) -> bool:
    """Tell whether a path is that of a pipeline's file."""
    return path.name.endswith(PIPELINES)


def clean_checkpoints(
    file: FilePath,
    params: Mapping[str, str],
    profile: str | None,
    older_than_s: float | None,
    keep_last: int,
    dry_run: bool,
) -> None:
    """Remove checkpoints of a pipeline, or list what would be removed.

    Raises
    ------
    RunFailed
        Where the state folder cannot be read or changed.
    """
    from gpuetl.pipeline import load
    from gpuetl.state.checkpoint_cleaning import removals
    from gpuetl.state.checkpoints import CheckpointStore
    from gpuetl.state.files import state_files

    state = load(file, profile=profile).plan(params, unbound=True, files=False).state
    if state is None:
        print(f"{file} has no state folder")
        return
    store, total, count = CheckpointStore(state_files(state)), 0, 0
    try:
        for stored in list(removals(store, older_than_s, keep_last)):
            if not dry_run:
                store.remove(stored)
            print(removal_line(stored, dry_run))
            total, count = total + stored.bytes, count + 1
    except OSError as error:
        why = system_reason(error) or str(error)
        message = coded("GE1557", f"cannot clean the state folder {redacted(str(state))}: {why}")
        raise RunFailed(message) from error
    what = f"{count} checkpoint{'s' * (count != 1)} of {size(total)}"
    print(f"{'would remove' if dry_run else 'removed'} {what} in {redacted(str(state))}")


def removal_line(stored: StoredCheckpoint, dry_run: bool) -> str:
    """Name a checkpoint that goes."""
    old = duration(max(0.0, time.time() - stored.changed))
    verb = "would remove" if dry_run else "removed"
    if (manifest := stored.manifest) is None:
        return f"{verb} files of a run that died, {size(stored.bytes)}, {old} old"
    if not manifest.format:
        return f"{verb} counts of '{manifest.stage}' of run {manifest.run_id}, {old} old"
    rows = f"{manifest.rows:,} row{'s' * (manifest.rows != 1)}"
    return f"{verb} '{manifest.stage}' of run {manifest.run_id}: {rows}, {size(stored.bytes)}, {old} old"
