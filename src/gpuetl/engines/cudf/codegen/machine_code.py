"""Kernels' machine code on disk: each entry is named by all that its code depends on, and has a checksum."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from gpuetl import tracebacks
from gpuetl.records import dataclass

FORMAT = 2
"""Of entries: a change of their layout, or of how they are named, gives all of them other names."""
MAGIC = b"gpuetl kernel\n"
STANDARD = "--std=c++17"
OPTIONS = (STANDARD, "--device-int128", "-fmad=false")
"""No contraction into fused multiply-adds, and no flushing of small float32: results must be what they are on a CPU."""
MARK = ".expected"
EVERY_OPTION = "--device-as-default-execution-space"
"""What CuPy adds to the options of every text."""
QUICKER, WITH_QUICKER = ("--minimal", "--no-cache"), (12, 9)
"""Options that change no machine code, so names of entries leave them out, and from which version on they are used.

The first leaves out NVRTC's own declarations of textures and of the CUDA runtime: 10 of the 39 ms of an empty program.
The second leaves out a cache of NVRTC's own, for which it loads the driver.  That is 150 of the 220 ms in which its
process starts on a machine with an H200.
"""
PACKAGE = Path(tracebacks.PACKAGE).resolve()
SHIPPED = PACKAGE / "_kernels"
"""The closed set in the wheel, a folder for each architecture; it is only read."""


@dataclass(frozen=True)
class Compiler:
    """An NVRTC: its version, and its library's size, since patch releases have the same version."""

    version: tuple[int, int]
    size: int = 0

    @classmethod
    def of(cls, version: tuple[int, int], library: str | None) -> Compiler:
        """Return the compiler of a library's file."""
        try:
            return cls(version, Path(library).stat().st_size if library else 0)
        except OSError:
            return cls(version)

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}, {self.size} bytes"


@dataclass(frozen=True)
class Target:
    """What sources are compiled for, and by which compiler: machine code of an architecture such as sm_90, or PTX."""

    architecture: str
    compiler: Compiler
    ptx: bool = False

    @property
    def form(self) -> str:
        """What is made of sources, as the ending of its file."""
        return "ptx" if self.ptx else "cubin"

    def options(self, options: tuple[str, ...] = OPTIONS) -> tuple[str, ...]:
        """Return all options for NVRTC, in CuPy's order."""
        architecture = self.architecture.replace("sm_", "compute_") if self.ptx else self.architecture
        return (*options, f"-arch={architecture}", EVERY_OPTION)

    def apart_options(self) -> tuple[str, ...]:
        """Return the options for a text that is compiled once more, without `QUICKER`, where it has an error."""
        return (*self.options(), *(QUICKER if self.compiler.version >= WITH_QUICKER else ()))

    def name(self, text: str, options: tuple[str, ...] = OPTIONS) -> str:
        """Return the name of the entry that is made of a text."""
        return f"{digest(text, self.form, str(self.compiler), self.options(options))}.{self.form}"

    def shipped(self, text: str) -> Path:
        """Return where the wheel has the code of a text, if it does.

        Its name leaves out the compiler: who loads machine code need not have the one that made it.
        """
        return SHIPPED / self.architecture / f"{digest(text, self.form, self.options())}.{self.form}"

    def mark(self, plan: str) -> str:
        """Return the name of the file that lists a plan's entries, as this text of gpuetl makes them."""
        return f"{digest(plan, installed_text(), self.name(''))}{MARK}"


def digest(text: str, *parts: object) -> str:
    """Return a digest of a text and of values that have a JSON form."""
    return hashlib.sha256(json.dumps([FORMAT, text_digest(text), *parts]).encode()).hexdigest()[:32]


@lru_cache(256)
def text_digest(text: str) -> str:
    """Return a digest of a text, which is asked for under several names."""
    return hashlib.sha256(text.encode()).hexdigest()


def by_ptx() -> bool:
    """Return whether CuPy is told to compile to PTX, as it reads its environment variable."""
    value = os.environ.get("CUPY_COMPILE_WITH_PTX", "")
    try:
        return int(value) == 1
    except ValueError:
        return False


@cache
def installed_text() -> str:
    """Return a digest of the sizes and times of the files that generate sources.

    A version in development has one number for many sources.  To read the files would take a run ten times as long, and
    `pathlib` takes it 30 ms for the 250 files.
    """
    found: list[tuple[str, int, int]] = []
    folders = [str(PACKAGE / "engines" / "cudf")]
    first = len(folders[0])
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.name.endswith((".py", ".cu", ".cuh")):
                    state = entry.stat()
                    found.append((entry.path[first:], state.st_size, int(state.st_mtime)))
    return digest("", sorted(found))


def read_entry(path: Path) -> bytes | None:
    """Return the code of an entry; None where there is none, or it is damaged."""
    try:
        entry = path.read_bytes()
    except OSError:
        return None
    head = len(MAGIC) + hashlib.sha256().digest_size
    code = entry[head:]
    return code if code and entry[:head] == MAGIC + hashlib.sha256(code).digest() else None


def write_entry(path: Path, code: bytes) -> None:
    """Write an entry; who reads it meanwhile finds all of it or nothing, also where others write the same one.

    Raises
    ------
    OSError
        Where it cannot be written; nothing is left then.
    """
    replace_file(path, MAGIC + hashlib.sha256(code).digest() + code)


def write_mark(mark: Path, paths: Iterable[Path]) -> None:
    """List entries: those of the mark's folder by name, others by path.  Runs do without a mark that fails."""
    names = (path.name if path.parent == mark.parent else str(path) for path in paths)
    with suppress(OSError):
        replace_file(mark, "\n".join(dict.fromkeys(names)).encode())


def read_mark(mark: Path) -> list[Path] | None:
    """Return the entries that a mark lists; None where there is none, or not all of them are there any more."""
    try:
        paths = [mark.parent / name for name in mark.read_text(encoding="utf-8").split("\n")]
    except OSError:
        return None
    return paths if all(path.exists() for path in paths) else None


def replace_file(path: Path, content: bytes) -> None:
    """Write a file and give it its name at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{secrets.token_hex(8)}")  # others may be at the same text, in containers too
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
