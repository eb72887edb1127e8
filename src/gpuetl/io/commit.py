"""All sinks of a run are moved into place, or none is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gpuetl.io.folders import make_folders, remove_folder
from gpuetl.io.marks import marked_files
from gpuetl.io.staging import SinkWriter
from gpuetl.messages import coded
from gpuetl.signals import held_signals


def commit_sinks(writers: Sequence[SinkWriter], done: Callable[[], None] = lambda: None) -> None:
    """Move all that was written into place, and remove what it replaces when the last sink is there.

    A signal that comes meanwhile undoes the moves between two sinks; after the last one it is too late, and it waits
    until what was replaced is removed.  `done` is called in between.

    Raises
    ------
    SinkExists, RunFailed
        Where a sink cannot be moved: every sink is as it was before, or the message says where its files are.
    """
    moves = Moves()
    with held_signals() as held:
        for writer in writers:
            try:
                held.deliver()
                commit_sink(writer, moves)
            except OSError as error:
                why = f"cannot move the files to {writer.path}: {error.strerror}"
                raise writer.failed(coded("GE1508", f"{why}.  {outcome(moves.undo())}")) from error
            except BaseException:
                moves.undo()
                raise
        done()
        for writer in writers:
            remove_folder(writer.old)


def outcome(stuck: Sequence[str]) -> str:
    """Word how undoing the moves of all sinks ended."""
    if not stuck:
        return "No sink has changed"
    return f"Putting things back failed as well: {'; '.join(stuck)}.  Move them by hand before the next run"


def commit_sink(writer: SinkWriter, moves: Moves) -> None:
    """Move one sink's files into place, as its mode says; those of an equal run key that are there go."""
    path, mode = writer.path, writer.target.mode
    writer.check_mode()
    if writer.leaves_target:
        return
    if writer.target.is_file:
        moves.replace(writer.new / path.name, path, writer.old)
        return
    if mode in ("error", "overwrite"):
        moves.set_aside(path, writer.old)
        moves.move(writer.new, path)
        return
    if mode == "replace_partitions":
        for folder in sorted({(path / file.name).parent for file in writer.files}):
            if folder.is_dir():
                writer.check_files(folder)
                moves.set_aside(folder, writer.old)
    for replaced in marked_files(writer.target, path) if writer.target.run_key else ():
        moves.set_aside(replaced, writer.old)
    moves.make(path)
    for file in writer.files:
        moves.move(writer.new / file.name, path / file.name)


@dataclass
class Moves:
    """Moves of files and folders on one disk, which can be undone, last first."""

    _undo: list[tuple[str, Callable[[], object]]] = field(default_factory=list)

    def make(self, folder: Path) -> None:
        """Make a folder and those above it, where they are missing."""
        self._undo += [("", made.rmdir) for made in make_folders(folder)]

    def move(self, old: Path, new: Path, stuck: str = "") -> None:
        """Move a file or folder to where nothing is; make the folders above.

        `stuck` says what is the matter where the move cannot be undone.
        """
        self.make(new.parent)
        old.rename(new)
        self._undo.append((stuck or f"new files stay at {new}", partial(new.rename, old)))

    def set_aside(self, path: Path, folder: Path) -> None:
        """Move what is at a path, if anything, into a folder, under a number."""
        if path.exists():
            kept = folder / str(len(self._undo))
            self.move(path, kept, f"what was at {path} is in {kept}")

    def replace(self, new: Path, path: Path, folder: Path) -> None:
        """Put a file in the place of another in one step, so that readers find the one or the other."""
        kept = folder / str(len(self._undo))
        try:
            self.make(folder)
            kept.hardlink_to(path)
        except OSError:  # nothing is there, or the disk has no links
            self.set_aside(path, folder)
            self.move(new, path)
            return
        self._undo.append(("", kept.unlink))
        new.replace(path)
        self._undo[-1] = (f"what was at {path} is in {kept}", partial(kept.replace, path))

    def undo(self) -> list[str]:
        """Move everything back; what cannot be stays where it is, and is told."""
        stuck: list[str] = []
        while self._undo:
            what, step = self._undo.pop()
            try:
                step()
            except OSError:
                stuck += [what] * bool(what)  # a folder stays because of what is in it
        return stuck
