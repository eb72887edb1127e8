"""The commit of a run: the sinks are moved into place, all of them or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from gpuetl.io.commit.dead_runs import finish_dead_runs, never_ended
from gpuetl.io.commit.durable import folders_below, sync_all
from gpuetl.io.commit.journal import Journal, begin, decide, undo_all
from gpuetl.io.commit.locks import LockedTooLong, locked
from gpuetl.io.commit.moves import Unclear
from gpuetl.io.commit.recovery import unfinished_beside
from gpuetl.io.commit.steps import journal_of
from gpuetl.io.staging import SinkWriter
from gpuetl.messages import coded
from gpuetl.signals import Held, held_signals

Result = TypeVar("Result")


def commit_sinks(writers: Sequence[SinkWriter], done: Callable[[], None] = lambda: None) -> None:
    """Move all that was written into place; call `done` when the last sink is there.

    A signal that comes before the decision ends the commit, and no sink changes.  One that comes later waits until all
    sinks are in place.

    Raises
    ------
    SinkExists, RunFailed
        Where a sink cannot be moved: every sink is as it was before, or the message says where its files are.
    """
    if not writers:
        done()
        return
    with held_signals() as held:
        for writer in writers:
            if writer.sync:
                attempt(writer, partial(sync_written, writer))
        try:
            while not commit_alone(writers, held, done):
                pass
        except LockedTooLong as error:
            why = f"another run has been changing {error.folder} for minutes.  No sink has changed.  Run again"
            raise writers[0].failed(coded("GE1512", why)) from None


def commit_locked(writers: Sequence[SinkWriter], held: Held) -> None:
    """Write the journals, decide, and make the moves, while no other run changes the targets."""
    stagings = tuple(writer.staging for writer in writers)
    first, durable = writers[0], any(writer.sync for writer in writers)
    attempt(first, partial(begin, stagings[0], durable))
    journals = [attempt(writer, partial(prepared, writer, stagings)) for writer in writers]
    held.deliver()
    for writer in writers:
        writer.decided = True
    at = first
    try:
        decide(stagings[0], "forward", durable)
        for writer, journal in zip(writers, journals, strict=True):
            at = writer
            journal.apply()
        if durable:
            sync_all(folder for journal in journals for folder in journal.changed_folders)
        decide(stagings[0], "done", durable)
    except (OSError, Unclear) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        why = f"cannot move the files to {at.path}: {reason}"
        raise at.failed(coded("GE1508", f"{why}.  {undone(writers, journals, durable)}")) from error
    except BaseException:
        undone(writers, journals, durable)
        raise
    for writer in writers:
        writer.decided = False


def commit_alone(writers: Sequence[SinkWriter], held: Held, done: Callable[[], None]) -> bool:
    """Commit while no other run changes the targets; return False where a run died just before, and must be recovered.

    Raises
    ------
    RunFailed
        Where the commit of another run has not ended.
    """
    for writer in writers:
        finish_dead_runs(writer.path, writer.failed)
    with locked({writer.staging.parent for writer in writers}, held.deliver):
        for writer in writers:
            for left in unfinished_beside(writer.path):
                if left.holder.status == "dead":
                    return False
                raise writer.failed(never_ended(left, writer.path))
        commit_locked(writers, held)
        done()
    return True


def sync_written(writer: SinkWriter) -> None:
    """Bring the folders of a sink's files to disk, and the folders above that the run made; files are there by now."""
    sync_all([*folders_below(writer.new), writer.staging.parent, *(folder.parent for folder in writer.made)])


def prepared(writer: SinkWriter, stagings: tuple[Path, ...]) -> Journal:
    """Look at a sink's target, and write the journal."""
    journal = journal_of(writer, stagings)
    if writer.sync:
        sync_all([*journal.changed_folders, *folders_below(writer.new)])
    journal.write(writer.sync)
    return journal


def undone(writers: Sequence[SinkWriter], journals: Sequence[Journal], durable: bool) -> str:
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
        paths = " ".join(str(path) for path in dict.fromkeys(writer.path for writer in writers))
        fix = f"Nothing is lost: the next run, or gpuetl recover {paths}, goes on with it"
        return f"Putting things back failed as well: {'; '.join(stuck)}.  {fix}"
    for writer in writers:
        writer.decided = False
    return "No sink has changed"


def attempt(writer: SinkWriter, action: Callable[[], Result]) -> Result:
    """Do something before the decision; where the system refuses it, no sink has changed."""
    try:
        return action()
    except OSError as error:
        why = f"cannot move the files to {writer.path}: {error.strerror}.  No sink has changed"
        raise writer.failed(coded("GE1508", why)) from error
