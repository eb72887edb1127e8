"""Engines that are wrong on purpose, each in its own way, for tests of what detects them."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.engines.registry import ENGINES, Engine
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Aggregate, Filter, Sort

Change: TypeAlias = Callable[[Any], Any]


class Wrong(PandasBackend):
    """The pandas backend, with the frames of one kind of operation changed."""

    def __init__(self, kind: type[Node], change: Change) -> None:
        self.kind, self.change = kind, change

    def run(self, operation: Node, *frames: pa.Table) -> pa.Table:
        frame = super().run(operation, *frames)
        return self.change(frame) if isinstance(operation, self.kind) else frame


def changed(frame: pa.Table, name: str, change: Change) -> pa.Table:
    """Return the frame with one column changed, where it has it."""
    if name not in frame.column_names:
        return frame
    place = frame.column_names.index(name)
    return frame.set_column(
        place, frame.schema.field(name), pc.cast(change(frame.column(name)), frame.schema.field(name).type)
    )


def one_more() -> Wrong:
    """Counts of aggregates are one too high."""
    return Wrong(Aggregate, lambda frame: changed(frame, "n", lambda n: pc.add(n, 1)))


def slightly_off() -> Wrong:
    """Sums of aggregates are off by rounding, as those of another order of summation."""
    return Wrong(Aggregate, lambda frame: changed(frame, "total", lambda x: pc.multiply(pc.add(x, 3e-12), 1.0)))


def one_lost() -> Wrong:
    """Filters lose the last row."""
    return Wrong(Filter, lambda frame: frame.slice(0, max(frame.num_rows - 1, 0)))


def backwards() -> Wrong:
    """Sorted rows come in the opposite order."""
    return Wrong(Sort, lambda frame: frame.take(pa.array(range(frame.num_rows - 1, -1, -1), pa.int64())))


def failing() -> Wrong:
    """Every filter fails."""
    from gpuetl.errors import EvaluationError

    def fail(frame: pa.Table) -> pa.Table:
        raise EvaluationError("no memory")

    return Wrong(Filter, fail)


class WrongLimits(PandasBackend):
    """The first rows of an order are wrong; whole orders are right."""

    def run(self, operation: Node, *frames: pa.Table) -> pa.Table:
        frame = super().run(operation, *frames)
        limited = isinstance(operation, Sort) and operation.limit is not None
        return frame.slice(0, 0) if limited else frame


NAMES = ("one_more", "slightly_off", "one_lost", "backwards", "failing", "WrongLimits")


def register() -> None:
    """Make them engines."""
    ENGINES.update({name: Engine(f"verify.wrong_engines:{name}") for name in NAMES})
