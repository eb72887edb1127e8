"""The files that a source's path names, found by one walk: a file, those of a glob, or those of a folder at any depth.

A name that begins with `.` is hidden, and so is one that begins with `_` unless it is a partition's `_name=value`.
Folders and `*` leave hidden names out.  A path that is written out finds them, and so does a part of a glob that begins
with that character.

Links to files are read.  Links to folders are followed where the path names them, by their name or by a part such as
`*`.  Subfolders and `**` leave them out.  Such a link often leads to a folder of the same source, whose rows would be
read twice, and one to a folder above would never end.  `Listing.links` has those that lead elsewhere.

A folder to which another run commits is listed as it is before that commit or after it (`sinks_read.py`).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import field
from fnmatch import translate
from glob import has_magic
from operator import attrgetter
from pathlib import Path

from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import ListedFile, Listing
from gpuetl.places.local.local_file import LocalFileState, refuse_other_kinds
from gpuetl.places.local.sinks_read import SinksRead
from gpuetl.places.paths import LISTS, is_hidden
from gpuetl.places.watching import Look
from gpuetl.records import dataclass

ANY_DEPTH = "**"


@dataclass
class Found:
    """What a walk has found so far: see `Listing`."""

    path: Path
    suffix: str | tuple[str, ...]
    is_folder: bool = False
    is_glob: bool = False
    files: dict[str, LocalFileState] = field(default_factory=dict)
    others: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    file_links: list[Path] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)
    sinks: SinksRead = field(default_factory=SinksRead)
    """The sinks whose files are listed."""

    def add(self, path: str, is_link: bool) -> None:
        """Add a file that is read; follow a link to it."""
        try:
            found = os.stat(path)
        except OSError as error:
            raise not_to_be_read(path, error) from None
        refuse_other_kinds(Path(path), found.st_mode)
        self.files[path] = LocalFileState.of(found)
        if is_link:
            self.file_links.append(Path(path))

    def listing(self, left_out: set[Path]) -> Listing:
        """Return what was found, without some files."""
        files = [ListedFile(Path(path), state) for path, state in self.files.items()]
        if left_out:
            files = [file for file in files if file.path not in left_out]
        return Listing(
            self.path,
            self.suffix,
            tuple(sorted(files, key=attrgetter("path.parts"))),
            self.is_folder,
            self.is_glob,
            tuple(path for path in self.others if path not in left_out),
            tuple(self.folders),
            tuple(path for path in self.file_links if path not in left_out),
            tuple(self.links),
        )


def list_files(path: Path, suffix: str | tuple[str, ...]) -> Listing:
    """Return what a path names; a path that does not exist names nothing.

    Costs one call of the system for a folder and one for a file.

    Raises
    ------
    DatasetError
        For a folder that cannot be listed, and for what would be read and is no file: a dangling link, a pipe.
    """
    found = Found(path, suffix)
    try:
        look_up(found)
    except DatasetError:  # a commit may have removed what the walk had found
        if not found.sinks.is_stale():
            raise
    else:
        if (coming := found.sinks.files_to_come()) is not None:
            return found.listing(coming)
    with found.sinks.without_commits():
        again = Found(path, suffix)
        look_up(again)
        return again.listing(again.sinks.files_to_come() or set())


def look_up(found: Found) -> None:
    """Find what a path names."""
    path = found.path
    try:
        status = os.stat(path)
    except OSError as error:
        found.is_glob = has_magic(str(path)) and not os.path.lexists(path)
        if found.is_glob:
            Glob(found).expand()
        elif exists(str(path)):
            raise not_to_be_read(str(path), error) from None
        return
    if stat.S_ISDIR(status.st_mode):
        found.is_folder = True
        walk_folder(found)
    else:
        found.add(str(path), path.is_symlink())


def walk_folder(found: Found) -> None:
    """Add the files of a folder and its subfolders that have the suffix."""
    walk, pending = Walk(found, str(found.path)), [str(found.path)]
    while pending:
        for entry in walk.entries(pending.pop(), len(pending)):
            if is_hidden((entry.name,)):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            elif entry.is_symlink() and os.path.isdir(entry.path):
                walk.leave_out(entry)
            elif entry.name.endswith(found.suffix):
                found.add(entry.path, entry.is_symlink())
            elif entry.is_file(follow_symlinks=False) or os.path.isfile(entry.path):
                found.others.append(Path(entry.path))
    walk.look.end(walk.looked)


class Walk:
    """Looks into folders one by one, and reports how many there were."""

    def __init__(self, found: Found, root: str) -> None:
        self.found, self.root = found, root
        self.looked, self.look = 0, Look("folders below", str(found.path))
        found.sinks.note_sink_of(root)

    def entries(self, folder: str, waiting: int) -> list[os.DirEntry[str]]:
        """Return what is in a folder, while `waiting` others are still to be looked into."""
        self.looked += 1
        self.look.at(self.looked, self.looked + waiting)
        sinks = self.found.sinks
        if "=" in os.path.basename(folder):  # a literal part of a glob leads here without a look into the sink
            sinks.note_sink_of(folder)
        found = entries_of(folder)
        if any(entry.name == LISTS for entry in found) and sinks.note(folder):
            return entries_of(folder)  # again, since the lists are looked at first
        return found

    def leave_out(self, entry: os.DirEntry[str]) -> None:
        """Keep a link to a folder that is not followed, unless that folder is below the root."""
        if not Path(os.path.realpath(entry.path)).is_relative_to(os.path.realpath(self.root)):
            self.found.links.append(Path(entry.path))


class Glob:
    """A glob that is expanded part by part, each folder once for each part that it may match."""

    def __init__(self, found: Found) -> None:
        self.found = found
        parts = found.path.parts
        plain = next(place for place, part in enumerate(parts) if has_magic(part))
        self.root, self.parts = str(Path(*parts[:plain])), parts[plain:]
        self.patterns = [re.compile(translate(part)) for part in self.parts]
        self.walk = Walk(found, self.root)
        self.pending: list[tuple[str, int]] = []
        self.seen: set[tuple[str, int]] = set()
        self.matched: set[str] = set()

    def expand(self) -> None:
        """Add the files that the glob matches."""
        if is_folder(self.root):
            self.pending.append((self.root, 0))
        while self.pending:
            folder, place = self.pending.pop()
            if (folder, place) not in self.seen:
                self.seen.add((folder, place))
                self.look_into(folder, place)
        self.walk.look.end(self.walk.looked)

    def look_into(self, folder: str, place: int) -> None:
        """Match one part in a folder: add what the last one matches, and keep the folders for the next one."""
        part = self.parts[place]
        if part == ANY_DEPTH:
            self.at_any_depth(folder, place)
        elif has_magic(part):
            for entry in self.entries(folder):
                if self.patterns[place].match(entry.name) and is_visible(entry.name, part):
                    self.match(entry.path, place, entry.is_dir(follow_symlinks=False))
        elif exists(path := os.path.join(folder, part)):
            self.match(path, place)

    def match(self, path: str, place: int, is_plain_folder: bool = False) -> None:
        """Take what a part matches; links are followed."""
        is_last = place == len(self.parts) - 1
        if is_last and path not in self.matched:
            self.matched.add(path)
            if is_plain_folder or os.path.isdir(path):
                self.found.folders.append(Path(path))
            else:
                self.found.add(path, os.path.islink(path))
        elif not is_last and (is_plain_folder or is_folder(path)):
            self.pending.append((path, place + 1))

    def at_any_depth(self, folder: str, place: int) -> None:
        """Match `**`: keep the folder for the next part, and its subfolders for `**` again; as the last, add files."""
        is_last = place == len(self.parts) - 1
        if not is_last:
            self.pending.append((folder, place + 1))
        for entry in self.entries(folder):
            if is_hidden((entry.name,)):
                continue
            if entry.is_dir(follow_symlinks=False):
                self.pending.append((entry.path, place))
            elif entry.is_symlink() and os.path.isdir(entry.path):
                self.walk.leave_out(entry)
            elif is_last:
                self.match(entry.path, place)

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Return what is in a folder."""
        return self.walk.entries(folder, len(self.pending))


def entries_of(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder, in no order."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError as error:
        raise not_listed(folder, error) from None


def is_folder(path: str) -> bool:
    """Tell whether a path leads to a folder; raise `DatasetError` where that cannot be known."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
        raise not_to_be_read(path, error) from None


def exists(path: str) -> bool:
    """Tell whether there is a path, also a link that leads nowhere; raise `DatasetError` where that cannot be known."""
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return False
        raise not_to_be_read(path, error) from None
    return True


def is_visible(name: str, pattern: str) -> bool:
    """Tell whether a part of a glob may match a name: a hidden one only if it begins with the same character."""
    return name[0] == pattern[0] or not is_hidden((name,))


def not_to_be_read(path: str, error: OSError) -> DatasetError:
    """Word a path that cannot be looked at, or a link that leads nowhere."""
    hint = "Repair it, or take it out of the source's path."
    if error.errno == errno.ELOOP:
        return DatasetError(coded("GE1421", f"{path} is a link that leads to itself"), hint)
    if error.errno == errno.ENOENT and os.path.islink(path):
        return DatasetError(coded("GE1421", f"{path} is a link to {os.readlink(path)}, which does not exist"), hint)
    if error.errno == errno.ENOENT:
        message = f"{path} was deleted or moved while the files of the source were listed"
        return DatasetError(
            coded("GE1420", message), "Run again when no other program changes the files of the source."
        )
    return DatasetError(
        coded("GE1422", f"cannot look at {path}: {os.strerror(error.errno or 0)}"),
        "Check the permissions of its folders.",
    )


def not_listed(folder: str, error: OSError) -> DatasetError:
    """Word a folder whose files cannot be listed."""
    hint = "Give the user of the run the permission to read and enter it, or leave it out of the source's path."
    return DatasetError(coded("GE1422", f"cannot list the folder {folder}: {os.strerror(error.errno or 0)}"), hint)
