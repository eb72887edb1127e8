"""The line of a user's script, notebook or test that declares a part of a pipeline in Python."""

from __future__ import annotations

import linecache
import os
import sys

from gpuetl.errors import Place, Span
from gpuetl.records import dataclass


@dataclass(frozen=True)
class Caller:
    """A line of a file that called gpuetl; its text is looked up when an error shows it."""

    file: str
    line: int

    def place(self, span: Span | None = None) -> Place:
        """Return the place of the line."""
        return Place(shown_path(self.file), self.line, 0, linecache.getline(self.file, self.line).rstrip("\n"))


def caller() -> Caller | None:
    """Return the line that called gpuetl: that of the innermost function that is not gpuetl's own."""
    frame = sys._getframe(1)
    while frame and is_own(frame.f_globals.get("__name__", "")):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return Caller(frame.f_code.co_filename, frame.f_lineno)


def is_own(module: str) -> bool:
    """Tell whether a module is gpuetl's."""
    return module == "gpuetl" or module.startswith("gpuetl.")


def shown_path(file: str) -> str:
    """Return a path below the working folder as a user would write it there; others as they are."""
    folder = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  quick, and files of notebooks are no paths
    return file.removeprefix(folder)
