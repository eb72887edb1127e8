"""What was chosen of one incremental source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pyarrow as pa

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.formats.dataset import Dataset
from gpuetl.plan.incremental import Selection
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import NewRows, Read
from gpuetl.state.source_state import SourceState, WatermarkValue
from gpuetl.types.data_types import BOOL, DataType

Query = Callable[[Read, str, Mapping[str, WatermarkValue], Mapping[str, str]], Mapping[str, object]]
"""Computes aggregates of a source on the engine of the run.

It takes the source, the column that expressions call `w`, values of its type that they call `$name`, and the
expressions; it returns their values.
"""


class Bounds(NamedTuple):
    """The rows to read: those whose `column` is greater than `after`, and at most `upto`, where these are not None."""

    column: str
    dtype: DataType
    after: WatermarkValue | None
    upto: WatermarkValue | None

    def applied(self, node: Node) -> Node:
        """Return the rows of a source that are within the bounds."""
        column = Column(self.column, self.dtype)
        limits = (("greater", self.after), ("less_equal", self.upto))
        parts: list[Expr] = [
            Call(FUNCTIONS["scalar", name], (column, Literal(value, self.dtype, declared=True)), BOOL)
            for name, value in limits
            if value is not None
        ]
        if not parts:
            return node
        predicate = parts[0] if len(parts) == 1 else Call(FUNCTIONS["scalar", "and"], tuple(parts), BOOL)
        return NewRows(source=node, predicate=predicate, origin=node.origin)


class Choice(NamedTuple):
    """What a run reads of an incremental source.

    Parameters
    ----------
    selection
        The same for people.
    dataset
        The source with the files to read.
    bounds
        The rows to read; None where that is all of these files.
    state
        What the next run is to know; None where that is what this one knew.
    entries
        The files to add to the state, None where there are none.
    is_complete
        Whether nothing is left to ask the engine.
    """

    selection: Selection
    dataset: Dataset
    bounds: Bounds | None = None
    state: SourceState | None = None
    entries: tuple[str, pa.Table] | None = None
    is_complete: bool = True
