"""How sinks in local folders change: staged next to the target, and moved by renames that a journal lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from gpuetl.errors import RunFailed
from gpuetl.places.local.commit.commit_sinks import commit_sinks, finish_dead_runs, unfinished_commit
from gpuetl.places.local.staged_sink import LocalStagedSink
from gpuetl.places.paths import FilePath
from gpuetl.places.publishing import RecoveryRemarks, RunIdentity, StagedSink
from gpuetl.places.target import Target


class LocalPublisher:
    """Sinks in local folders: see `Publisher`."""

    commits_last = True

    def stage(self, target: Target, run: RunIdentity) -> StagedSink:
        """Return the staged files of a sink."""
        return LocalStagedSink(target, run)

    def commit(self, sinks: Sequence[StagedSink], committed: Callable[[], None]) -> None:
        """Put the files of all sinks in place, or of none."""
        commit_sinks(cast("Sequence[LocalStagedSink]", sinks), committed)

    def finish_dead_runs(
        self, path: FilePath, failed: Callable[[str], RunFailed], hosts: Sequence[str] = ()
    ) -> RecoveryRemarks:
        """Recover what dead runs left beside a sink's path, or beside what it points to."""
        assert isinstance(path, Path)
        return finish_dead_runs(path.resolve() if path.is_symlink() else path, failed, hosts)

    def unfinished_commit(self, path: FilePath) -> str | None:
        """Name a commit of a dead run that has changed only some of the files of a path."""
        assert isinstance(path, Path)
        return unfinished_commit(path)


LOCAL_PUBLISHER = LocalPublisher()
