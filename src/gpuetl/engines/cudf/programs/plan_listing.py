"""A plan's programs, listed on a thread while its run begins, for the machine to compile on others."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Event, Thread
from weakref import WeakSet

from gpuetl.engines.cudf.machine import KernelSource, Machine
from gpuetl.engines.interface import ALONE, Share
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.telemetry.trace import best_effort, span

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
        with best_effort("programs of a plan were not listed", CATEGORY), setting(listed):
            from gpuetl.engines.cudf.programs.plan_programs import PlanWalk

            set_up()
            walk = PlanWalk(physical)
            sources = while_running(walk.sources(), listed)
            machine.expect(plan, sources if share == ALONE else own_first(list(sources), share))
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


def while_running(sources: Iterable[KernelSource], listed: Event) -> Iterator[KernelSource]:
    """Yield sources and set `listed` behind them; raise `RuntimeError` where the process ends meanwhile."""
    for text in sources:
        if _ENDING.is_set():
            raise RuntimeError("the process ends")
        yield text
    listed.set()


def own_first(sources: list[KernelSource], share: Share) -> list[KernelSource]:
    """Return sources in another order: those of a process's share, then the others; all processes list alike."""
    own = sources[share.place :: share.of]
    return [*own, *(text for place, text in enumerate(sources) if place % share.of != share.place)]


@atexit.register
def end_listing() -> None:
    """Let threads stop at their next node, and wait for that: Arrow crashes where the interpreter is torn down.

    What they compile is not waited for here: see `codegen/compile_ahead.py`.
    """
    _ENDING.set()
    for listed in list(_LISTED):
        listed.wait(MOST_WAIT_S)
