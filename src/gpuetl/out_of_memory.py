"""Memory that runs out: how errors say so, a step that is done once more, and planning that takes the same steps."""

from __future__ import annotations

import gc
import re
import traceback
from collections.abc import Callable, Iterator
from typing import TypeVar

from gpuetl.errors import OutOfMemory
from gpuetl.host_memory import host_memory
from gpuetl.sizes import size

Result = TypeVar("Result")
TELLS = re.compile(r"cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY")
"""In errors of the CUDA runtime and driver that Python gets as another kind than `MemoryError`."""
ASKED = re.compile(r"(?:allocat(?:e|ing)|of size) ([\d.,]*\d) ?([KMGT]?i?B\b)?")
"""As RMM, CuPy, NumPy and Arrow word what they did not get."""


def done_again(step: Callable[[], Result], free: Callable[[], object]) -> Result:
    """Return what a step gives; where memory runs out the first time, free some and do it once more."""
    try:
        return step()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        let_go(error)
    free()
    return step()


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error, or what it was raised from, says that memory ran out."""
    return any(
        isinstance(cause, MemoryError) or (isinstance(cause, RuntimeError) and TELLS.search(str(cause)))
        for cause in causes(error)
    )


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and what it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__


def let_go(error: BaseException | None) -> None:
    """Clear the local variables of the functions that an error came through, and of those that led to it.

    They would hold frames as long as anybody holds the error.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def asked_for(error: BaseException) -> str:
    """Return the bytes that were asked for, in words that go before what is in use; nothing where no error tells."""
    found = next((found for cause in causes(error) if (found := ASKED.search(str(cause)))), None)
    return f"{found[1]} {found[2] or 'B'} were asked for, with " if found else ""


def told_of_host(error: BaseException) -> str:
    """Say what was asked for of the host's memory, where the error tells, and what was in use then."""
    host = host_memory()
    return f"{asked_for(error)}{size(host.total - host.available)} in use of {size(host.total)}"


def planned_in_memory(step: Callable[[], Result]) -> Result:
    """Return what a step of planning gives; free memory and do it once more where memory runs out the first time.

    Raises
    ------
    OutOfMemory
        Where it did not suffice the second time either.
    """
    try:
        return done_again(step, release_host_memory)
    except Exception as error:
        if isinstance(error, OutOfMemory) or not is_out_of_memory(error):
            raise
        told = told_of_host(error)
        let_go(error)
    raise OutOfMemory.during("planning", told).advised("Read fewer files, or fewer columns")


def release_host_memory() -> None:
    """Collect garbage, and give back what Arrow's pool keeps."""
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
