"""What Python shows of an error of gpuetl: the user's own lines, then the message.

The library's frames say nothing to a user.  They stay where debuggers look for them: in the error's `__traceback__`,
and in those of what it was raised from, by `__cause__`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gpuetl.messages import redacted, without_secrets

if TYPE_CHECKING:
    from traceback import FrameSummary, TracebackException

PACKAGE = os.path.join(os.path.dirname(__file__), "")  # noqa: PTH118, PTH120  `pathlib` is not imported for this


PASSES_ON = "pipe"
"""The method of a table that calls a function of the user's, whose lines are shown."""


def is_own(frame: FrameSummary) -> bool:
    """Return whether a frame is gpuetl's."""
    return frame.filename.startswith(PACKAGE)


def short_traceback(error: BaseException) -> list[str]:
    """Return the lines of an error's traceback up to where the user's code calls gpuetl."""
    from traceback import TracebackException

    shown = TracebackException.from_exception(error)
    shorten(shown)
    return [redacted(without_secrets(line)) for line in shown.format()]


def shorten(shown: TracebackException) -> None:
    """Leave out gpuetl's frames, and errors that it was raised from unless they began in the user's code."""
    shown.stack[:] = [frame for frame in shown.stack if not (is_own(frame) and frame.name == PASSES_ON)]
    own = next((place for place, frame in enumerate(shown.stack) if is_own(frame)), None)
    if own is not None:
        del shown.stack[own:]
    for name in ("__cause__", "__context__"):
        chained = getattr(shown, name)
        if chained is not None and chained.stack and not chained.stack[0].filename.startswith(PACKAGE):
            shorten(chained)
        else:
            setattr(shown, name, None)
