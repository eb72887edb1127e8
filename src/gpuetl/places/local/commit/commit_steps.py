"""What the commit of one sink changes, by its mode.  Nothing at the target changes here."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gpuetl.messages import recoded
from gpuetl.places.local.commit import manifest
from gpuetl.places.local.commit.journal import Journal
from gpuetl.places.local.commit.manifest import (
    Entry,
    Manifest,
    entries_below,
    foreign,
    keep_ownership,
    keep_ownership_below,
)
from gpuetl.places.local.commit.moves import Put, Remove, Step, write_atomically
from gpuetl.places.local.staged_sink import LocalStagedSink
from gpuetl.places.paths import LISTS, check_sandbox
from gpuetl.sandbox import OutsideSandbox


class Changes(NamedTuple):
    """What the commit of a sink changes, and which of gpuetl's files are in the folders that it replaces."""

    steps: list[Step]
    replaced: list[Path]


def journal_of(sink: LocalStagedSink, stagings: tuple[Path, ...]) -> Journal:
    """Return what committing a sink will change.

    Raises
    ------
    SinkExists
        In mode `error`, where the target exists by now.
    RunFailed
        Where files that gpuetl did not write would be removed, or a change would leave the sandbox.
    OSError
        Where the target cannot be looked at, or something stands where a folder belongs.
    """
    sink.check_mode()
    refuse_links(sink)
    steps, replaced = Changes([], []) if sink.unchanged else changes_of(sink)
    folders = missing_folders((step.target.parent for step in steps), sink.path.parent)
    return Journal(sink.staging, stagings, tuple(folders), tuple(steps), frozenset(replaced))


def changes_of(sink: LocalStagedSink) -> Changes:
    """Return the changes of a sink that changes."""
    path = sink.path
    if sink.target.is_file:
        staged = sink.new / path.name
        if path.exists():
            keep_ownership(path.stat(), staged)
        return Changes([put(sink, staged, path, 0)], [])
    if path.exists() and not sink.target.replaces_all:
        return changes_inside(sink, Manifest.read(path))
    write_manifest(sink, {})
    replaced = replace_folder(sink, path, sink.new, Manifest.read(path)) if path.exists() else []
    return Changes([put(sink, sink.new, path, 0)], replaced)


def changes_inside(sink: LocalStagedSink, known: Manifest) -> Changes:
    """Return the changes in a folder that stays: what is new comes first, so that readers never find less.

    The new list comes before the files that it names, and the old lists go last.  So each file of ours is on a list all
    the time, and readers that find both know that the commit has not ended (`sinks_read.py`).  A folder without a list
    first gets one of what is there.
    """
    path, names = sink.path, [Path(file.name) for file in sink.files]
    replaced: list[Path] = []
    if sink.target.replaces_partitions:
        names = sorted({*(name.parent for name in names), *emptied_partitions(sink)})
        for name in names:
            if (path / name).is_dir():
                replaced += replace_folder(sink, path / name, sink.new / name, known)
            elif os.path.lexists(path / name):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path / name))
    removed, there = sink.files_of_run_key(known), known.files_in(path)
    gone = {str(file.relative_to(path)) for file in (*replaced, *removed)}
    first = [] if known.listed else [manifest.first_list_of(Path(), sink.run_id)]
    old_lists = [path / name for name in first] or known.lists
    write_manifest(sink, {name: size for name, size in there.items() if name not in gone}, old_lists)
    for name in first:
        write_atomically(sink.new / name, manifest.listing(sink.run_id, there), sink.sync)
    names = [*first, manifest.file_of(Path(), sink.run_id), *names]
    steps: list[Step] = [put(sink, sink.new / name, path / name, i) for i, name in enumerate(names)]
    for old in (*removed, *old_lists):
        found = old if os.path.lexists(old) else sink.new / old.relative_to(path)  # a first list comes with the run
        steps.append(Remove(old, os.lstat(found).st_ino, sink.old / str(len(steps))))
    return Changes(steps, replaced)


def emptied_partitions(sink: LocalStagedSink) -> list[Path]:
    """Return the partitions that the run has read and gives no rows: an empty folder is staged for each."""
    if sink.files_read is None:
        return []
    filled = {Path(file.name).parent for file in sink.files}
    emptied = [Path(name) for name in sink.files_read.folders if Path(name) not in filled]
    emptied = [name for name in emptied if (sink.path / name).is_dir()]
    for name in emptied:
        (sink.new / name).mkdir(parents=True, exist_ok=True)
    return emptied


def remove_emptied(sink: LocalStagedSink) -> None:
    """Remove the folders of partitions that have no file any more, after the commit; readers do not mind them."""
    for name in sink.files_read.folders if sink.files_read else ():
        with suppress(OSError):  # it has files, or is not there
            (sink.path / name).rmdir()


def refuse_links(sink: LocalStagedSink) -> None:
    """Refuse a commit that leaves the sandbox, if there is one: a partition's folder may be a link."""
    path, folders = sink.path, {Path(file.name).parent for file in sink.files}
    inside = [] if sink.target.is_file else [path / LISTS, *(path / name for name in folders)]
    try:
        check_sandbox([path.parent, *sorted(inside)])
    except OutsideSandbox as error:
        raise sink.failed(recoded(str(error), error)) from None


def put(sink: LocalStagedSink, new: Path, target: Path, number: int) -> Put:
    """Return the move of something that was staged."""
    return Put(new, target, os.lstat(new).st_ino, sink.old / str(number))


def write_manifest(sink: LocalStagedSink, staying: Mapping[str, int], replaces: Iterable[Path] = ()) -> None:
    """List the sink's new files, and those of earlier runs that stay; `replaces` are the lists that go."""
    place = manifest.file_of(sink.new, sink.run_id)
    place.parent.mkdir(exist_ok=True)
    files = {**staying, **{file.name: file.size for file in sink.files}}
    write_atomically(place, manifest.listing(sink.run_id, files, replaces), sink.sync)


def replace_folder(sink: LocalStagedSink, old: Path, new: Path, known: Manifest) -> list[Path]:
    """Make a staged folder ready to replace one: foreign files are refused, or kept; modes are kept.

    Returns the files that go with the old folder: those that gpuetl wrote.
    """
    sink.refuse_foreign(old, known)
    base = old.relative_to(sink.path)
    entries = list(entries_below(old, base))
    others = foreign(known, entries)
    below = [Entry(entry.name.relative_to(base), entry.status) for entry in entries]
    own = [one for one, entry in zip(below, entries, strict=True) if entry.is_folder or known.has(entry)]
    keep_ownership_below(old, own, new)
    if sink.target.keep_foreign:
        sink.foreign_kept += others
        link_foreign(old, below, {name.relative_to(base) for name in others}, new)
    return [old / entry.name for entry in own if not entry.is_folder]


def link_foreign(old: Path, entries: Iterable[Entry], others: set[Path], new: Path) -> None:
    """Give foreign files a second name in the folder that replaces theirs; so they are never missing.

    Folders of foreign files, and empty ones, are made with the modes that they have.
    """
    entries = list(entries)
    filled = {parent for entry in entries for parent in entry.name.parents}
    wanted = {parent for name in others for parent in name.parents}
    for entry in entries:
        place = new / entry.name
        if entry.is_folder and (entry.name in wanted or entry.name not in filled) and not place.is_dir():
            place.mkdir()
            keep_ownership(entry.status, place)
        elif entry.name in others:
            os.link(old / entry.name, place, follow_symlinks=False)


def missing_folders(folders: Iterable[Path], base: Path) -> list[Path]:
    """Return the folders that are missing, and those above them up to a base that is there; the outermost first.

    Raises
    ------
    NotADirectoryError
        Where something else stands in the place of one.
    """
    missing: set[Path] = set()
    for folder in dict.fromkeys(folders):
        for place in (folder, *folder.parents):
            if place == base or place in missing or place.is_dir():
                break
            if os.path.lexists(place):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
            missing.add(place)
    return sorted(missing)
