"""The files of a state folder, by names such as `runs/x.json`: the same for a local folder and a prefix of a store."""

from __future__ import annotations

import shutil
from contextlib import suppress
from errno import EXDEV
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from gpuetl.places.paths import FilePath, StorePath
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.places.objects.commit.bucket import Bucket


class StateFiles(Protocol):
    """The files below a state folder.

    Names have `/` between their parts.  All methods raise `OSError` where the folder or store refuses them.
    """

    @property
    def path(self) -> FilePath:
        """The folder."""

    def at(self, name: str) -> FilePath:
        """Return the path of a file, for whatever reads files by paths."""

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None where there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one step for its readers; one that is there is replaced."""

    def take(self, name: str, file: Path) -> None:
        """Move a local file to a name, in one step for its readers; one that is there is replaced."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files below a folder, at any depth, in their order; none where it does not exist."""

    def size(self, name: str) -> int | None:
        """Return the bytes of a file; None where there is none."""

    def delete(self, name: str) -> None:
        """Remove a file; one that is not there does no harm."""


def state_files(path: FilePath) -> StateFiles:
    """Return the files below a folder, which need not exist."""
    if isinstance(path, Path):
        return LocalFiles(path)
    return ObjectFiles(path)


ATTEMPTS = 10
"""How often a file is written to a folder that other runs remove at the same time."""


def sync(path: Path) -> None:
    """Bring a file or folder to disk."""
    from gpuetl.places.local.commit import moves  # most plans only name a state folder

    moves.sync(path)


@dataclass(frozen=True)
class LocalFiles:
    """Files of a local folder; the folder is made with the first file."""

    path: Path

    def at(self, name: str) -> Path:
        """Return the path of a file."""
        return self.path / name

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None where there is none."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file under another name, and rename it."""
        path, new = self._written(name, content)
        new.replace(path)
        sync(path.parent)

    def take(self, name: str, file: Path) -> None:
        """Rename a file; from another file system it is copied."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file.replace(path)
        except OSError as error:
            if error.errno != EXDEV:
                raise
            new = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
            shutil.copyfile(file, new)
            sync(new)
            new.replace(path)
            file.unlink()
        sync(path.parent)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files below a folder."""
        found = [one for one in (self.path / folder).rglob("*") if one.is_file() and not one.name.startswith(".")]
        return sorted(one.relative_to(self.path).as_posix() for one in found)

    def size(self, name: str) -> int | None:
        """Return the bytes of a file; None where there is none."""
        try:
            return (self.path / name).stat().st_size
        except FileNotFoundError:
            return None

    def delete(self, name: str) -> None:
        """Remove a file, and the folder above it if that is empty now."""
        path = self.path / name
        path.unlink(missing_ok=True)
        if path.parent != self.path:
            with suppress(OSError):  # in use
                path.parent.rmdir()

    def _written(self, name: str, content: bytes) -> tuple[Path, Path]:
        """Write a hidden file next to the one of a name; return both paths."""
        path = self.path / name
        new = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
        for left in reversed(range(ATTEMPTS)):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                new.write_bytes(content)
                break
            except (FileNotFoundError, FileExistsError):  # another run has just removed the folder, which was empty
                if not left:
                    raise
        sync(new)
        return path, new


@dataclass(frozen=True)
class ObjectFiles:
    """Objects below a prefix of a bucket."""

    path: StorePath

    def at(self, name: str) -> StorePath:
        """Return the path of an object."""
        return self.path.joined(name)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of an object; None where there is none."""
        return self._bucket.get(self._key(name))

    def write(self, name: str, content: bytes) -> None:
        """Write an object."""
        self._bucket.put(self._key(name), content)

    def take(self, name: str, file: Path) -> None:
        """Upload a file, and remove it here."""
        self._bucket.put(self._key(name), file)
        file.unlink()

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects below a folder."""
        prefix = self._key("")
        keys = (one.key for one in self._bucket.objects_below(self._key(folder)))
        return sorted(key[len(prefix) :].lstrip("/") for key in keys)

    def size(self, name: str) -> int | None:
        """Return the bytes of an object; None where there is none."""
        found = self._bucket.head(self._key(name))
        return None if found is None else found.size

    def delete(self, name: str) -> None:
        """Remove an object."""
        self._bucket.delete([self._key(name)])

    def _key(self, name: str) -> str:
        return "/".join(self.path.joined(name).parts[1:])

    @property
    def _bucket(self) -> Bucket:
        from gpuetl.places.objects.commit.bucket import bucket_of

        return bucket_of(self.path)
