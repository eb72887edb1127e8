"""A sink's files as hidden objects next to its target; nothing at the target changes before the commit.

<parent>/.gpuetl-runs/<name>.<run>/lease.json            the process that writes
<parent>/.gpuetl-runs/<name>.<run>/new/…                 the files
<parent>/.gpuetl-runs/<name>.<run>/attempts/<id>/…       those that workers of a cluster wrote
<parent>/.gpuetl-runs/<name>.<run>/journal.json, record  the commit
<parent>/.gpuetl-runs/<name>.lock                        a commit that is going on
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from threading import Lock

from gpuetl.errors import RunFailed, SinkExists
from gpuetl.messages import coded
from gpuetl.places.local.scratch_folders import ScratchFolder, new_folder, remove_dead
from gpuetl.places.objects.commit.bucket import Bucket
from gpuetl.places.objects.commit.leases import Heartbeat, ObjectLease
from gpuetl.places.objects.commit.manifests import ObjectManifest
from gpuetl.places.paths import StorePath, is_hidden
from gpuetl.places.publishing import FilesRead, RunIdentity, WrittenFile, folder_of
from gpuetl.places.target import Target
from gpuetl.records import dataclass

RUNS = ".gpuetl-runs"
SCRATCH = "gpuetl-uploads-"
"""How the names of local folders begin, in which files wait for their upload."""
MOST_NAME_BYTES = 900
"""S3 and Google allow 1,024 bytes for a whole key."""
SHOWN = 3


@dataclass(frozen=True)
class SinkKeys:
    """The keys of a sink and of the runs that write to it, in its bucket."""

    target: str

    @classmethod
    def of(cls, path: StorePath) -> SinkKeys:
        """Return the keys of a path, whose first part is the bucket."""
        return cls("/".join(path.parts[1:]))

    @property
    def name(self) -> str:
        """The last name of the target."""
        return PurePosixPath(self.target).name

    @property
    def runs(self) -> str:
        """The prefix of the runs of all targets with the same parent."""
        return str(PurePosixPath(self.target).parent / RUNS)

    @property
    def lock(self) -> str:
        """The lock of the target."""
        return f"{self.runs}/{self.name}.lock"

    def staging(self, run_id: str) -> str:
        """Return the prefix of a run."""
        return f"{self.runs}/{self.name}.{run_id}"


@dataclass
class ObjectStagedSink:
    """The files of one sink, staged as objects: see `StagedSink`.

    `staged` has the key and the bytes of each file that was staged.  A commit that is `decided` and has not ended keeps
    what is staged.
    """

    target: Target
    run: RunIdentity
    bucket: Bucket
    files: list[WrittenFile] = field(default_factory=list)
    unchanged: bool = False
    before_change: list[Callable[[], None]] = field(default_factory=list)
    foreign_kept: list[Path] = field(default_factory=list)
    files_read: FilesRead | None = None
    staged: dict[str, tuple[str, int]] = field(default_factory=dict)
    decided: bool = False
    heartbeat: Heartbeat | None = None
    scratch_folder: ScratchFolder | None = None
    scratch_lock: Lock = field(default_factory=Lock)

    @cached_property
    def path(self) -> StorePath:
        """The target."""
        assert isinstance(self.target.path, StorePath)
        return self.target.path

    @cached_property
    def keys(self) -> SinkKeys:
        """The keys of the target and of its runs."""
        return SinkKeys.of(self.path)

    @cached_property
    def staging(self) -> str:
        """The prefix of the run."""
        return self.keys.staging(self.run.run_id)

    @cached_property
    def lease(self) -> ObjectLease:
        """The process that writes."""
        return ObjectLease.of_this_process(self.run.run_id, self.keys.name, self.run.pipeline)

    @property
    def scratch(self) -> Path:
        """A local folder for files that are written and not uploaded yet; threads ask for it at the same time."""
        with self.scratch_lock:
            if self.scratch_folder is None:
                base = Path(tempfile.gettempdir())
                remove_dead(SCRATCH, base)
                self.scratch_folder = new_folder(SCRATCH, base)
            return self.scratch_folder.path

    @property
    def file_name(self) -> str:
        """The name of the target's last part."""
        return self.keys.name

    @property
    def name_bytes(self) -> int:
        """The most bytes in the name of a partition's folder, so that the whole key fits."""
        return MOST_NAME_BYTES - len(self.staging.encode())

    def prepare(self) -> None:
        """Refuse a target that the sink must not replace, and write the run's lease."""
        try:
            self.check_target()
            self.heartbeat = Heartbeat(self.bucket, f"{self.staging}/lease.json", self.lease)
            self.heartbeat.start()
        except OSError as error:
            raise self.failed(coded("GE1508", f"cannot write to {self.path}: {error.strerror}")) from error

    def exists(self) -> bool:
        """Tell whether there is an object at the target, or below it."""
        if self.target.is_file:
            return self.bucket.head(self.keys.target) is not None
        return self.bucket.has_any(self.keys.target)

    def check_target(self) -> None:
        """Refuse a target that the sink must not replace: see `prepare`."""
        key, target = self.keys.target, self.target
        if not key:
            why = f"a sink cannot be a whole bucket.  Add a name: {self.path}/{target.name}"
            raise self.failed(coded("GE1508", why))
        if self.bucket.has_any(key) if target.is_file else bool(key and self.bucket.head(key)):
            kinds = ("a folder", "a file") if target.is_file else ("a file", "a folder")
            raise self.failed(coded("GE1508", f"{self.path} is {kinds[0]}, and the sink writes {kinds[1]}"))
        self.check_mode()
        if not target.is_file:
            self.check_foreign(ObjectManifest.read(self.bucket, key))

    def check_mode(self) -> None:
        """Refuse a target that exists, in mode `error`; the commit asks again, since others write too."""
        for check in self.before_change:
            check()
        if self.target.mode == "error" and self.exists():
            raise SinkExists.refused(self.target.origin, str(self.path))

    def check_foreign(self, manifest: ObjectManifest) -> None:
        """Refuse to replace files of others.

        Raises
        ------
        RunFailed
            With the first few of them, and what to do.
        """
        names = self.replaced_names(manifest)
        if self.target.keep_foreign:
            self.foreign_kept = [Path(name) for name in manifest.foreign(names)]
        elif others := manifest.foreign(names):
            advice = "Set keep_foreign: true to keep them, or give the sink a prefix of its own"
            if self.target.run_key:
                advice = "The run would replace them, since they have its run_key.  Move them away"
            raise self.failed(coded("GE1511", f"{self.holds_foreign(others)}.  {advice}"))

    def replaced_names(self, manifest: ObjectManifest) -> list[str]:
        """Return the names of visible objects below the target that the commit would replace, foreign ones too."""
        names, target = sorted(name for name in manifest.objects if not is_hidden(name.split("/"))), self.target
        if target.replaces_all:
            return names
        if target.replaces_partitions:
            folders = {folder_of(file.name) for file in self.files} | (self.files_read or FilesRead({})).folders
            return [name for name in names if folder_of(name) in folders]
        return [name for name in names if self.is_marked(name)] if target.run_key else []

    def is_marked(self, name: str) -> bool:
        """Tell whether a file's name has the target's mark: an equal run appended it."""
        mark = self.target.mark
        return bool(mark) and PurePosixPath(name).name.startswith(f"part-{mark}-") and name.endswith(self.target.suffix)

    def holds_foreign(self, others: Sequence[str]) -> str:
        """Word which files at the target are of others; the first few are named."""
        named = ", ".join(others[:SHOWN]) + (f" and {len(others) - SHOWN:,} more" if len(others) > SHOWN else "")
        count = f"{len(others):,} file{'s' * (len(others) > 1)}"
        return f"{self.path} holds {count} that gpuetl did not write, or that changed since: {named}"

    def path_of(self, name: str) -> Path:
        """Return the local path of a file that is uploaded when it is written."""
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def staged_path(self, name: str) -> StorePath:
        """Return where a file is staged."""
        return self.at(self.staged[name][0])

    def at(self, key: str) -> StorePath:
        """Return the path of a key in the sink's bucket."""
        return replace(self.path, key=PurePosixPath(self.path.parts[0], key))

    def keep(self, name: str) -> int:
        """Upload a file, and remove it here."""
        path, key = self.scratch / name, f"{self.upload_prefix}/{name}"
        size = path.stat().st_size
        self.bucket.put(key, path)
        self.staged[name] = key, size
        path.unlink()
        return size

    @property
    def upload_prefix(self) -> str:
        """Where files are staged."""
        return f"{self.staging}/new"

    def earlier_files(self) -> Sequence[StorePath]:
        """Return the files with the target's mark that equal runs appended."""
        if not self.target.mark:
            return []
        found = (one.key for one in self.bucket.objects_below(self.keys.target))
        return [self.at(key) for key in sorted(found) if self.is_marked(key) and not self._is_hidden(key)]

    def current_versions(self) -> dict[str, str]:
        """Return the files of gpuetl at the target, with their sizes; of a single object, with its ETag and time."""
        key = self.keys.target
        if self.target.is_file:
            found = self.bucket.head(key)
            return {} if found is None else {self.keys.name: f"{found.size} {found.e_tag} {found.time}"}
        manifest = ObjectManifest.read(self.bucket, key)
        visible = [name for name in manifest.objects if not is_hidden(name.split("/"))]
        others = manifest.foreign(name for name in visible if name.endswith(self.target.suffix))
        if others and not self.target.keep_foreign:
            why = f"{self.holds_foreign(others)}.  An upsert would not see their rows.  Move them away"
            raise self.failed(coded("GE1511", why))
        foreign = set(others)
        return {name: str(manifest.files[name]) for name in manifest.files if name not in foreign}

    def staying_files(self) -> Iterator[StorePath]:
        """Yield the files at the target that the commit will not replace."""
        manifest = ObjectManifest.read(self.bucket, self.keys.target)
        replaced = set(self.replaced_names(manifest))
        for name in manifest.objects:
            if name.endswith(self.target.suffix) and name not in replaced and not is_hidden(name.split("/")):
                yield self.at(f"{self.keys.target}/{name}")

    def _is_hidden(self, key: str) -> bool:
        return is_hidden(key.removeprefix(f"{self.keys.target}/").split("/"))

    def failed(self, why: str) -> RunFailed:
        """Word a failure of this sink."""
        return RunFailed.at(self.target.origin, why)

    def close(self, keep: bool = False) -> bool:
        """Remove the staged objects."""
        if self.scratch_folder is not None:
            self.scratch_folder.remove()
            self.scratch_folder = None
        if self.heartbeat is None:
            return True
        stays = self.decided or keep
        self.heartbeat.end(leave=stays)
        if stays:
            return False
        try:
            remove_staging(self.bucket, self.staging)
        except OSError:  # the next run removes it
            return False
        self.heartbeat = None
        return True

    # On a cluster.

    def share(self) -> None:
        """Do nothing: prefixes need not be made."""

    def attempt(self, name: str) -> ObjectStagedSink:
        """Return where a worker stages the files of one attempt."""
        return ObjectAttempt(self.target, self.run, self.bucket, name=name)

    def take(self, attempt: str, staged: str, name: str) -> None:
        """Note under which name a file of an attempt is committed; it stays where it is staged."""
        key = f"{self.staging}/attempts/{attempt}/{staged}"
        found = self.bucket.head(key)
        if found is None:
            raise FileNotFoundError(2, "the driver does not find the object", key)
        self.staged[name] = key, found.size

    def remove_attempts(self) -> None:
        """Do nothing: what was not taken is removed with everything that is staged."""


@dataclass
class ObjectAttempt(ObjectStagedSink):
    """The files that a worker stages in one attempt at a task."""

    name: str = ""

    @property
    def upload_prefix(self) -> str:
        """The prefix of the attempt."""
        return f"{self.staging}/attempts/{self.name}"

    def prepare(self) -> None:
        """Do nothing: the driver has looked at the target."""


def remove_staging(bucket: Bucket, staging: str, but: str = "") -> None:
    """Remove what is staged by a run, but for one key; the lease goes last, so that what is left belongs to a run."""
    keys = sorted(one.key for one in bucket.objects_below(staging) if one.key != but)
    last = [key for key in keys if key == f"{staging}/lease.json"]
    bucket.delete([key for key in keys if key not in last])
    bucket.delete(last)
