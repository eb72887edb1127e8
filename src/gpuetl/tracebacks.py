"""What Python shows of an error of gpuetl: the user's own lines, then the message.

The library's frames say nothing to a user.  They stay where debuggers look for them: in the error's `__traceback__`,
and in those of what it was raised from, by `__cause__`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traceback import TracebackException

PACKAGE = os.path.join(os.path.dirname(__file__), "")  # noqa: PTH118, PTH120  `pathlib` is not imported for this
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


def short_traceback(error: BaseException) -> list[str]:
    """Return the lines of an error's traceback up to where the user's code calls gpuetl."""
    from traceback import TracebackException

    shown = TracebackException.from_exception(error)
    shorten(shown)
    return list(shown.format())


def shorten(shown: TracebackException) -> None:
    """Leave out gpuetl's frames, and errors that it was raised from unless they began in the user's code."""
    own = next((place for place, frame in enumerate(shown.stack) if frame.filename.startswith(PACKAGE)), None)
    if own is not None:
        del shown.stack[own:]
    for name in ("__cause__", "__context__"):
        chained = getattr(shown, name)
        if chained is not None and chained.stack and not chained.stack[0].filename.startswith(PACKAGE):
            shorten(chained)
        else:
            setattr(shown, name, None)


def unexpected(error: BaseException) -> tuple[str, str]:
    """Word an error that gpuetl did not expect: what happened, and what to report, with the line of gpuetl."""
    from traceback import extract_tb

    from gpuetl import __version__
    from gpuetl.errors import first_line
    from gpuetl.messages import coded

    own = [frame for frame in extract_tb(error.__traceback__) if frame.filename.startswith(PACKAGE)]
    where = f" (gpuetl/{own[-1].filename.removeprefix(PACKAGE)}:{own[-1].lineno})" if own else ""
    what = coded("GE2009", f"gpuetl failed unexpectedly: {type(error).__name__}: {first_line(error)}")
    return what, f"This is a bug in gpuetl {__version__}{where}. Report it with this message and the step's text."
