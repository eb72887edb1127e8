"""Changes of files at a target: durable, repeatable, and undone any number of times."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import stat
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Literal

from gpuetl.places.local.folders import MAX_NAME_BYTES
from gpuetl.records import dataclass
from gpuetl.threads import in_threads

# The names of staging folders, which say for which sink and of which run they are.


RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
STAGING = re.compile(rf"\.(?P<name>.*)\.(?P<run>{RUN.pattern})", re.DOTALL)


def staging_folder(path: Path, run_id: str) -> Path:
    """Return the folder beside a sink's path in which a run writes, hidden from readers of the sink."""
    name = path.name.encode(errors="surrogateescape")[: MAX_NAME_BYTES - len(run_id) - 2].decode(errors="ignore")
    return path.parent / f".{name}.{run_id}"


# Files and folders brought to disk: what is there after a power failure.


SYNCING_THREADS = 16
"""A file system syncs files that are asked for at the same time together."""


def sync(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, are on disk; some file systems cannot sync folders."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def sync_all(paths: Iterable[Path]) -> None:
    """Sync files and folders, several at a time."""
    in_threads(sync, dict.fromkeys(paths), SYNCING_THREADS)


def folders_below(folder: Path) -> list[Path]:
    """Return a folder and those below it; links are not followed."""
    return [Path(place) for place, _, _ in os.walk(folder)]


def write_atomically(path: Path, text: str, durable: bool) -> None:
    """Write a file that is there whole or not at all."""
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    temporary.replace(path)


# Renames that the standard library lacks: exchange two paths, and rename to a free path only.


RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
AT_FDCWD = -100
SYSTEM_CALLS = {"x86_64": 316, "aarch64": 276, "ppc64le": 357, "s390x": 347, "riscv64": 276}
"""The number of `renameat2`, for C libraries without the function."""
UNSUPPORTED = frozenset((errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM))
"""Errors of a kernel, a file system or a sandbox that lacks the call."""


class NoExchange(OSError):
    """The file system cannot exchange two paths."""


def exchange(one: Path, other: Path) -> None:
    """Exchange two files or folders in one step.

    Raises
    ------
    NoExchange
        Where the system or the file system cannot.
    OSError
        Where one of them is missing or must not be moved.
    """
    try:
        _renameat2(one, other, RENAME_EXCHANGE)
    except OSError as error:
        if error.errno in UNSUPPORTED:
            raise NoExchange(*error.args) from error
        raise


def rename_to_free(old: Path, new: Path) -> None:
    """Move a file or folder to a path where nothing is; raise `FileExistsError` if something is there."""
    try:
        _renameat2(old, new, RENAME_NOREPLACE)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        if os.path.lexists(new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new)) from None
        old.rename(new)


def _renameat2(old: Path, new: Path, flags: int) -> None:
    call = _system_call()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(new))
    if call(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(old), None, str(new))


@cache
def _system_call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """Return `renameat2`, from the C library or by its number; None on systems other than Linux."""
    if platform.system() != "Linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        function = library.renameat2
        function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        return lambda *arguments: int(function(*arguments))
    if (number := SYSTEM_CALLS.get(platform.machine())) is None:
        return None
    system = library.syscall
    system.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return lambda *arguments: int(system(number, *arguments))


# One change at a target, which can be repeated and undone any number of times: inodes say how far it got.
#
# A rename keeps the inode of a file or folder, and so does an exchange.  The device number is not compared: it may
# change
# when the machine starts again.


State = Literal["done", "open", "unclear"]


class Unclear(Exception):
    """A change of which it cannot be told how far it got; worded for the user."""


def inode_of(path: Path) -> int | None:
    """Return the inode of what is at a path, of a link its own; None where nothing is."""
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None


@dataclass(frozen=True)
class Put:
    """Put a file or folder in the place of what is at the target, if anything.

    Parameters
    ----------
    new
        Where it was staged.  After an exchange, what was at the target is here.
    target
        Where it goes.
    inode
        The inode of the staged file or folder.
    kept
        Where what was at the target goes if the file system cannot exchange paths.
    """

    new: Path
    target: Path
    inode: int
    kept: Path

    @property
    def state(self) -> State:
        """How far the move got."""
        if inode_of(self.target) == self.inode:
            return "done"
        return "open" if inode_of(self.new) == self.inode else "unclear"

    def apply(self) -> None:
        """Make the move, or what is left of it.

        Readers find what was there or what is new.  Only a folder on a file system without exchange is missing for the
        time between two renames.
        """
        if self.state == "done":
            return
        if self.state == "unclear":
            raise Unclear(f"{self.new} should go to {self.target}, and is at neither place")
        if not os.path.lexists(self.target):
            rename_to_free(self.new, self.target)
            return
        try:
            exchange(self.new, self.target)
        except NoExchange:
            self._replace()

    def _replace(self) -> None:
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISDIR(os.lstat(self.target).st_mode):
            rename_to_free(self.target, self.kept)
            rename_to_free(self.new, self.target)
            return
        if inode_of(self.kept) != inode_of(self.target):  # as it is where the process died after the link
            try:
                os.link(self.target, self.kept, follow_symlinks=False)
            except OSError:  # the file system has no links
                rename_to_free(self.target, self.kept)
        self.new.replace(self.target)

    def undo(self) -> None:
        """Put back what was at the target, if the move was made."""
        if inode_of(self.target) == self.inode:
            self._take_back()
        elif os.path.lexists(self.kept):
            _restore(self.kept, self.target)

    def _take_back(self) -> None:
        if os.path.lexists(self.new):
            exchange(self.new, self.target)
        elif not os.path.lexists(self.kept):
            rename_to_free(self.target, self.new)
        elif stat.S_ISDIR(os.lstat(self.target).st_mode):
            rename_to_free(self.target, self.new)
            rename_to_free(self.kept, self.target)
        else:
            self.kept.replace(self.target)


@dataclass(frozen=True)
class Remove:
    """Take a file away from a target; it is kept until the run has ended."""

    target: Path
    inode: int
    kept: Path

    @property
    def state(self) -> State:
        """How far the removal got; a file that someone else removed or replaced is left alone."""
        return "open" if inode_of(self.target) == self.inode else "done"

    def apply(self) -> None:
        """Take the file away, if it is still there."""
        if self.state == "open":
            self.kept.parent.mkdir(parents=True, exist_ok=True)
            rename_to_free(self.target, self.kept)

    def undo(self) -> None:
        """Put the file back, if it was taken away."""
        if os.path.lexists(self.kept):
            _restore(self.kept, self.target)


Step = Put | Remove


def _restore(kept: Path, target: Path) -> None:
    """Move back what was kept; a second name of what is still there just goes."""
    if not os.path.lexists(target):
        rename_to_free(kept, target)
    elif inode_of(kept) == inode_of(target):
        kept.unlink()
    else:
        raise Unclear(f"what was at {target} is in {kept}, and something else is at {target} now")
