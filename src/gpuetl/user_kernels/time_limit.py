"""A time limit for calls of a user's Python function, which ends with the line at which the function was."""

from __future__ import annotations

import ctypes
import gc
import linecache
import sys
import time
from collections.abc import Callable
from contextvars import copy_context
from threading import Event, Thread
from typing import Generic, TypeVar

from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.user_kernels.python_function import PythonFunction

T = TypeVar("T")
LONGEST_WAIT_S = 0.5
"""As often the waiting thread looks at the clock, so that signals are handled."""
OUT_OF_TIME = "Look for a loop that does not end, or raise the limit: timeout of the step, --kernel-timeout of the run."


class OutOfTime(SystemExit):
    """Ends a function that takes too long; no `except Exception` of a user's catches it, and threads end with it."""


class TimedCalls(Generic[T]):
    """Calls of a function, one after the other on a thread of their own, of which each may take so long."""

    def __init__(self, work: Callable[[TimedCalls[T]], T]) -> None:
        self.work, self.done = work, Event()
        self.started: float | None = None
        self.result: T | None = None
        self.error: BaseException | None = None
        self.thread = Thread(target=copy_context().run, args=(self.run,), daemon=True)

    def run(self) -> None:
        """Do the work, and keep what it gives or raises."""
        try:
            self.result = self.work(self)
        except BaseException as error:
            self.error = error
        finally:
            self.started = None
            self.done.set()

    def __enter__(self) -> None:
        self.started = time.monotonic()

    def __exit__(self, *raised: object) -> None:
        self.started = None

    def is_late(self, limit_s: float) -> bool:
        """Return whether the call that is under way has taken too long."""
        started = self.started
        return started is not None and time.monotonic() - started >= limit_s

    def stop(self) -> None:
        """Have the thread end at its next line of Python; nothing waits for it."""
        if self.thread.ident is not None:
            place = ctypes.c_ulong(self.thread.ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(place, ctypes.py_object(OutOfTime))


class Untimed:
    """A call without a limit."""

    def __enter__(self) -> None:
        """Nothing is measured."""

    def __exit__(self, *raised: object) -> None:
        """Nothing is measured."""


def within(function: PythonFunction, limit_s: float | None, work: Callable[[TimedCalls[T] | Untimed], T]) -> T:
    """Return what `work` gives, which marks each call of the user's function by a `with` block of what it gets.

    Without a limit it runs on this thread.  A function that does not end in time is told to, and is left alone: what it
    waits for in C may never come.

    Raises
    ------
    EvaluationError
        Where a call takes longer, with the line of the user's file.
    """
    if limit_s is None:
        return work(Untimed())
    calls = TimedCalls(work)
    calls.thread.start()
    try:
        while not calls.done.wait(min(limit_s, LONGEST_WAIT_S)):
            if calls.is_late(limit_s):
                raise out_of_time(function, limit_s, calls.thread)
    except BaseException:
        calls.stop()
        raise
    if calls.error is not None:
        raise calls.error
    return calls.result  # type: ignore[return-value]


def out_of_time(function: PythonFunction, limit_s: float, thread: Thread) -> EvaluationError:
    """Say which function took too long, and at which line of its file it is."""
    name = str(function.reference)
    text = f"{function.function} in {function.reference.name} did not end within {limit_s:g} s"
    error = EvaluationError(coded("GE1892", text), OUT_OF_TIME)
    if line := line_of(thread, name):
        error.shown = f"{name}:{line}:\n    {linecache.getline(name, line).strip()}".rstrip()
    return error


def line_of(thread: Thread, file: str) -> int | None:
    """Return the line of a file at which a thread is: the innermost, where it is in a function that it calls."""
    collects = gc.isenabled()
    gc.disable()  # what is freed while Python holds the list of threads may need it: a deadlock in Python 3.11
    try:
        frame = sys._current_frames().get(thread.ident or 0)
    finally:
        if collects:
            gc.enable()
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return None if frame is None else frame.f_lineno
