"""The windows of a run that keep their state: what they go on from, the rows that come too late, and what they leave.

`going_on` puts the stored states into the plan of a run.  What is counted before the run commits then has the new
states, and the rows that come too late: both are looked at before any sink changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import pyarrow as pa

from gpuetl.errors import Problem, RunFailed
from gpuetl.messages import coded
from gpuetl.physical.kept_window import LATE, WindowStateNodes, stored_schema, with_state
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node, written_key, written_keys
from gpuetl.plan.nodes import KeptWindow, Write
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.run.run_state import RunState
from gpuetl.run.window_fingerprint import dependencies
from gpuetl.run.window_states import REFRESH, WindowState, matching_states, read_entry, states_to_read, written_entry
from gpuetl.state.pipeline_state import Entry
from gpuetl.state.run_store import RunStore, share_a_commit
from gpuetl.telemetry.recorder import Recorder
from gpuetl.units import size
from gpuetl.value_texts import shown


@dataclass(frozen=True)
class KeptRun:
    """One window in a run: its node, what stands in its place, and what its state depends on."""

    node: KeptWindow
    nodes: WindowStateNodes
    lines: tuple[str, ...]


@dataclass(frozen=True)
class WindowRun:
    """The windows of a run that keep their state, by name, such as `stage 'x', step 2`."""

    windows: Mapping[str, KeptRun]
    stored: Mapping[str, WindowState]
    notes: tuple[str, ...] = ()

    def left_in(self, state: RunState, recorder: Recorder) -> None:
        """Have the run leave the new states of the windows for the next one."""
        for number, name in enumerate(self.windows, 1):
            state.windows[name] = partial(self.entry, name, f"window-{number}", state.run.run_id, recorder)

    def entry(
        self, name: str, label: str, run_id: str, recorder: Recorder, store: RunStore, counts: Mapping[str, pa.Table]
    ) -> Entry:
        """Write the new state of a window, and return its entry."""
        window = self.windows[name]
        state = WindowState(remembered(counts[state_check(name)], window), window.lines)
        recorder.note(f"{name}: window state of {state.table.num_rows:,} rows, {size(state.table.nbytes)}")
        return written_entry(store, state, label, run_id)

    def check_late_rows(self, counts: Mapping[str, pa.Table], recorder: Recorder) -> None:
        """Warn of late rows that were dropped.

        Raises
        ------
        RunFailed
            For a row that comes before the last one of its group in the state, if such rows are an error.
        """
        for name, window in self.windows.items():
            found = counts.get(late_check(name))
            if found is None or not found.num_rows:
                continue
            if window.node.late_rows == "drop":
                if rows := found.column(LATE)[0].as_py():
                    recorder.warn(coded("GE1555", f"{name}: {dropped_text(rows)}"))
                continue
            raise self.late_row(name, window.node, found)

    def late_row(self, name: str, node: KeptWindow, found: pa.Table) -> RunFailed:
        """Word the first late row."""
        group = values_text(found, written_keys(node.by))
        order = values_text(found, written_keys(key.column for key in node.order_by))
        nulls = any(not found.column(key.column)[0].is_valid for key in node.order_by)
        what = "has no order key" if nulls else "comes before the last row of its group in the state of earlier runs"
        last = "" if nulls else last_of_group(self.stored[name].table, node, found)
        message = coded("GE1550", f"a row {what}: {order}" + f" in the group {group}" * bool(node.by))
        hint = (
            f"Set late_rows: drop on the window to leave such rows out, or filter them in a step before.  {REFRESH}, "
            "with the late rows in their place."
        )
        if nulls:
            hint = "Filter such rows in a step before, or set late_rows: drop on the window to leave them out."
        problem = Problem(message, hint, within=str(node.origin), row=f"The last row of the state: {last}" * bool(last))
        return RunFailed().with_problem(problem, node.origin)


NO_WINDOWS = WindowRun({}, {})


def going_on(plan: Plan, recorder: Recorder, refresh: bool = False) -> tuple[Plan, WindowRun]:
    """Return the plan of a run whose windows go on from what the last run left; with `refresh` they begin anew.

    Raises
    ------
    RunFailed
        For a state that cannot be read, or that cannot change with the sinks.
    InvalidPipeline
        For a state of another computation.
    """
    names, before = window_names(plan), plan.remembered
    saves = bool(plan.sinks) and plan.moves_state
    if before is None or not (names or before.windows):
        return plan, NO_WINDOWS
    stored: dict[str, WindowState] = {}
    if plan.state is not None:
        store = RunStore.at(plan.state)
        if saves and names:
            check_commit(plan, store)
        if not refresh:
            stored = {name: read_entry(store, name, entry) for name, entry in before.windows.items()}
    plan, windows = with_window_states(plan, stored, saves)
    for note in windows.notes:
        recorder.note(note)
    return plan, windows


def check_commit(plan: Plan, store: RunStore) -> None:
    """Refuse sinks that cannot change in one step with the state: after a failure their rows would be there twice."""
    for write in plan.sinks.values():
        if isinstance(write, Write) and write.target.mode == "append" and not write.target.run_key:
            if share_a_commit([store.path, write.target.path]):
                continue
            message = coded("GE1554", f"appends to another store than that of the window states, {store.path}")
            hint = "Name a state folder in the same store (state: PATH), or set run_key on the sink."
            raise RunFailed.at(write.origin, message, hint)


def with_window_states(plan: Plan, stored: Mapping[str, WindowState], saves: bool) -> tuple[Plan, WindowRun]:
    """Return the plan of a run that goes on from the stored states; it also computes the new ones if it `saves` them.

    Windows of stages that no sink reads have their state computed, too: the next run's rows are others.

    Raises
    ------
    InvalidPipeline
        For a state that is of another pipeline, or of none of its windows.
    """
    names = window_names(plan)
    lines = {name: dependencies(node, stored_schema(node)) for name, node in names.items()}
    places = {name: plan.place_of(node.origin, "") for name, node in names.items()}
    matched, notes = matching_states(lines, stored, places) if saves else states_to_read(lines, stored)
    if not names:
        return plan, WindowRun({}, {})
    windows: dict[str, KeptRun] = {}
    name_of = {id(node): name for name, node in names.items()}
    inner = {f"stage {name}": node for name, node in plan.stages.items()}
    shown_rows = {f"rule {place}": rule.shown for place, rule in enumerate(plan.rules) if rule.shown is not None}
    rejected = {f"rejected {name}": node for name, node in plan.rejected.items()}
    whole = replace(
        plan, kept={**{f"kept {n}": node for n, node in plan.kept.items()}, **inner, **shown_rows, **rejected}
    )

    done: dict[int, Node] = {}
    for node in whole.nodes:
        new = node.with_inputs([done[id(child)] for child in node.inputs])
        if isinstance(new, KeptWindow):
            name = name_of[id(node)]
            state = matched.get(name)
            nodes = with_state(new, None if state is None else state.table)
            windows[name] = KeptRun(new, nodes, lines[name])
            new = nodes.result
        done[id(node)] = new
    ran = {id(node) for node in plan.nodes}
    checks = {name: done[id(node)] for name, node in plan.checks.items()}
    for name, window in windows.items():
        if saves or id(names[name]) in ran:
            checks[late_check(name)] = window.nodes.late
        if saves:
            checks[state_check(name)] = window.nodes.state
    new_plan = replace(
        plan,
        stages={name: done[id(node)] for name, node in plan.stages.items()},
        sinks={name: done[id(node)] for name, node in plan.sinks.items()},
        kept={name: done[id(node)] for name, node in plan.kept.items()},
        rejected={name: done[id(node)] for name, node in plan.rejected.items()},
        rules=tuple(
            rule if rule.shown is None else replace(rule, shown=done[id(rule.shown)]) for rule in plan.rules
        ),
        checks=checks,
    )  # fmt: skip
    return new_plan, WindowRun(windows, matched, tuple(notes))


def state_check(name: str) -> str:
    """Return the name under which a run counts the state of a window."""
    return f"window state: {name}"


def late_check(name: str) -> str:
    """Return the name under which a run counts late rows."""
    return f"late rows: {name}"


def window_names(plan: Plan) -> dict[str, KeptWindow]:
    """Return the windows of a pipeline that keep their state, by their step; a plugin's step may have several."""
    found: dict[str, KeptWindow] = {}
    for node in walk_graph(*plan.stages.values(), *plan.roots):
        if isinstance(node, KeptWindow):
            step, number = str(node.origin), 1
            name = step
            while name in found:
                number += 1
                name = f"{step}, window {number}"
            found[name] = node
    return found


def remembered(table: pa.Table, window: KeptRun) -> pa.Table:
    """Return the state without groups that are to be forgotten."""
    import pyarrow.compute as pc  # which most runs on a GPU do without

    column = window.nodes.newest
    if not column:
        return table
    newest = table.column(column)
    rest = table.drop_columns([column])
    if not table.num_rows:
        return rest
    times = newest.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    forget = window.node.forget
    assert forget is not None
    oldest = pc.max(times).as_py() - round(forget.total_seconds() * 1_000_000)
    return rest.filter(pc.greater_equal(times, oldest))


def dropped_text(rows: int) -> str:
    """Say how many late rows were dropped."""
    what = "1 row was dropped that comes" if rows == 1 else f"{rows:,} rows were dropped that come"
    return f"{what} before the last row of the group's state, or without an order key (late_rows: drop)"


def values_text(table: pa.Table, names: Iterable[str]) -> str:
    """Return the values of the first row."""
    return ", ".join(f"{name} = {shown(table.column(name)[0])}" for name in names)


def last_of_group(state: pa.Table, node: KeptWindow, found: pa.Table) -> str:
    """Return the order keys of the last row that the state has of a group; states are in the order of the window."""
    import pyarrow.compute as pc  # which most runs on a GPU do without

    rows = state
    for name in node.by:
        value = found.column(name)[0]
        column = rows.column(name)
        rows = rows.filter(pc.equal(column, value) if value.is_valid else pc.is_null(column))
    if not rows.num_rows:  # a float key that is NaN
        return ""
    flat = [key.column for key in node.order_by if written_key(key.column) == key.column]  # of others there are texts
    return values_text(rows.slice(rows.num_rows - 1), flat)
