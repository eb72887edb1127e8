"""What goes wrong with a rehearsal is nobody's concern but who looks for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gpuetl.errors import first_line
from gpuetl.report.trace import span

CATEGORY = "rehearsal"
_FAILED: ContextVar[list[tuple[str, str]] | None] = ContextVar("failed", default=None)


@contextmanager
def failures() -> Iterator[list[tuple[str, str]]]:
    """Collect what is not rehearsed in the block, each with the reason."""
    failed: list[tuple[str, str]] = []
    token = _FAILED.set(failed)
    try:
        yield failed
    finally:
        _FAILED.reset(token)


@contextmanager
def forgiven(what: str) -> Iterator[None]:
    """Rehearse something; an exception costs nothing but kernels that are compiled later, and is shown by traces."""
    try:
        yield
    except Exception as error:
        if (failed := _FAILED.get()) is not None:
            failed.append((what, first_line(error)))
        with span(f"{what} was not rehearsed", CATEGORY, error=f"{type(error).__name__}: {first_line(error)}"):
            pass
