"""Signals that ask a run to end: raised where that is safe, held where a half-done step would be left behind.

`stopping` is the command line's: SIGTERM and SIGHUP raise as Ctrl-C does.  `held_signals` is for whoever changes files:
it serves the handlers of any program, and changes none of them for longer than it lasts.

A second signal ends a command at once.  A thread sees it as soon as it comes: handlers written in Python wait until
native code returns, which a kernel, a read from a dead disk or a library's lock may not do.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field
from types import FrameType
from typing import Any

from gpuetl.messages import printable, redacted
from gpuetl.records import dataclass

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_S = 5.0
"""A second signal is raised again after so long, where no thread looks out for it: in a program of the user's own."""
SAME_S = 0.5
"""Signals nearer to each other are one: a terminal and a program that passes it on both send it."""
SHOW_CURSOR = "\x1b[?25h"


class Stopped(KeyboardInterrupt):
    """A signal that ends the program, whose exit status is 128 and its number."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(signal.Signals(number).name)

    @property
    def exit_code(self) -> int:
        """The status with which shells report a program that the signal ended."""
        return 128 + self.number


@contextmanager
def stopping() -> Iterator[None]:
    """Raise `Stopped` for signals that come inside, in the main thread; elsewhere nothing is changed.

    It is raised again where it ended as another error: an extension that is being imported may take it for its own.
    """
    raised: Stopped | None = None
    raised_at = -AGAIN_S

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal raised, raised_at
        if time.monotonic() - raised_at >= AGAIN_S:
            raised, raised_at = Stopped(number), time.monotonic()
            raise raised

    with _handled({number: stop for number in STOPPING if signal.getsignal(number) not in (signal.SIG_IGN, None)}):
        try:
            yield
        except Exception:
            if raised is None:
                raise
            raise raised from None


@dataclass
class Held:
    """The handlers that wait, and the first signal that came for one of them."""

    handlers: dict[int, Any] = field(default_factory=dict)
    number: int | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Remember the first signal."""
        self.number = self.number or number

    def deliver(self) -> None:
        """Call the handler of the signal that came, if one did; it may raise."""
        if self.number is not None:
            number, self.number = self.number, None
            self.handlers[number](number, None)


@contextmanager
def held_signals() -> Iterator[Held]:
    """Let no handler run inside; it is called at the end, or at `deliver`, unless an error ends the block.

    Held are the handlers written in Python, which may raise between any two steps.  The others end the process at
    once, and are left alone.
    """
    held = Held({number: handler for number in STOPPING if callable(handler := signal.getsignal(number))})
    with _handled(dict.fromkeys(held.handlers, held)):
        yield held
    held.deliver()


@contextmanager
def _handled(handlers: dict[int, Callable[[int, FrameType | None], Any]]) -> Iterator[None]:
    with ExitStack() as before:
        if threading.current_thread() is threading.main_thread():  # Python's handlers are set and run there alone
            for number, handler in handlers.items():
                before.callback(signal.signal, number, signal.getsignal(number))
                signal.signal(number, handler)
        yield


# A second signal: what is left behind is said, and the process ends.


EXIT = os._exit
"""As it was before a twin runs, which may not call it."""
_LEFT_BEHIND: list[Callable[[], str]] = []
"""What runs that are under way would leave behind, the latest last."""


def end_at_second_signal() -> bool:
    """Have a thread end this process at once when a second signal comes, with 128 and its number.

    Nothing is changed, and False returned, where another part of the program listens in the same way, as an event loop
    does, or where this is not the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    if (before := signal.set_wakeup_fd(writing, warn_on_full_buffer=False)) != -1:
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
        return False
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))  # whose signals are not this process's
    threading.Thread(target=_end_at_second, args=(reading,), name="gpuetl-signals", daemon=True).start()
    return True


def leave_signals_to_thread() -> None:
    """Raise no error for further signals: the process is ending, and the thread sees the second one."""
    for number in STOPPING:
        if callable(signal.getsignal(number)):
            signal.signal(number, lambda number, frame: None)


def _end_at_second(reading: int) -> None:
    first_at: float | None = None
    while numbers := os.read(reading, 64):
        for number in filter(STOPPING.__contains__, numbers):
            now = time.monotonic()
            if first_at is None:
                first_at = now
            elif now - first_at >= SAME_S:
                end_now(number)


def end_now(number: int) -> None:
    """End the process like a kill, after a line about what is left behind."""
    name = signal.Signals(number).name
    try:
        left = _LEFT_BEHIND[-1]() if _LEFT_BEHIND else "no sink has changed"
    except Exception as error:  # the run goes on meanwhile, and may be at any point
        left = f"what was left behind is not known ({type(error).__name__})"
    text = printable(redacted(f"ended at once (second signal, {name}): {left}"))
    is_drawn = os.isatty(sys.__stderr__.fileno()) if sys.__stderr__ is not None else False
    with suppress(OSError):
        os.write(2, f"{SHOW_CURSOR if is_drawn else ''}\n{text}\n".encode(errors="backslashreplace"))
    EXIT(128 + number)


@contextmanager
def left_behind(say: Callable[[], str]) -> Iterator[None]:
    """Say by this what would be left behind if the process ended in the block."""
    _LEFT_BEHIND.append(say)
    try:
        yield
    finally:
        _LEFT_BEHIND.remove(say)


@contextmanager
def noted(note: Callable[[], str]) -> Iterator[None]:
    """Note, for the message of an interrupt, what was done already."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.add_note(note())
        raise
