"""Renames that the standard library lacks: exchange two paths, and rename to a free path only."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path

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
