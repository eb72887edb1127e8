"""How sinks on object stores change: staged as hidden objects, copied into place, and decided by one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from gpuetl.errors import RunFailed
from gpuetl.places.objects.commit.bucket import bucket_of
from gpuetl.places.objects.commit.commit_sinks import commit_sinks, finish_dead_runs, unfinished_commit
from gpuetl.places.objects.commit.staged_sink import ObjectStagedSink
from gpuetl.places.objects.object_filesystem import of_store
from gpuetl.places.paths import FilePath
from gpuetl.places.publishing import RecoveryRemarks, RunIdentity, StagedSink
from gpuetl.places.target import Target


class ObjectPublisher:
    """Sinks on object stores: see `Publisher`."""

    commits_last = False

    def stage(self, target: Target, run: RunIdentity) -> StagedSink:
        """Return the staged files of a sink."""
        return ObjectStagedSink(target, run, bucket_of(of_store(target.path)))

    def commit(self, sinks: Sequence[StagedSink], committed: Callable[[], None]) -> None:
        """Put the files of all sinks in place, or of none."""
        commit_sinks(cast("Sequence[ObjectStagedSink]", sinks), committed)

    def finish_dead_runs(
        self, path: FilePath, failed: Callable[[str], RunFailed], hosts: Sequence[str] = ()
    ) -> RecoveryRemarks:
        """Recover what dead runs left at a sink's path."""
        path = of_store(path)
        return finish_dead_runs(path, bucket_of(path), failed, hosts=hosts)

    def unfinished_commit(self, path: FilePath) -> str | None:
        """Name a commit of a dead run that was decided, and has not replaced the object at a path yet."""
        path = of_store(path)
        return unfinished_commit(path, bucket_of(path))


OBJECT_PUBLISHER = ObjectPublisher()
