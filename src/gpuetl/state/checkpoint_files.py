"""The files of a checkpoint while a run writes them: in their last place from the start, without a manifest."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from gpuetl.errors import RunFailed
from gpuetl.places.paths import FilePath
from gpuetl.places.publishing import FilesRead, RunIdentity, StagedSink, WrittenFile
from gpuetl.places.target import Target
from gpuetl.records import dataclass
from gpuetl.state.checkpoints import checksum_of, folder_of, remove_empty_folders
from gpuetl.state.files import StateFiles, state_files
from gpuetl.telemetry.origin import Origin

KIND: Final = "checkpoint"
"""Of the origin of what writes a checkpoint, as reports name it."""
NAME_BYTES = 255


@dataclass(frozen=True, kw_only=True)
class CheckpointTarget(Target):
    """Where a checkpoint goes: the state folder `state`, under a key.  `path` is the checkpoint's folder there."""

    key: str
    state: FilePath
    kind: Literal["sink", "state", "checkpoint"] = KIND


@dataclass
class CheckpointFiles:
    """The files of a checkpoint, as a sink's writer sees them: see `StagedSink`.

    On a cluster each attempt at a partition writes to a folder of its own; the driver names those that count in the
    manifest, so that no file is moved.
    """

    target: Target
    run: RunIdentity
    name: str = ""
    files: list[WrittenFile] = field(default_factory=list)
    unchanged: bool = False
    foreign_kept: list[Path] = field(default_factory=list)
    checksums: dict[str, str] = field(default_factory=dict)
    is_published: bool = False
    before_change: list[Callable[[], None]] = field(default_factory=list)
    files_read: FilesRead | None = None

    @property
    def checkpoint(self) -> CheckpointTarget:
        """The target as that of a checkpoint."""
        assert isinstance(self.target, CheckpointTarget)
        return self.target

    @cached_property
    def state(self) -> StateFiles:
        """The files of the state folder."""
        return state_files(self.checkpoint.state)

    @cached_property
    def scratch(self) -> Path | None:
        """A folder of this machine for files that a store gets; None for a folder of this machine."""
        return None if isinstance(self.checkpoint.state, Path) else Path(tempfile.mkdtemp(prefix="gpuetl-checkpoint-"))

    @property
    def folder(self) -> str:
        """The folder of the files, below that of the checkpoint."""
        return "/".join(filter(None, (self.run.run_id, self.name)))

    def named(self, name: str) -> str:
        """Return the name of a file below the checkpoint's folder."""
        return f"{self.folder}/{name}"

    def prepare(self) -> None:
        """Do nothing: folders are made with the first file."""

    def check_target(self) -> None:
        """Do nothing: there is nothing that a checkpoint replaces."""

    def current_versions(self) -> dict[str, str]:
        """Return nothing: a checkpoint reads no files of an earlier one."""
        return {}

    def exists(self) -> bool:
        """Return False: a checkpoint never replaces another one's files."""
        return False

    @property
    def name_bytes(self) -> int:
        """The most bytes in the name of a folder: no value becomes one."""
        return NAME_BYTES

    @property
    def file_name(self) -> str:
        """The name of the only file: there is none, since a checkpoint is a folder."""
        return self.target.name

    def path_of(self, name: str) -> Path:
        """Return the local path to write a file to; its folder is there."""
        if self.scratch is not None:
            return self.scratch / name
        path = self.staged_path(name)
        assert isinstance(path, Path)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def staged_path(self, name: str) -> FilePath:
        """Return where a file is that `keep` has taken over."""
        return self.state.at(f"{folder_of(self.checkpoint.key)}/{self.named(name)}")

    def keep(self, name: str) -> int:
        """Take the checksum of a file that was written, and upload it to a store; return its bytes.

        It is not brought to disk: what a power failure loses is noticed by its size or its checksum.
        """
        path = self.path_of(name)
        self.checksums[name], size = checksum_of(path), path.stat().st_size
        if self.scratch is not None:
            self.state.take(f"{folder_of(self.checkpoint.key)}/{self.named(name)}", path)
        return size

    def earlier_files(self) -> Sequence[FilePath]:
        """Return nothing: no file of an earlier run is replaced."""
        return []

    def staying_files(self) -> Iterator[FilePath]:
        """Yield nothing."""
        yield from ()

    def close(self, keep: bool = False) -> bool:
        """Remove the files of this run, unless they are published; return whether nothing of it is left over."""
        if self.scratch is not None:
            for path in (*self.scratch.iterdir(), self.scratch):
                with suppress(OSError):
                    path.rmdir() if path == self.scratch else path.unlink()
        if not self.is_published and not self.name:
            self.remove_others(())
        return True

    def remove_others(self, names: Sequence[str]) -> None:
        """Remove files of this run but those named, below the checkpoint's folder."""
        folder, kept = folder_of(self.checkpoint.key), set(names)
        with suppress(OSError):  # what is left is removed later: `gpuetl clean`
            for name in self.state.names(f"{folder}/{self.run.run_id}"):
                if name.removeprefix(f"{folder}/") not in kept:
                    self.state.delete(name)
                    remove_empty_folders(self.state.at(name), self.checkpoint.state)

    # On a cluster.

    def share(self) -> None:
        """Do nothing: workers make their folders."""

    def attempt(self, name: str) -> StagedSink:
        """Return where a worker writes the files of one attempt at a task."""
        return CheckpointFiles(self.target, self.run, name)

    def take(self, attempt: str, staged: str, name: str) -> None:
        """Refuse: files stay where workers wrote them."""
        raise NotImplementedError

    def remove_attempts(self) -> None:
        """Do nothing: `remove_others` does, when it is known which attempts count."""

    def failed(self, why: str) -> RunFailed:
        """Word a failure of this checkpoint."""
        return RunFailed.at(Origin(KIND, self.target.name), why)
