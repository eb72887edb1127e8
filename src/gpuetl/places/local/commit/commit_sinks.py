"""The commit of a run: dead runs are finished first, then the sinks are moved into place, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from gpuetl.errors import RunFailed
from gpuetl.messages import coded
from gpuetl.places.local.commit.commit_steps import journal_of, remove_emptied
from gpuetl.places.local.commit.journal import Journal, begin, decide, undo_all
from gpuetl.places.local.commit.locks import LockedTooLong, holder_of, locked
from gpuetl.places.local.commit.moves import Unclear, folders_below, sync_all
from gpuetl.places.local.commit.recovery import (
    Left,
    Recovered,
    is_unfinished,
    sort_out,
    stagings_beside,
    stagings_in,
    target_of,
    unfinished_beside,
)
from gpuetl.places.local.folders import plain_part
from gpuetl.places.local.sinks_read import is_changing
from gpuetl.places.local.staged_sink import LocalStagedSink
from gpuetl.places.publishing import RecoveryRemarks
from gpuetl.signals import Held, held_signals
from gpuetl.units import size

# What a run does about the dead runs that it finds beside its sinks and sources.


def finish_dead_runs(path: Path, failed: Callable[[str], RunFailed], hosts: Sequence[str] = ()) -> RecoveryRemarks:
    """Recover what dead runs left beside a sink's path, and refuse to go on where an unfinished commit must stay.

    `failed` makes the error of a message.  Runs of the `hosts` count as dead, too.

    Raises
    ------
    RunFailed
        Where such a commit is of another host, or what it did is unclear.
    """
    remarks = RecoveryRemarks([], [])
    try:
        for outcome in sort_out(stagings_beside(path), hosts):
            if isinstance(outcome, Recovered):
                remark_recovered(outcome, path, remarks)
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


def remark_recovered(outcome: Recovered, path: Path, remarks: RecoveryRemarks) -> None:
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


def unfinished_commit(path: Path) -> str | None:
    """Name a commit of a dead run that has changed only some of the files of a path; None where there is none."""
    plain = plain_part(path)
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


# The commit of a run: the sinks are moved into place, all of them or none.


Result = TypeVar("Result")


def commit_sinks(sinks: Sequence[LocalStagedSink], committed: Callable[[], None]) -> None:
    """Move all that was written into place; call `committed` when the last sink is there.

    A signal that comes before the decision ends the commit, and no sink changes.  One that comes later waits until all
    sinks are in place.

    Raises
    ------
    SinkExists, RunFailed
        Where a sink cannot be moved: every sink is as it was before, or the message says where its files are.
    """
    if not sinks:
        committed()
        return
    with held_signals() as held:
        for sink in sinks:
            if sink.sync:
                attempt(sink, partial(sync_written, sink))
        try:
            while not commit_alone(sinks, held, committed):
                pass
        except LockedTooLong as error:
            why = f"another run has been changing {error.folder} for minutes.  No sink has changed.  Run again"
            raise sinks[0].failed(coded("GE1512", why)) from None


def commit_locked(sinks: Sequence[LocalStagedSink], held: Held) -> None:
    """Write the journals, decide, and make the moves, while no other run changes the targets."""
    stagings = tuple(sink.staging for sink in sinks)
    first, durable = sinks[0], any(sink.sync for sink in sinks)
    attempt(first, partial(begin, stagings[0], durable))
    journals = [attempt(sink, partial(prepared, sink, stagings)) for sink in sinks]
    held.deliver()
    for sink in sinks:
        sink.decided = True
    at = first
    try:
        decide(stagings[0], "forward", durable)
        for sink, journal in zip(sinks, journals, strict=True):
            at = sink
            journal.apply()
        if durable:
            sync_all(folder for journal in journals for folder in journal.changed_folders)
        decide(stagings[0], "done", durable)
    except (OSError, Unclear) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        why = f"cannot move the files to {at.path}: {reason}"
        raise at.failed(coded("GE1508", f"{why}.  {undone(sinks, journals, durable)}")) from error
    except BaseException:
        undone(sinks, journals, durable)
        raise
    for sink in sinks:
        sink.decided = False
        remove_emptied(sink)


def commit_alone(sinks: Sequence[LocalStagedSink], held: Held, committed: Callable[[], None]) -> bool:
    """Commit while no other run changes the targets; return False where a run died just before, and must be recovered.

    Raises
    ------
    RunFailed
        Where the commit of another run has not ended.
    """
    for sink in sinks:
        finish_dead_runs(sink.path, sink.failed)
    with locked({sink.staging.parent for sink in sinks}, held.deliver):
        for sink in sinks:
            for left in unfinished_beside(sink.path):
                if left.holder.status == "dead":
                    return False
                raise sink.failed(never_ended(left, sink.path))
        commit_locked(sinks, held)
        committed()
    return True


def sync_written(sink: LocalStagedSink) -> None:
    """Bring the folders of a sink's files to disk, and the folders above that the run made; files are there by now."""
    sync_all([*folders_below(sink.new), sink.staging.parent, *(folder.parent for folder in sink.made)])


def prepared(sink: LocalStagedSink, stagings: tuple[Path, ...]) -> Journal:
    """Look at a sink's target, and write the journal."""
    journal = journal_of(sink, stagings)
    if sink.sync:
        sync_all([*journal.changed_folders, *folders_below(sink.new)])
    journal.write(sink.sync)
    return journal


def undone(sinks: Sequence[LocalStagedSink], journals: Sequence[Journal], durable: bool) -> str:
    """Put all sinks back; say how that ended.  What is stuck stays for the next run."""
    deciding = journals[0].deciding
    try:
        decide(deciding, "back", durable)
        stuck = undo_all(journals)
        if not stuck:
            decide(deciding, "done", durable)
    except OSError as error:
        stuck = [f"{deciding}: {error.strerror}"]
    if stuck:
        paths = " ".join(str(path) for path in dict.fromkeys(sink.path for sink in sinks))
        fix = f"Nothing is lost: the next run, or gpuetl recover {paths}, goes on with it"
        return f"Putting things back failed as well: {'; '.join(stuck)}.  {fix}"
    for sink in sinks:
        sink.decided = False
    return "No sink has changed"


def attempt(sink: LocalStagedSink, action: Callable[[], Result]) -> Result:
    """Do something before the decision; where the system refuses it, no sink has changed."""
    try:
        return action()
    except OSError as error:
        why = f"cannot move the files to {sink.path}: {error.strerror}.  No sink has changed"
        raise sink.failed(coded("GE1508", why)) from error
