"""Modes and owners: what replaces a file or folder gets those that it had."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import reduce
from pathlib import Path

from gpuetl.io.commit.manifest import Entry


def keep_ownership(status: os.stat_result, path: Path) -> None:
    """Give a new file or folder the mode of an old one, and its owner and group as far as the system lets us."""
    new = os.lstat(path)
    for owner in ({"uid": status.st_uid, "gid": -1}, {"uid": -1, "gid": status.st_gid}):
        if (owner["uid"] not in (-1, new.st_uid)) or (owner["gid"] not in (-1, new.st_gid)):
            with suppress(PermissionError):
                os.chown(path, owner["uid"], owner["gid"])
    if stat.S_IMODE(new.st_mode) != stat.S_IMODE(status.st_mode):
        path.chmod(stat.S_IMODE(status.st_mode))


def keep_ownership_below(old: Path, replaced: Iterable[Entry], new: Path) -> None:
    """Give a new folder, and the folders in it, the modes of those that they replace, and files a mode of their own.

    New files replace all old ones together.  They get the permissions that every one of these had, so nobody may read a
    new file who could not read the old ones.
    """
    entries = list(replaced)
    keep_ownership(os.lstat(old), new)
    for entry in entries:
        if entry.is_folder and (new / entry.name).is_dir():
            keep_ownership(entry.status, new / entry.name)
    modes = [stat.S_IMODE(entry.status.st_mode) for entry in entries if stat.S_ISREG(entry.status.st_mode)]
    if not modes:
        return
    mode, first = reduce(lambda one, other: one & other, modes), next(e for e in entries if not e.is_folder)
    status = os.stat_result((stat.S_IFREG | mode, *first.status[1:10]))
    for place, _, names in os.walk(new):
        for name in names:
            keep_ownership(status, Path(place, name))
