"""What a run does about the dead runs that it finds beside its sinks and sources."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gpuetl.errors import RunFailed
from gpuetl.io.commit.lease import holder_of
from gpuetl.io.commit.moves import Unclear
from gpuetl.io.commit.recovery import Left, Recovered, is_unfinished, sort_out, stagings_beside, stagings_in, target_of
from gpuetl.io.dataset import Dataset
from gpuetl.io.paths import plain_part
from gpuetl.io.sinks_read import is_changing
from gpuetl.messages import coded
from gpuetl.sizes import size


class Remarks(NamedTuple):
    """What a run says of the dead runs that it found: `warnings` where sinks have changed, else `notes`."""

    warnings: list[str]
    notes: list[str]


def finish_dead_runs(path: Path, failed: Callable[[str], RunFailed]) -> Remarks:
    """Recover what dead runs left beside a sink's path, and refuse to go on where an unfinished commit must stay.

    `failed` makes the error of a text.

    Raises
    ------
    RunFailed
        Where such a commit is of another host, or what it did is unclear.
    """
    remarks = Remarks([], [])
    try:
        for outcome in sort_out(stagings_beside(path)):
            if isinstance(outcome, Recovered):
                told_recovered(outcome, path, remarks)
            elif outcome.unfinished and outcome.holder.status != "live":
                raise failed(never_ended(outcome, path))
            elif outcome.holder.status != "live":
                remarks.notes.append(f"{outcome.staging} was left alone: {outcome.why}")
    except Unclear as error:
        why = f"a run that died in its commit left {path} in a state that is not clear.  {error}"
        raise failed(coded("GE1513", why)) from error
    except OSError as error:
        why = f"cannot recover what a run that died in its commit left at {path}: {error.strerror}"
        raise failed(coded("GE1513", why)) from error
    return remarks


def told_recovered(outcome: Recovered, path: Path, remarks: Remarks) -> None:
    """Word what was done with a dead run."""
    if outcome.ending == "removed":
        remarks.notes.append(f"removed {size(outcome.size)} that run {outcome.run_id}, which died, left beside {path}")
        return
    targets = ", ".join(map(str, outcome.targets))
    state = "has that run's rows now" if outcome.ending == "finished" else "is as it was before that run"
    text = f"run {outcome.run_id} died while it changed its sinks.  Its commit was {outcome.ending}: {targets} {state}"
    remarks.warnings.append(coded("GE1720", text.replace(" has ", " have ") if len(outcome.targets) > 1 else text))


def never_ended(left: Left, path: Path) -> str:
    """Word an unfinished commit of a run of which it is not known whether it is dead."""
    if left.holder.lease is None:
        what = f"a run has begun to change {path}, and has not ended: {left.staging}"
        return coded("GE1514", f"{what}.  It was left alone: {left.why}.  The user of that run can recover it")
    host = left.holder.lease.host
    what = f"a run of host {host} has begun to change {path}, and has not ended: {left.staging}"
    fix = f"Wait for it.  If that run is dead: gpuetl recover --host {host} {path}"
    return coded("GE1514", f"{what}.  {fix}")


def unfinished_commit(dataset: Dataset) -> str | None:
    """Name a commit of a dead run that has changed only some of a source's files; None where there is none."""
    plain = plain_part(dataset.path)
    places = [plain]
    while "=" in places[-1].name:  # a partition of a sink: staging is beside the sink
        places.append(places[-1].parent)
    places.append(places[-1].parent)
    for staging in (found for place in places for found in stagings_in(place)):
        target = target_of(staging)
        overlaps = plain.is_relative_to(target) or target.is_relative_to(plain)
        if overlaps and may_be_half_done(staging, target) and holder_of(staging).status != "live":
            what = f"a run died while it changed {target}: some files may be old and some new"
            return coded("GE1515", f"{what}.  Run it again, or use: gpuetl recover {target}")
    return None


def may_be_half_done(staging: Path, target: Path) -> bool:
    """Tell whether a commit may have changed some of a target's files and not all.

    The lists at the target say so where we may not look into the staging folder, since another user's run made it.
    """
    if os.access(staging, os.R_OK | os.X_OK):
        return is_unfinished(staging)
    return is_changing(str(target))
