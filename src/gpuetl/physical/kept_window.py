"""A window that goes on from the last run: the stored state comes before the rows of the run, a new one comes out.

The state is what a partition hands to the next one (`window_state.py`): few rows of each group, in place of all.  It is
a relation of the plan, so any engine, any number of partitions and any executor computes it as it computes all others.

    stored state ─┐
                  ├─► union ─► window ─► rows of the run with the window's columns
    rows ─► own ──┘                └───► state of the next run
                                   └───► rows that come too late
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain

import pyarrow as pa

from gpuetl.expressions.build import col
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.expressions.resolve import formula
from gpuetl.formats.frames import SLICE_ROWS as FRAME_SLICE_ROWS
from gpuetl.formats.frames import FrameDataset
from gpuetl.physical.kept_calls import kept_calls
from gpuetl.physical.window_state_steps import TRUE, StatefulSteps, WindowSteps, either
from gpuetl.plan.node import Node, written_keys
from gpuetl.plan.nodes import Aggregate, Filter, KeptWindow, Limit, Project, Read, StateUnion, Window, passing
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, INT64
from gpuetl.types.schema import Schema, free_name

KIND = "window state"
"""The kind of the origin of what a run adds to a step: an error names it `window state 'stage', step 2`."""
SLICE_ROWS = FRAME_SLICE_ROWS
"""Rows of the state that are read at once, at least."""
LATE, NEWEST = "late", "newest"
"""The column that counts dropped rows, and the state's column of the last order key of each group."""


@dataclass(frozen=True)
class WindowStateNodes:
    """What comes in the place of a window that keeps its state.

    Parameters
    ----------
    result
        The rows of the run, with the window's columns.
    state
        The rows to store; with `forget`, beside them the last order key of their group, named `newest`.
    late
        The first row that comes before the end of its group's state, or without an order key, by the columns of groups
        and order; where these are dropped, one row with how many they are.
    newest
        The name of that column; empty without `forget`.
    """

    result: Node
    state: Node
    late: Node
    newest: str = ""


@dataclass(frozen=True)
class KeptSteps:
    """A window in steps whose state is kept: the columns that are stored, those that are constant, and the marks.

    `flag` tells rows of the state, `later` whether the next row is one, and `mark` is true in them, null in others.
    """

    steps: StatefulSteps
    stored: Schema
    constants: dict[str, Literal]
    flag: Column
    later: Column
    mark: Column
    later_call: Call
    newest: Column | None = None
    newest_call: Call | None = None

    @property
    def window(self) -> Window:
        """The window over both, with the calls that tell late rows, and a group's last order key if that is wanted."""
        window = self.steps.whole.window
        calls = {**window.calls, self.later.name: self.later_call}
        if self.newest is not None and self.newest_call is not None:
            calls[self.newest.name] = self.newest_call
        return replace(window, calls=calls)


def kept_steps(node: KeptWindow) -> KeptSteps | None:
    """Return the steps of a window; None where one of its calls cannot keep state."""
    made = WindowSteps(replace(node.plain, presorted=False))
    mark = made.column("", Literal(None, BOOL), TRUE)
    results = kept_calls(made, dict(node.calls))
    if results is None:
        return None
    newest = newest_call = None
    if node.forget is not None:
        key = Column(node.order_by[0].column, node.source.schema[node.order_by[0].column])
        newest = Column(made.name(NEWEST), key.dtype)
        newest_call = Call(FUNCTIONS["window", "last"], (key,), key.dtype)
    steps = made.build(results)
    (project,) = (one for one in reversed(steps.whole.keep[-1:]) if isinstance(one, Project))
    constants = {name: expr for name, expr in project.columns.items() if isinstance(expr, Literal)}
    stored = project.schema.select(name for name in project.schema if name not in constants)
    return KeptSteps(
        steps, stored, constants, made.flag, made.later, mark, made.calls[made.later.name], newest, newest_call
    )


def stored_schema(node: KeptWindow) -> Schema:
    """Return the columns that the state of a window is stored with."""
    kept = kept_steps(node)
    assert kept is not None, "binding has refused windows that cannot keep state"
    return kept.stored


def with_state(node: KeptWindow, stored: pa.Table | None) -> WindowStateNodes:
    """Return what a run computes in the place of a window, given the stored state; None, or no rows, at the start."""
    kept = kept_steps(node)
    assert kept is not None, "binding has refused windows that cannot keep state"
    origin = Origin(KIND, node.origin.name, node.origin.step)
    own: Node = kept.steps.prepare
    has_state = stored is not None and stored.num_rows > 0
    rows = own
    if stored is not None and has_state:
        rows = StateUnion(left=_read_state(kept, stored, origin), right=own, origin=node.origin)
    late: Node
    if node.late_rows == "drop":
        rows, late = _without_late_rows(node, kept, rows, origin)
    window = replace(kept.window, source=rows)
    if node.late_rows != "drop":
        late = _first_late_row(node, kept, window, origin)
    results = kept.steps.whole.results if has_state else kept.steps.whole.results[-1:]
    state = _through([replace(one, origin=origin) for one in kept.steps.whole.keep], window)
    assert isinstance(state, Project)
    columns = {name: state.columns[name] for name in kept.stored}
    newest = free_name(NEWEST, kept.stored) if kept.newest else ""
    if kept.newest:
        columns[newest] = kept.newest
    return WindowStateNodes(_through(results, window), replace(state, columns=columns), late, newest)


def _read_state(kept: KeptSteps, stored: pa.Table, origin: Origin) -> Node:
    """Return the rows of the state, with all columns that rows of the run have."""
    dataset = FrameDataset.of(str(origin), stored.select(list(kept.stored)), SLICE_ROWS)
    read = Read(dataset=dataset, columns=dataset.schema.names, origin=origin)
    columns = {name: kept.constants.get(name, Column(name, dtype)) for name, dtype in kept.steps.prepare.schema.items()}
    return Project(source=read, columns=columns, origin=origin)


def _through(operations: Sequence[Node], source: Node) -> Node:
    """Put operations one after another."""
    return reduce(lambda below, operation: operation.with_inputs([below]), operations, source)


def _first_late_row(node: KeptWindow, kept: KeptSteps, window: Window, origin: Origin) -> Node:
    """Return the first row of the run that a row of the state follows, or that has no order key."""
    late = formula(~col("flag") & col("later"), flag=kept.flag, later=kept.later)
    found = Filter(source=window, predicate=either(late, _unordered(node)), origin=origin)
    columns = _shown_columns(node)
    return Limit(source=Project(source=found, columns=columns, origin=origin), count=1, origin=origin)


def _shown_columns(node: KeptWindow) -> dict[str, Expr]:
    """Return the columns of groups and order, each once, and nested ones that have flat columns there."""
    keys = [*node.by, *(key.column for key in node.order_by)]
    names = dict.fromkeys(chain(keys, written_keys(keys)))
    return {name: Column(name, node.source.schema[name]) for name in names}


def _unordered(node: KeptWindow) -> Expr:
    """Return whether a row lacks an order key: it has no place in an order that goes on."""
    schema = node.source.schema
    nulls = [formula(col("x").is_null(), x=Column(key.column, schema[key.column])) for key in node.order_by]
    return reduce(either, nulls)


def _without_late_rows(node: KeptWindow, kept: KeptSteps, rows: Node, origin: Origin) -> tuple[Node, Node]:
    """Return the rows without those of the run that rows of the state follow, or without order key, and their count."""
    marked, late = rows, _unordered(node)
    if isinstance(rows, StateUnion):
        follows = Column(free_name(LATE, rows.schema), BOOL)
        calls = {follows.name: Call(FUNCTIONS["window", "bfill"], (kept.mark,), BOOL)}
        marked = Window(source=rows, by=node.by, order_by=node.order_by, calls=calls, origin=node.origin)
        comes_before = formula(~col("flag") & col("follows").is_not_null(), flag=kept.flag, follows=follows)
        late = either(comes_before, late)
    kept_rows = Filter(source=marked, predicate=formula(~col("late"), late=late), origin=node.origin)
    dropped = Filter(source=marked, predicate=late, origin=origin)
    ones = Project(source=dropped, columns={LATE: Literal(1, INT64)}, origin=origin)
    count = Call(FUNCTIONS["aggregate", "count"], (Column(LATE, INT64),), INT64)
    return (
        Project(source=kept_rows, columns=passing(rows.schema), origin=node.origin),
        Aggregate(source=ones, by=(), calls={LATE: count}, origin=origin),
    )
