"""A window by carries on one partition, by operations of the backend: see `physical.carried_window`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpuetl.backends.backend import Backend, Frame
from gpuetl.physical.carried_steps import CarriedWindow
from gpuetl.plan.node import Node


def carried_on(
    backend: Backend, steps: CarriedWindow, frame: Frame, before: Sequence[Frame], last: bool
) -> list[Frame]:
    """Return a partition with the window's columns and, unless it is the `last`, the rows for the next one.

    `before` has the rows that were carried here: none, or one frame.
    """
    rows = backend.concat([*before, backend.run(steps.prepare, frame)], steps.prepare.schema)
    windowed = backend.run(steps.window, rows)
    del rows  # before more is computed
    result = through(backend, [steps.drop, steps.finish] if before else [steps.finish], windowed)
    return [result] if last else [result, through(backend, steps.keep, windowed)]


def through(backend: Backend, operations: Iterable[Node], frame: Frame) -> Frame:
    """Run operations one after another."""
    for operation in operations:
        frame = backend.run(operation, frame)
    return frame
