"""A window by carries on one partition, by operations of the backend: see `physical.carried_window`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpuetl.engines.interface import Backend, Frame
from gpuetl.physical.carried_steps import CarriedWindow, WindowPass
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Window


def carried_on(
    backend: Backend, steps: CarriedWindow, frame: Frame, before: Sequence[Frame], last: bool
) -> list[Frame]:
    """Return a partition with the window's columns and, unless it is the `last`, the rows for the next one.

    `before` has the rows that were carried here: none, or one frame.
    """
    own = steps.ending if last else steps.whole
    windowed = continued(backend, own.window, [*before, backend.run(steps.prepare, frame)])
    result = through(backend, own.results if before else own.results[-1:], windowed)
    return [result] if last else [result, through(backend, own.keep, windowed)]


def carried_by_itself(backend: Backend, steps: CarriedWindow, frame: Frame) -> Frame:
    """Return the rows that a partition carries on as though it were the first."""
    return kept(backend, steps.carrying, [backend.run(steps.prepare, frame)])


def combined(backend: Backend, steps: CarriedWindow, carried: Sequence[Frame]) -> list[Frame]:
    """Return what each partition and those before it carry on, given what each carries by itself."""
    found = list(carried[:1])
    for frame in carried[1:]:
        found.append(kept(backend, steps.carrying, [found[-1], frame]))
    return found


def kept(backend: Backend, carrying: WindowPass, frames: Sequence[Frame]) -> Frame:
    """Return the rows to carry on, of rows that follow each other."""
    return through(backend, carrying.keep, continued(backend, carrying.window, frames))


def continued(backend: Backend, window: Window, frames: Sequence[Frame]) -> Frame:
    """Run a window over rows that follow each other."""
    rows = backend.concat(frames, window.source.schema)
    del frames  # before more is computed
    return backend.run(window, rows)


def through(backend: Backend, operations: Iterable[Node], frame: Frame) -> Frame:
    """Run operations one after another."""
    for operation in operations:
        frame = backend.run(operation, frame)
    return frame
