"""Paths as users write them: those of this machine, and those of stores, which have a scheme."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeAlias

from gpuetl.messages import coded
from gpuetl.places.storage import DEFAULT, Storage
from gpuetl.records import dataclass
from gpuetl.sandbox import OutsideSandbox, current_sandbox

URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://")
LISTS = ".gpuetl"
"""The folder of a sink's folder with the lists of its files."""


class ImpossiblePath(Exception):
    """A path that no file can have; worded for the user."""


@dataclass(frozen=True)
class StorePath:
    """A path of a store, as `s3://bucket/key` is one.

    It has the part of `pathlib.Path` that gpuetl asks of the path of a source's file.  It does not touch the store:
    the filesystem of its scheme does.

    Parameters
    ----------
    scheme
        The scheme, in lower case.
    key
        What follows `://`, from the bucket or host on.
    storage
        The options of the store.
    """

    scheme: str
    key: PurePosixPath
    storage: Storage = DEFAULT

    def __str__(self) -> str:
        return f"{self.scheme}://{self.key}"

    def __hash__(self) -> int:
        return hash(self.key)  # which it keeps; a source of many files asks several times for each

    def __truediv__(self, name: str) -> StorePath:
        return replace(self, key=self.key / name)

    def __lt__(self, other: StorePath) -> bool:
        return (self.scheme, self.key.parts) < (other.scheme, other.key.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names in the path, the bucket or host first."""
        return self.key.parts

    @property
    def name(self) -> str:
        """The last name."""
        return self.key.name

    @property
    def suffix(self) -> str:
        """The suffix of the last name, such as `.csv`."""
        return self.key.suffix

    @property
    def parent(self) -> StorePath:
        """The path without its last name."""
        return replace(self, key=self.key.parent)

    def joined(self, text: str) -> StorePath:
        """Return a path that is relative to this folder; `..` is the folder above.

        Raises
        ------
        ImpossiblePath
            For one that leads out of the bucket.
        """
        parts = list(self.parts)
        for part in text.split("/"):
            if part == ".." and len(parts) < 2:
                raise ImpossiblePath(f"'{text}' leads out of {self.scheme}://{self.parts[0]}")
            if part == "..":
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return replace(self, key=PurePosixPath(*parts))

    def absolute(self) -> StorePath:
        """Return the path: it does not depend on the working folder."""
        return self


FilePath: TypeAlias = Path | StorePath
"""The path of a file: a `Path` on this machine, a `StorePath` elsewhere."""


class Scheme(NamedTuple):
    """The scheme of a path as the user wrote it, in lower case, and what follows it; no scheme is an empty one."""

    name: str
    rest: str

    @classmethod
    def of(cls, text: str) -> Scheme:
        """Split a path."""
        found = URL.match(text)
        return cls(found["scheme"].lower(), text[found.end() :]) if found else cls("", text)


def check_sandbox(paths: Iterable[FilePath]) -> None:
    """Refuse paths that lead out of the sandbox, if there is one: a glob may match links, and stores are outside.

    Raises
    ------
    OutsideSandbox
        With the first of them.
    """
    if sandbox := current_sandbox():
        for path in paths:
            if isinstance(path, StorePath):
                raise OutsideSandbox(coded("GE1027", f"{path} is outside of the sandbox {sandbox.folder}"))
            sandbox.check(path)


def is_hidden(parts: Iterable[str]) -> bool:
    """Tell whether a part of a path begins with a dot, or with an underscore but for a partition's `_name=value`."""
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts)
