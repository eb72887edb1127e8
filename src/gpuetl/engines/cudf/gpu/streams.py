"""The streams of the engine: what is read, what is computed and what is written do not wait for each other.

On the default stream each would wait for all others: it waits for every other stream, such as those on which KvikIO
copies what is read, and they wait for it.  The engine's streams are ordered with the default stream alone, so whatever
runs there, of users or of other libraries, comes before what the engine is asked for later, and behind what it was.

Memory is freed on the stream for which it was allocated, whoever holds it last.  So that it is not in use on another
one then, the host waits at the end of each stage, while it holds what the stage took and what it made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import Any

import cupy

from gpuetl.engines.cudf.machine import Work
from gpuetl.lost_device import is_lost

READING_STREAMS = 4
"""As many as there are threads that read ahead: before libcudf copies a file's bytes it waits for its stream."""


def engine_streams() -> Mapping[Work, Iterator[Any]]:
    """Return the streams for each kind of work, which take turns."""
    one, other, *several = (cupy.cuda.Stream() for _ in range(2 + READING_STREAMS))
    return {"reading": cycle(several), "computing": cycle([one]), "writing": cycle([other])}


@contextmanager
def finished(stream: Any) -> Iterator[None]:
    """Make a stream the thread's current one; wait for it at the end, also where an error breaks the block off.

    Where the device is lost nothing waits for it.  After a fault waiting fails, too.  The error of the block says more,
    so that one is raised.
    """
    with stream:
        try:
            yield
        except BaseException:
            if not is_lost():
                with suppress(RuntimeError):
                    stream.synchronize()
            raise
        stream.synchronize()
