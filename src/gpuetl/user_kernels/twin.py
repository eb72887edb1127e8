"""A kernel's NumPy twin: loaded from the user's file, called with arrays, its outputs checked."""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from types import ModuleType
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuetl.errors import EvaluationError, first_line
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath, StorePath
from gpuetl.places.registry import read_small
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.user_kernels.kernel_code import KernelCode

Array = NDArray[Any]
Contract = KernelContract | KernelCode
MOST_KEPT = 64


@lru_cache(MOST_KEPT)
def _load(path: FilePath, text: bytes) -> ModuleType:
    """Run a file's text as a module of its own; `import` would take compiled code as old as the last second."""
    name = str(path)
    module = ModuleType(f"gpuetl_twin_{path.name.removesuffix(path.suffix)}")
    module.__file__ = name
    exec(compile(text, name, "exec"), module.__dict__)
    if isinstance(path, StorePath):  # tracebacks look for its lines there
        linecache.cache[name] = len(text), None, text.decode("utf-8", "replace").splitlines(keepends=True), name
    return module


def is_loaded() -> bool:
    """Return whether a user's file was run in this process."""
    return _load.cache_info().misses > 0


class FunctionOfFile(Protocol):
    """A function of a user's Python file, and the file's text when the pipeline was planned."""

    @property
    def reference(self) -> FilePath: ...  # noqa: D102
    @property
    def function(self) -> str: ...  # noqa: D102
    @property
    def twin(self) -> bytes | None: ...  # noqa: D102


def load_twin(contract: Contract) -> Callable[..., Mapping[str, Array]]:
    """Return the twin's function; raise `EvaluationError` as `load_function` does."""
    return load_function(contract, f"cannot load the kernel's twin {contract.reference}:", "GE1303")


def load_function(contract: FunctionOfFile, what: str, code: str) -> Callable[..., Any]:
    """Return a user's function, as its file was when the pipeline was planned.

    Raises
    ------
    EvaluationError
        Where the file does not import, which begins with `what`, or has no such function.
    """
    try:
        text = read_small(contract.reference) if contract.twin is None else contract.twin
        with exits_refused():
            module = _load(contract.reference, text)
    except (Exception, SystemExit) as error:
        raise in_file(code, what, contract, error) from error
    function = getattr(module, contract.function, None)
    if not callable(function):
        raise EvaluationError(coded(code, f"{contract.reference} has no function '{contract.function}'"))
    return function  # type: ignore[no-any-return]


class TwinExit(Exception):
    """A twin asked to end the process."""


_leave = os._exit
_twins = _owner = 0
_counting = Lock()


@contextmanager
def exits_refused() -> Iterator[None]:
    """Raise `TwinExit` for `os._exit` in the block: it would end the run with a code that says nothing of it.

    Processes that are forked in the block may leave.
    """
    global _twins, _owner  # noqa: PLW0603  how many threads are in such blocks, and of which process
    with _counting:
        _twins, _owner = _twins + 1, os.getpid()
        os._exit = _refuse
    try:
        yield
    finally:
        with _counting:
            _twins -= 1
            if not _twins:
                os._exit = _leave


def _refuse(status: int) -> NoReturn:
    if os.getpid() != _owner:
        _leave(status)
    raise TwinExit(f"os._exit({status})")


def in_file(code: str, what: str, contract: FunctionOfFile, error: BaseException) -> EvaluationError:
    """Say what a user's code raised, and show the line of the twin's file in which it did.

    The error's traceback begins there.
    """
    name, frames, line = str(contract.reference), error.__traceback__, None
    while frames and frames.tb_frame.f_code.co_filename != name:
        frames = frames.tb_next
    error.__traceback__ = frames
    for frame in traceback.extract_tb(frames):
        line = (frame.lineno, frame.line) if frame.filename == name else line
    if line is None and isinstance(error, SyntaxError) and error.filename == name:
        line = error.lineno, error.text
    reason = error.msg if isinstance(error, SyntaxError) else str(error).strip().partition("\n")[0]
    failed = EvaluationError(coded(code, ": ".join(filter(None, (f"{what} {type(error).__name__}", reason)))))
    if line is not None:
        failed.shown = f"{name}:{line[0]}:\n    {(line[1] or '').strip()}".rstrip()
    return failed


def call_twin(
    contract: Contract,
    arrays: list[Array],
    arguments: Mapping[str, Any],
    outputs: Mapping[str, np.dtype[Any]],
    rows: int,
) -> dict[str, Array]:
    """Call the twin and return its outputs in the declared types.

    Raises
    ------
    EvaluationError
        Where it raises, or gives other names, lengths or types than declared.
    """
    function = load_twin(contract)
    try:
        with exits_refused():
            result = function(*arrays, **arguments)
    except (Exception, SystemExit) as error:
        raise in_file("GE2006", f"{contract.function} in {contract.reference.name} raised", contract, error) from error
    if not isinstance(result, Mapping):
        raise EvaluationError(
            coded("GE1303", f"{contract.function} returned a {type(result).__name__}, not a dict of arrays")
        )
    if result.keys() != outputs.keys():
        raise EvaluationError(
            coded("GE1303", f"{contract.function} returned {sorted(map(str, result))}; declared are {sorted(outputs)}")
        )
    return {name: _checked(contract, name, result[name], dtype, rows) for name, dtype in outputs.items()}


def _checked(contract: Contract, name: str, value: Any, dtype: np.dtype[Any], rows: int) -> Array:
    output = f"{contract.function}: output '{name}'"
    try:
        values = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise EvaluationError(coded("GE1303", f"{output} is not an array: {first_line(error)}")) from None
    if values.shape != (rows,):
        raise EvaluationError(
            coded("GE1303", f"{output} has shape {values.shape}, and must have ({rows},): a value a row")
        )
    if values.dtype != dtype:
        raise EvaluationError(coded("GE1303", f"{output} is {values.dtype}, declared is {dtype}"))
    return values
