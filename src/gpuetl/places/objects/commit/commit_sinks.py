"""The commit of a run on object stores, and what a run does about the dead runs that it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import timedelta
from typing import NamedTuple

from gpuetl.errors import RunFailed
from gpuetl.messages import coded
from gpuetl.places.local.commit.moves import RUN
from gpuetl.places.objects.commit.bucket import Bucket
from gpuetl.places.objects.commit.journal import ObjectJournal, UnreadableJournal, decide, finish_all, settle
from gpuetl.places.objects.commit.leases import LockedTooLong, ObjectLease, locked, store_clock
from gpuetl.places.objects.commit.manifests import BACK, FORWARD, ObjectManifest
from gpuetl.places.objects.commit.staged_sink import ObjectStagedSink, SinkKeys, remove_staging
from gpuetl.places.paths import StorePath
from gpuetl.places.publishing import RecoveryRemarks
from gpuetl.signals import held_signals
from gpuetl.units import size

KEPT_RECORD = timedelta(days=1)
"""How long the record of a run that was undone stays, if the run may wake up: it must not decide otherwise."""


class BucketCommit:
    """The commit of the sinks in one bucket."""

    def __init__(self, bucket: Bucket, sinks: Sequence[ObjectStagedSink]) -> None:
        self.bucket, self.sinks = bucket, sinks
        self.journals: list[ObjectJournal] = []

    @property
    def locks(self) -> set[str]:
        """The keys of the locks of all sinks."""
        return {sink.keys.lock for sink in self.sinks}

    def stage(self) -> None:
        """Write the journals, and put the new files in place: readers of gpuetl's lists do not take them yet."""
        stagings = [sink.staging for sink in self.sinks]
        self.journals = [journal_of(sink, stagings) for sink in self.sinks]
        for journal in self.journals:
            journal.write(self.bucket)
        for journal in self.journals:
            journal.stage_list(self.bucket)
        for journal in self.journals:
            journal.copy_files(self.bucket)

    def decide(self) -> bool:
        """Make the new files valid, of all sinks at once; return False where another process has undone the commit."""
        for sink in self.sinks:
            sink.decided = True
        return decide(self.bucket, self.journals[0].record, FORWARD)

    def finish(self) -> None:
        """Remove what is replaced."""
        finish_all(self.bucket, self.journals)
        for sink in self.sinks:
            sink.decided = False

    def undo(self) -> bool:
        """Undo what is not decided; return whether that is done, otherwise the next run does it."""
        try:
            if self.journals and not decide(self.bucket, self.journals[0].record, BACK):
                return False
            for journal in reversed(self.journals):
                journal.undo(self.bucket)
        except OSError:
            for sink in self.sinks:
                sink.decided = True  # what is staged stays
            return False
        for sink in self.sinks:
            sink.decided = False
        return True


def journal_of(sink: ObjectStagedSink, stagings: Sequence[str]) -> ObjectJournal:
    """Return what committing a sink will change.

    Raises
    ------
    SinkExists
        In mode `error`, where the target exists by now.
    RunFailed
        Where files that gpuetl did not write would be removed.
    OSError
        Where the target cannot be looked at.
    """
    sink.check_mode()
    key, run_id, target = sink.keys.target, sink.run.run_id, sink.target
    if sink.unchanged:
        return ObjectJournal(run_id, sink.staging, stagings, key, target.is_file)
    staged = [(name, *sink.staged[name]) for name in (file.name for file in sink.files)]
    if target.is_file:
        return ObjectJournal(run_id, sink.staging, stagings, key, True, [(one, key, size) for _, one, size in staged])
    manifest = ObjectManifest.read(sink.bucket, key)
    sink.check_foreign(manifest)
    kept = set(map(str, sink.foreign_kept))
    removes = [name for name in sink.replaced_names(manifest) if name not in kept]
    staying = {name: size for name, size in manifest.files.items() if name not in removes}
    files = {**staying, **{name: size for name, _, size in staged}}
    return ObjectJournal(
        run_id, sink.staging, stagings, key, False,
        copies=[(one, f"{key}/{name}", size) for name, one, size in staged],
        removes=[f"{key}/{name}" for name in removes],
        files=tuple(files.items()),
        old_lists=sorted(manifest.lists),
    )  # fmt: skip


def commit_sinks(sinks: Sequence[ObjectStagedSink], committed: Callable[[], None]) -> None:
    """Put all staged files in place; call `committed` when the last sink is there.

    The sinks of one bucket change together.  Those of several buckets are staged first, and then decided one bucket
    after the other.

    Raises
    ------
    SinkExists, RunFailed
        Where a sink cannot change: every sink is as it was before, or the message says what goes on.
    """
    buckets = dict[Bucket, list[ObjectStagedSink]]()
    for sink in sinks:
        buckets.setdefault(sink.bucket, []).append(sink)
    commits = [BucketCommit(bucket, own) for bucket, own in buckets.items()]
    first = sinks[0]
    with held_signals() as held, ExitStack() as locks:
        try:
            for commit in commits:
                keys = [(commit.bucket, key) for key in commit.locks]
                locks.enter_context(locked(keys, first.lease, held.deliver))
            for sink in sinks:
                finish_dead_runs(sink.path, sink.bucket, sink.failed, sink.run.run_id)
            stage_all(commits, held.deliver)
        except LockedTooLong as error:
            why = f"run {error.run_id} has been changing {error.key} for minutes.  No sink has changed.  Run again"
            raise first.failed(coded("GE1512", why)) from None
        except OSError as error:
            why = f"cannot write to {first.path}: {object_and_reason(error)}.  No sink has changed"
            raise first.failed(coded("GE1508", why)) from error
        for commit in commits:
            decide_and_finish(commit)
        committed()


def stage_all(commits: Sequence[BucketCommit], deliver: Callable[[], None]) -> None:
    """Stage the commits of all buckets; undo them where one fails, or where a signal ends the run."""
    try:
        for commit in commits:
            commit.stage()
        deliver()
    except BaseException:
        for commit in reversed(commits):
            commit.undo()
        raise


def decide_and_finish(commit: BucketCommit) -> None:
    """Decide, and remove what is replaced.

    Raises
    ------
    RunFailed
        Where the store refuses a request: the next run goes on.
    """
    sink = commit.sinks[0]
    paths = " ".join(str(one.path) for one in commit.sinks)
    try:
        if not commit.decide():
            for one in commit.sinks:
                one.decided = False
            why = f"another process took this run for dead and undid its commit to {paths}.  Run again"
            raise sink.failed(coded("GE1508", why))
        commit.finish()
    except OSError as error:
        why = f"the commit to {paths} has not ended: {object_and_reason(error)}"
        fix = f"Nothing is lost: the next run, or gpuetl recover {paths}, goes on with it"
        raise sink.failed(coded("GE1508", f"{why}.  {fix}")) from error


def object_and_reason(error: OSError) -> str:
    """Name the object of a request that failed, and say why."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)


# Dead runs.


class FoundRun(NamedTuple):
    """A run that staged files for a target.

    One that is dead and not `over` may wake up: a machine that slept, or was cut off.  Then it must find its record.
    """

    staging: str
    is_dead: bool
    is_over: bool = False


def runs_of(bucket: Bucket, keys: SinkKeys, but: str = "", hosts: Sequence[str] = ()) -> list[FoundRun]:
    """Return the runs that have staged files for a target, except the run `but`; those of `hosts` count as dead."""
    staged = [
        f"{keys.runs}/{name}"
        for name in bucket.names_in(keys.runs)
        if name.rpartition(".")[0] == keys.name and RUN.fullmatch(run := name.rpartition(".")[2]) and run != but
    ]
    if not staged:
        return []
    now, found = store_clock(bucket, f"{keys.runs}/{keys.name}.clock"), list[FoundRun]()
    for staging in staged:
        head, lease = bucket.head(f"{staging}/lease.json"), ObjectLease.read(bucket.get(f"{staging}/lease.json"))
        if head is None or lease is None:  # staged files come after the lease, and go before it
            record = bucket.head(f"{staging}/record")
            old = record is not None and now - record.time > KEPT_RECORD
            found.append(FoundRun(staging, is_dead=old, is_over=old))
        else:
            over = lease.is_over or lease.host in hosts
            found.append(FoundRun(staging, over or lease.is_dead(head.time, now), over))
    return found


def finish_dead_runs(
    path: StorePath, bucket: Bucket, failed: Callable[[str], RunFailed], but: str = "", hosts: Sequence[str] = ()
) -> RecoveryRemarks:
    """Recover what dead runs left at a target.

    Raises
    ------
    RunFailed
        Where that fails.
    """
    remarks = RecoveryRemarks([], [])
    try:
        runs = runs_of(bucket, SinkKeys.of(path), but, hosts)
    except OSError as error:
        raise failed(coded("GE1508", f"cannot list {path}: {error.strerror}")) from error
    try:
        for run in runs:
            if run.is_dead:
                recover(path, bucket, run, remarks)
    except (OSError, UnreadableJournal) as error:
        reason = object_and_reason(error) if isinstance(error, OSError) else str(error)
        why = f"cannot recover what a run that died left at {path}: {reason}"
        raise failed(coded("GE1513", why)) from error
    return remarks


def recover(path: StorePath, bucket: Bucket, run: FoundRun, remarks: RecoveryRemarks) -> None:
    """Finish or undo the commit of a dead run, in all sinks of its bucket, and remove what it staged."""
    run_id = run.staging.rpartition(".")[2]
    journal = ObjectJournal.read(bucket, run.staging)
    if journal is None:
        count = sum(one.size for one in bucket.objects_below(run.staging))
        remove_run(bucket, run_id, [run.staging])
        remarks.notes.append(f"removed {size(count)} that run {run_id}, which died, left beside {path}")
        return
    journals = [found for one in journal.stagings if (found := ObjectJournal.read(bucket, one)) is not None]
    if bucket.head(journal.record) is None and len(journals) < len(journal.stagings):
        decide(bucket, journal.record, BACK)  # it died before all journals were written
    decision = settle(bucket, journals)
    remove_run(bucket, run_id, journal.stagings, journal.record if decision == BACK and not run.is_over else "")
    targets = ", ".join(f"{path.scheme}://{path.parts[0]}/{one.target}" for one in journals)
    state = "with that run's rows" if decision == FORWARD else "as before that run"
    ending = "finished" if decision == FORWARD else "undone"
    what = f"run {run_id} died while it changed its sinks.  Its commit was {ending}: {targets} {state}"
    remarks.warnings.append(coded("GE1720", what))


def remove_run(bucket: Bucket, run_id: str, stagings: Sequence[str], record: str = "") -> None:
    """Remove what a dead run staged, the staging prefix with the record last, and the locks that it held.

    A `record` that is named stays.
    """
    for staging in reversed(stagings):
        remove_staging(bucket, staging, record)
        lock = f"{staging.removesuffix(f'.{run_id}')}.lock"
        holder = ObjectLease.read(bucket.get(lock))
        if holder and holder.run_id == run_id:
            bucket.delete([lock])


def unfinished_commit(path: StorePath, bucket: Bucket) -> str | None:
    """Name a commit of a dead run that was decided, and has not replaced the object at a path yet."""
    with suppress(OSError, UnreadableJournal):
        for run in runs_of(bucket, SinkKeys.of(path)):
            journal = ObjectJournal.read(bucket, run.staging) if run.is_dead else None
            if journal and journal.is_file and bucket.get(journal.record) == FORWARD:
                what = f"a run died while it changed {path}: it may have old rows still"
                return coded("GE1515", f"{what}.  Run it again, or use: gpuetl recover {path}")
    return None
