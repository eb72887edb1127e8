"""Checkpoints: rows of stages that runs keep in the state folder, each under a key of all that decides the rows.

    checkpoints/<key>/manifest.json               written last: a folder without one is no checkpoint
    checkpoints/<key>/<run id>/part-….parquet     the rows, in files whose names no other run gives

The manifest names the files in the order of their rows, with the size and a checksum of each.  Two runs may write the
same checkpoint at once: each has files of its own, and the manifest that is written last counts.
"""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from gpuetl.places.paths import FilePath, StorePath
from gpuetl.records import dataclass
from gpuetl.state.files import StateFiles
from gpuetl.threads import thread_count

FOLDER = "checkpoints"
MANIFEST = "manifest.json"
FORMAT_VERSION = 1
"""Of what is in the folder; it is part of every key, so that checkpoints of another version are not found."""
BLOCK_BYTES = 8 << 20
"""Of a file that are read at a time for its checksum."""
WEAK = "W/"
"""How an ETag begins that does not stand for one content."""


@dataclass(frozen=True)
class CheckpointFile:
    """A file of a checkpoint, by its name below the checkpoint's folder; `checksum` is its CRC-32 in hexadecimal.

    `e_tag` is the object's in a store, where there is one: it stands for the content, which then need not be read.
    """

    name: str
    bytes: int
    checksum: str
    e_tag: str = ""


@dataclass(frozen=True)
class Checkpoint:
    """The manifest of a checkpoint.

    Parameters
    ----------
    key
        A digest of all that decides the rows: see `run/result_keys.py`.
    pipeline, stage, run_id, engine, gpuetl
        What wrote it.
    created
        When it was complete, in seconds since 1970.
    rows
        How many rows all files have together.
    format
        `parquet`, or `arrow` where Parquet does not hold a column's type; nothing where the rows are in `table`.
    schema
        The columns with their exact types.
    files
        In the order of their rows.
    table
        The rows themselves, as an Arrow stream in base64: of counts, which are one row.
    """

    key: str
    pipeline: str
    stage: str
    run_id: str
    engine: str
    gpuetl: str
    created: float
    rows: int
    format: str
    schema: pa.Schema
    files: tuple[CheckpointFile, ...] = ()
    table: str = ""

    @property
    def file_bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def folder(self) -> str:
        """Its folder below the state folder."""
        return folder_of(self.key)

    def to_json(self) -> bytes:
        """Return the manifest's text."""
        schema = base64.b64encode(self.schema.serialize().to_pybytes()).decode()
        columns = {field.name: str(field.type) for field in self.schema}
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("schema", "files")}
        written = {"version": FORMAT_VERSION, **fields, "bytes": self.file_bytes, "columns": columns, "schema": schema}
        return json.dumps({**written, "files": [asdict(file) for file in self.files]}, indent=1).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Checkpoint:
        """Read a manifest.

        Raises
        ------
        Damaged
            For what is no manifest of this version.
        """
        try:
            read: dict[str, Any] = json.loads(text)
            if read["version"] != FORMAT_VERSION:
                raise Damaged(f"{MANIFEST} has version {read['version']!r}, and gpuetl reads {FORMAT_VERSION}")
            schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(read["schema"])))
            files = tuple(CheckpointFile(**file) for file in read["files"])
            names = cls.__dataclass_fields__.keys() - {"schema", "files"}
            return cls(**{name: read[name] for name in names}, schema=schema, files=files)
        except (ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as error:
            raise Damaged(f"{MANIFEST} is not a valid manifest: {type(error).__name__} {error}".rstrip()) from None

    def counts(self) -> pa.Table:
        """Return the rows that are in the manifest itself."""
        try:
            with pa.ipc.open_stream(base64.b64decode(self.table)) as stream:
                return stream.read_all()
        except (ValueError, pa.ArrowException) as error:
            raise Damaged(f"{MANIFEST} is not a valid manifest: {error}") from None


class Damaged(Exception):
    """A checkpoint that is not as its manifest says, in words."""


def folder_of(key: str) -> str:
    """Return the folder of a checkpoint below the state folder."""
    return f"{FOLDER}/{key}"


@dataclass(frozen=True)
class StoredCheckpoint:
    """What stands in a state folder under one key: names of files, with sizes, and the manifest if it can be read."""

    key: str
    names: tuple[str, ...]
    bytes: int
    changed: float
    manifest: Checkpoint | None


@dataclass(frozen=True)
class CheckpointStore:
    """The checkpoints of a state folder.  All methods raise `OSError` where that refuses them."""

    files: StateFiles

    def find(self, key: str) -> Checkpoint | None:
        """Return the complete checkpoint of a key, whose files are as they were written; None where there is none.

        Raises
        ------
        Damaged
            For one that is not as its manifest says.
        """
        text = self.files.read(f"{folder_of(key)}/{MANIFEST}")
        if text is None:
            return None
        found = Checkpoint.from_json(text)
        if found.key != key:
            raise Damaged(f"{MANIFEST} is that of another checkpoint, {found.key}")
        self.check(found)
        return found

    def check(self, checkpoint: Checkpoint) -> None:
        """Compare the files of a checkpoint with its manifest; raise `Damaged` where one differs."""
        with ThreadPoolExecutor(thread_count(), "gpuetl-checkpoint") as threads:
            problems = threads.map(lambda file: self.problem_of(checkpoint, file), checkpoint.files)
            if problem := next(filter(None, problems), ""):
                raise Damaged(problem)

    def problem_of(self, checkpoint: Checkpoint, file: CheckpointFile) -> str:
        """Return what is wrong with a file; nothing where it is as it was written."""
        name = f"{checkpoint.folder}/{file.name}"
        path = self.files.at(name)
        size = self.files.size(name)
        if size is None:
            return f"{path} does not exist"
        if size != file.bytes:
            return f"{path} has {size:,} bytes, and the manifest says {file.bytes:,}"
        if file.e_tag and not file.e_tag.startswith(WEAK) and e_tag_of(path) == file.e_tag:
            return ""
        found = checksum_of(path) if isinstance(path, Path) else checksum(self.files.read(name) or b"")
        return "" if found == file.checksum else f"the content of {path} has changed since it was written"

    def publish(self, checkpoint: Checkpoint) -> None:
        """Write the manifest, from which on the checkpoint counts; files of an earlier run under the key go."""
        files = tuple(self.with_e_tag(checkpoint, file) for file in checkpoint.files)
        manifest = f"{checkpoint.folder}/{MANIFEST}"
        try:
            before = Checkpoint.from_json(text) if (text := self.files.read(manifest)) else None
        except Damaged:
            before = None
        self.files.write(manifest, replace(checkpoint, files=files).to_json())
        if before is not None and before.run_id != checkpoint.run_id:
            for file in before.files:
                self.files.delete(f"{checkpoint.folder}/{file.name}")

    def with_e_tag(self, checkpoint: Checkpoint, file: CheckpointFile) -> CheckpointFile:
        """Return a file with the ETag of its object, which a store gives it."""
        path = self.files.at(f"{checkpoint.folder}/{file.name}")
        tag = e_tag_of(path) if isinstance(path, StorePath) else ""
        return replace(file, e_tag=tag)

    def remove(self, stored: StoredCheckpoint) -> None:
        """Remove a checkpoint: the manifest first, so that it does not count any more."""
        own = f"{folder_of(stored.key)}/{MANIFEST}"
        self.remove_files([name for name in stored.names if name == own])
        self.remove_files([name for name in stored.names if name != own])

    def remove_files(self, names: Iterable[str]) -> None:
        """Remove files, and the folders that are empty then."""
        for name in names:
            self.files.delete(name)
            remove_empty_folders(self.files.at(name), self.files.path)

    def stored(self) -> Iterator[StoredCheckpoint]:
        """Yield all that is in the folder of checkpoints, complete or not, by key."""
        names: dict[str, list[str]] = {}
        for name in self.files.names(FOLDER):
            parts = name.split("/")
            if len(parts) > 2:
                names.setdefault(parts[1], []).append(name)
        for key, own in names.items():
            yield self.stored_under(key, own)

    def stored_under(self, key: str, names: Sequence[str]) -> StoredCheckpoint:
        """Return what is stored under a key."""
        text = self.files.read(f"{folder_of(key)}/{MANIFEST}")
        try:
            manifest = Checkpoint.from_json(text) if text else None
        except Damaged:
            manifest = None
        size = sum(self.files.size(name) or 0 for name in names)
        times = () if manifest else (changed_at(self.files.at(name)) for name in names)  # a request each, in a store
        changed = manifest.created if manifest else max(times, default=0.0)
        return StoredCheckpoint(key, tuple(names), size, changed, manifest)


def counts_of(table: pa.Table) -> str:
    """Return a table as text for a manifest."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


def checksum_of(path: Path) -> str:
    """Return the checksum of a file."""
    found, block = 0, bytearray(BLOCK_BYTES)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(block):
            found = zlib.crc32(memoryview(block)[:count], found)
    return f"{found:08x}"


def checksum(content: bytes) -> str:
    """Return the checksum of bytes."""
    return f"{zlib.crc32(content):08x}"


def e_tag_of(path: FilePath) -> str:
    """Return the ETag of an object; nothing of a local file, or where the store gives none."""
    if isinstance(path, Path):
        return ""
    from gpuetl.places.registry import filesystem_of

    return str(getattr(filesystem_of(path).info(path), "e_tag", ""))


def changed_at(path: FilePath) -> float:
    """Return when a file last changed, in seconds since 1970; now where that is not known."""
    if isinstance(path, Path):
        try:
            return path.stat().st_mtime
        except OSError:
            return time.time()
    from gpuetl.places.registry import filesystem_of

    try:
        return filesystem_of(path).info(path).mtime_ns / 1e9
    except OSError:
        return time.time()


def remove_empty_folders(path: FilePath, top: FilePath) -> None:
    """Remove the folders above a file that is gone, up to `top`, as far as they are empty; stores have none."""
    if not isinstance(path, Path):
        return
    for folder in path.parents:
        if folder in (top, top / FOLDER):
            return
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:  # in use
            return
