"""A plan's programs compiled while its run begins: listed on a thread, compiled by the machine on others."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Event, Thread
from weakref import WeakSet

from gpuetl.engines.cudf.machine import Machine, Text
from gpuetl.engines.interface import ALONE, Share
from gpuetl.errors import first_line
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.telemetry.trace import span

CATEGORY = "compilation"
MOST_WAIT_S = 10.0
_LISTED: WeakSet[Event] = WeakSet()
"""One for each list that is made: it is set at the end of the list, while programs may still be compiled."""
_ENDING = Event()


def expect_programs(physical: PhysicalPlan, plan: str, machine: Machine, share: Share = ALONE) -> None:
    """Let a machine expect a plan's programs, listed on a thread by the choices that are made here.

    A process that is not alone begins with its share.  Then it takes the others' programs, most of which are in the
    cache by that time.  Only traces show what goes wrong: the run compiles what it asks for.
    """
    set_up, listed = machine.thread_setup(), Event()

    def expect() -> None:
        with forgiven("programs of a plan"), setting(listed):
            from gpuetl.engines.cudf.programs import PlanWalk

            set_up()
            walk = PlanWalk(physical)
            texts = while_running(walk.texts(), listed)
            machine.expect(plan, texts if share == ALONE else own_first(list(texts), share))
            for sentence in walk.missing:
                with span(f"not listed: {sentence}", CATEGORY):
                    pass

    thread = Thread(target=partial(copy_context().run, expect), name="gpuetl-programs", daemon=True)
    _LISTED.add(listed)
    thread.start()


@contextmanager
def setting(event: Event) -> Iterator[None]:
    """Set an event at the end of the block, also where it fails."""
    try:
        yield
    finally:
        event.set()


def while_running(texts: Iterable[Text], listed: Event) -> Iterator[Text]:
    """Yield texts and set `listed` behind them; raise `RuntimeError` where the process ends meanwhile."""
    for text in texts:
        if _ENDING.is_set():
            raise RuntimeError("the process ends")
        yield text
    listed.set()


def own_first(texts: list[Text], share: Share) -> list[Text]:
    """Return texts in another order: those of a process's share, then the others; all processes list alike."""
    own = texts[share.place :: share.of]
    return [*own, *(text for place, text in enumerate(texts) if place % share.of != share.place)]


@contextmanager
def forgiven(what: str) -> Iterator[None]:
    """Do something whose failure costs time alone; a trace shows the error."""
    try:
        yield
    except Exception as error:
        with span(f"{what} were not listed", CATEGORY, error=f"{type(error).__name__}: {first_line(error)}"):
            pass


@atexit.register
def end_listing() -> None:
    """Let threads stop at their next node, and wait for that: Arrow crashes where the interpreter is torn down.

    What they compile is not waited for here: see `gpu/ahead.py`.
    """
    _ENDING.set()
    for listed in list(_LISTED):
        listed.wait(MOST_WAIT_S)
