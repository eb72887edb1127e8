"""The end of a command's process: what others asked for is done, and what the system frees anyway is not freed first.

Python tears down every module and object before it exits: 0.05 s after a run on pandas, 0.2 s after one on a GPU.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from gpuetl.cli import has_run_users_code, main
from gpuetl.signals import STOPPING, end_at_second_signal, leave_signals_to_thread

STOPPED = tuple(128 + number for number in STOPPING)
"""The exit codes of a command that a signal ended."""
HELD = ("LD_PRELOAD", "LD_AUDIT", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
"""Variables by which profilers and checkers of native code enter a process; they write their results at its exit."""


def run_and_end() -> None:
    """Run the command line, then end the process at once where nothing is lost by that; else end as Python does.

    Raises
    ------
    SystemExit
        Where the process is to end as Python does, and the command failed.
    """
    status: Any = 0
    is_watched = end_at_second_signal()
    try:
        main()
    except SystemExit as end:
        status = 0 if end.code is None else end.code
        if is_watched and status in STOPPED:
            leave_signals_to_thread()
        if not isinstance(status, int) or not may_end_at_once(sys._getframe()):
            raise
    else:
        if not may_end_at_once(sys._getframe()):
            return
    end_at_once(status)


def end_at_once(status: int) -> None:
    """Do what Python does first when it exits, and leave out the rest.

    Threads that are no daemons are waited for, functions of `atexit` are called, output is flushed.  Among these
    functions are those of logging, of temporary folders, of process pools and of coverage in child processes.
    """
    if starting := sys.modules.get("gpuetl.engines.starting"):
        starting.abandon()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    if ctypes := sys.modules.get("ctypes"):  # what native code has printed, as a kernel may
        ctypes.CDLL(None).fflush(None)
    os._exit(status)


def may_end_at_once(frame: FrameType | None) -> bool:
    """Return whether nothing waits for the process to be torn down: `frame` is that of `run_and_end`.

    A debugger, a profiler, and a program that calls the command line go on after it.  A user's code may keep a file
    open that is written when it is freed.  `-X dev` warns of what was not closed.
    """
    steps: tuple[Callable[..., object] | None, ...] = (
        getattr(threading, "_shutdown", None),
        getattr(atexit, "_run_exitfuncs", None),
    )
    return (
        all(steps)
        and is_program(frame)
        and not (sys.gettrace() or sys.getprofile() or sys.flags.inspect or sys.flags.dev_mode)
        and not has_run_users_code()
        and not any(os.environ.get(name) for name in (*HELD, "PYTHONINSPECT"))
    )


def is_program(frame: FrameType | None) -> bool:
    """Return whether a function's caller is the program's own text, started by the interpreter and by nothing else.

    `python -m` runs a module by `runpy`.  So does `python -m cProfile -m gpuetl`, whose frames are between.
    """
    caller = frame and frame.f_back
    if caller is None or caller.f_globals.get("__name__") != "__main__" or caller.f_code.co_name != "<module>":
        return False
    outer = caller.f_back
    while outer is not None and outer.f_globals.get("__name__") == "runpy":
        outer = outer.f_back
    return outer is None
