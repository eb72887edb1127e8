"""Signals that ask a run to end: raised where that is safe, held where a half-done step would be left behind.

`stopping` is the command line's: SIGTERM and SIGHUP raise as Ctrl-C does.  `held_signals` is for whoever changes files:
it serves the handlers of any program, and changes none of them for longer than it lasts.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import field
from types import FrameType
from typing import Any

from gpuetl.records import dataclass

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_S = 5.0  # an impatient second signal would break off what the first one has begun to clean up


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


@contextmanager
def noted(note: Callable[[], str]) -> Iterator[None]:
    """Note, for the message of an interrupt, what was done already."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.add_note(note())
        raise
