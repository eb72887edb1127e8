"""Uncaught errors: how Python prints them, and how gpuetl words its own bugs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from gpuetl.tracebacks import PACKAGE, short_traceback

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def show_short_tracebacks() -> None:
    """Let the interpreter print errors of gpuetl without the library's frames; others go where they went before."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        from gpuetl.errors import GpuetlError

        if isinstance(error, GpuetlError) and sys.stderr is not None:
            sys.stderr.write("".join(short_traceback(error)))
        else:
            before(kind, error, frames)

    sys.excepthook = hook


def unexpected(error: BaseException) -> tuple[str, str]:
    """Word an error that gpuetl did not expect: what happened, and what to report, with the line of gpuetl."""
    from traceback import extract_tb

    from gpuetl.errors import first_line
    from gpuetl.messages import coded
    from gpuetl.version import __version__

    own = [frame for frame in extract_tb(error.__traceback__) if frame.filename.startswith(PACKAGE)]
    where = f" (gpuetl/{own[-1].filename.removeprefix(PACKAGE)}:{own[-1].lineno})" if own else ""
    what = coded("GE2009", f"gpuetl failed unexpectedly: {type(error).__name__}: {first_line(error)}")
    return what, f"This is a bug in gpuetl {__version__}{where}. Report it with this message and the step's text."
