"""What goes wrong with a rehearsal is nobody's concern but who looks for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpuetl.errors import first_line
from gpuetl.report.trace import span

CATEGORY = "rehearsal"


@contextmanager
def forgiven(what: str) -> Iterator[None]:
    """Rehearse something; an exception costs nothing but kernels that are compiled later, and is shown by traces."""
    try:
        yield
    except Exception as error:
        with span(f"{what} was not rehearsed", CATEGORY, error=f"{type(error).__name__}: {first_line(error)}"):
            pass
