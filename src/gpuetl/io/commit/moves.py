"""One change at a target, which can be repeated and undone any number of times: inodes say how far it got.

A rename keeps the inode of a file or folder, and so does an exchange.  The device number is not compared: it may change
when the machine starts again.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal

from gpuetl.io.commit.renames import NoExchange, exchange, rename_to_free
from gpuetl.records import dataclass

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
