"""The headers that a kernel's file includes, read with it: what is checked is what is compiled, here and on workers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gpuetl.messages import coded
from gpuetl.places.paths import FilePath, ImpossiblePath, StorePath
from gpuetl.places.registry import path_exists, read_small

COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<own>[^"\n]+)"|<(?P<any>[^>\n]+)>)[^\n]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*$", re.MULTILINE)
MOST_HEADERS = 1_000
"""Of one kernel, a header counted as often as it is included: without guards their number may double at each level."""


class HeaderProblem(Exception):
    """A header that cannot be read; worded for the user."""


def with_headers(path: FilePath) -> str:
    r"""Return the text of a CUDA file with the texts of the headers that it includes in their places.

    A header in quotes is looked for in the folder of the file that includes it, then in that of the kernel's file.  One
    in `<>` may lie in the folder of the kernel's file; any other is the compiler's own and stays an `#include`.
    `#line` says which text comes from which file.

    Raises
    ------
    HeaderProblem
        For a header in quotes that is not there, or is not UTF-8 text, and for too many of them.
    OSError, UnicodeDecodeError
        For the file itself.
    """
    return "".join(Headers(path.parent).pieces(path, read_small(path).decode("utf-8"), ()))


class Headers:
    """Puts headers in their places; `folder` is that of the kernel's file."""

    def __init__(self, folder: FilePath) -> None:
        self.folder, self.count = folder, 0

    def pieces(self, path: FilePath, text: str, above: tuple[FilePath, ...]) -> Iterator[str]:
        """Yield the text of a file in pieces; `above` are the files that it is included from."""
        code = COMMENTS.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
        place = 0
        for found in _INCLUDE.finditer(code):
            line = code.count("\n", 0, found.start()) + 1
            header = self.file_of(found, path, line)
            if header is None:
                continue
            yield text[place : found.start()]
            place = found.end()
            if header in (path, *above):  # its guard leaves it empty
                continue
            yield from self.included(header, f"{path}:{line}", (*above, path))
            yield line_mark(line + 1, path).rstrip("\n")
        yield text[place:]

    def file_of(self, found: re.Match[str], path: FilePath, line: int) -> FilePath | None:
        """Return the file that an `#include` names; None for a header of the compiler."""
        name = found["own"] or found["any"]
        folders = (path.parent, self.folder) if found["own"] else (self.folder,)
        file = next((one for folder in folders if path_exists(one := below(folder, name))), None)
        if file is None and found["own"]:
            what = f'{path}:{line} includes "{name}", and there is no file {path.parent / name}'
            raise HeaderProblem(coded("GE1301", f"{what}.  Write <{name}> for a header of the CUDA toolkit"))
        return file

    def included(self, header: FilePath, place: str, above: tuple[FilePath, ...]) -> Iterator[str]:
        """Yield the text of a header; `#pragma once` becomes a guard, since the compiler sees one file."""
        self.count += 1
        if self.count > MOST_HEADERS:
            what = f"{place}: {MOST_HEADERS:,} headers are included already"
            raise HeaderProblem(coded("GE1301", f"{what}.  Begin headers with #pragma once"))
        try:
            text = read_small(header).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise HeaderProblem(coded("GE1301", f"{place}: cannot read the header {header}: {reason}")) from None
        once = _ONCE.search(text)
        guard = "GPUETL_ONCE_" + re.sub(r"\W", lambda sign: f"_{ord(sign[0]):x}_", str(header))
        if once:
            yield f"#ifndef {guard}\n#define {guard}\n"
            text = text[: once.start()] + text[once.end() :]
        yield line_mark(1, header)
        yield from self.pieces(header, text, above)
        yield "\n#endif\n" if once else "\n"


def below(folder: FilePath, name: str) -> FilePath:
    """Return the path of a header in a folder."""
    if not isinstance(folder, StorePath):
        return folder / name
    try:
        return folder.joined(name)
    except ImpossiblePath as error:
        raise HeaderProblem(coded("GE1301", str(error))) from None


def line_mark(number: int, path: FilePath) -> str:
    """Return the line that gives what follows the name of its file, by which a compiler tells places."""
    name = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {number} "{name}"\n'


_MARK = re.compile(r'^#line (\d+) "(.*)"$')


def line_at(source: str, name: str, number: int) -> str:
    """Return a line of a file, given by its name, of a text with marks; nothing where there is none."""
    file, line = "", 0
    for text in source.split("\n"):
        if mark := _MARK.match(text):
            file, line = Path(mark[2]).name, int(mark[1])
            continue
        if (file, line) == (name, number):
            return text.strip()
        line += 1
    return ""
