"""The windows of a pipeline that keep their state: what a run starts from, and what it leaves.

`with_window_states` puts the stored states into the plan of a run.  What is counted before a run commits then has the new
states, and the rows that came too late: `WindowRun.states` looks at both, before any sink changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.errors import InvalidPipeline, Problem, RunFailed, first_line
from gpuetl.messages import coded
from gpuetl.physical.kept_window import LATE, WindowStateNodes, stored_schema, with_state
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import KeptWindow
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.run.window_fingerprint import FORM, dependencies, differences, fingerprint_of
from gpuetl.value_texts import shown

KEY = b"gpuetl.window"
"""The entry of a file's schema metadata that says what the state depends on."""
REFRESH = "To build the state anew from all rows of the sources, run with --full-refresh"
MOST_DIFFERENCES = 3


@dataclass(frozen=True)
class WindowState:
    """The state of one window after a run: the rows, and the lines of what they depend on (`window_fingerprint.py`)."""

    table: pa.Table = field(repr=False)
    lines: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """A digest of the lines."""
        return fingerprint_of(self.lines)

    def to_bytes(self) -> bytes:
        """Return the state as an Arrow file."""
        metadata = {KEY: json.dumps({"form": FORM, "lines": self.lines})}
        sink = BytesIO()
        table = self.table.replace_schema_metadata(metadata)
        with pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)
        return sink.getvalue()

    @classmethod
    def of_bytes(cls, data: bytes, name: str) -> WindowState:
        """Read what `to_bytes` gave; `name` names the file in errors.

        Raises
        ------
        RunFailed
            For a file that is damaged, or of a later version.
        """
        try:
            table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
            table.validate(full=True)
            found = json.loads((table.schema.metadata or {})[KEY])
            form, lines = int(found["form"]), tuple(map(str, found["lines"]))
        except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as error:
            message = coded("GE1553", f"cannot read {name}, the state of a window: it is damaged, or another file")
            detail = f"Reader error: {first_line(error)}" if isinstance(error, pa.ArrowException) else ""
            raise RunFailed().with_problem(Problem(message, f"{REFRESH}.", row=detail)) from error
        if form > FORM:
            message = coded("GE1553", f"cannot read {name}: a later version of gpuetl has written it")
            raise RunFailed().with_problem(Problem(message, f"Use that version, or: {REFRESH}."))
        return cls(table.replace_schema_metadata(), lines)


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

    def check_late_rows(self, counts: Mapping[str, pa.Table]) -> list[str]:
        """Return warnings of late rows that were dropped.

        Raises
        ------
        RunFailed
            For a row that comes before the last one of its group in the state, if such rows are an error.
        """
        warnings: list[str] = []
        for name, window in self.windows.items():
            found = counts.get(late_check(name))
            if found is None or not found.num_rows:
                continue
            if window.node.late_rows == "drop":
                if rows := found.column(LATE)[0].as_py():
                    warnings.append(coded("GE1555", f"{name}: {dropped_text(rows)}"))
                continue
            raise self.late_row(name, window.node, found)
        return warnings

    def late_row(self, name: str, node: KeptWindow, found: pa.Table) -> RunFailed:
        """Word the first late row."""
        group = values_text(found, node.by)
        order = values_text(found, [key.column for key in node.order_by])
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

    def states(self, counts: Mapping[str, pa.Table]) -> dict[str, WindowState]:
        """Return the states to store, by window, from what a run counted."""
        return {
            name: WindowState(remembered(counts[state_check(name)], window), window.lines)
            for name, window in self.windows.items()
            if state_check(name) in counts
        }


def with_window_states(plan: Plan, stored: Mapping[str, WindowState], saves: bool) -> tuple[Plan, WindowRun]:
    """Return the plan of a run that goes on from the stored states; it also computes the new ones where it `saves` them.

    Windows of stages that no sink reads have their state computed, too: the next run's rows are others.

    Raises
    ------
    InvalidPipeline
        For a state that is of another pipeline, or of none of its windows.
    """
    names = window_names(plan)
    lines = {name: dependencies(node, stored_schema(node)) for name, node in names.items()}
    matched, notes = matching_states(lines, stored, saves)
    if not names:
        return plan, WindowRun({}, {})
    windows: dict[str, KeptRun] = {}
    name_of = {id(node): name for name, node in names.items()}
    inner = {f"stage {name}": node for name, node in plan.stages.items()}
    shown_rows = {f"rule {place}": rule.shown for place, rule in enumerate(plan.rules) if rule.shown is not None}
    rejected = {f"rejected {name}": node for name, node in plan.rejected.items()}
    whole = replace(plan, kept={**{f"kept {n}": node for n, node in plan.kept.items()}, **inner, **shown_rows, **rejected})

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


def matching_states(
    lines: Mapping[str, tuple[str, ...]], stored: Mapping[str, WindowState], strict: bool
) -> tuple[dict[str, WindowState], list[str]]:
    """Return the state of each window that has one, and notes of windows that were moved or are new.

    A window whose step has another name now takes the state that depends on the same.  A run that is not `strict` leaves
    no state, so it may be of a part of the pipeline, or of one that is being changed.

    Raises
    ------
    InvalidPipeline
        For a state that depends on something else than its window now, or that no window takes.
    """
    matched: dict[str, WindowState] = {}
    notes: list[str] = []
    left = dict(stored)
    for name, own in lines.items():
        if name in left and left[name].lines == own:
            matched[name] = left.pop(name)
    for name, own in lines.items():
        same = [old for old, state in left.items() if state.lines == own]
        if name not in matched and same:
            matched[name] = left.pop(same[0])
            notes.append(f"{name} takes the window state of {same[0]}, which computed the same")
    for name, own in lines.items():
        if strict and name not in matched and name in left:
            raise changed(name, left[name].lines, own)
    if strict and left:
        raise gone(next(iter(left)), tuple(lines))
    for name in lines:
        if stored and name not in matched:
            notes.append(f"{name} has no state from earlier runs: it starts with the rows of this run")
    return matched, notes


def changed(name: str, before: tuple[str, ...], now: tuple[str, ...]) -> InvalidPipeline:
    """Word a state that depends on something else now."""
    found = differences(before, now)
    more = f"\n… and {len(found) - MOST_DIFFERENCES} more" if len(found) > MOST_DIFFERENCES else ""
    text = "\n".join(found[:MOST_DIFFERENCES]) + more
    message = coded("GE1552", f"{name}: the state of earlier runs is of another computation")
    return InvalidPipeline([Problem(message, f"{REFRESH}, or undo the change.", row=text)])


def gone(name: str, windows: tuple[str, ...]) -> InvalidPipeline:
    """Word a state that no window takes."""
    have = f"windows that keep their state: {', '.join(windows)}" if windows else "no window keeps its state now"
    message = coded("GE1552", f"there is a state of {name} from earlier runs, and no such window ({have})")
    return InvalidPipeline([Problem(message, f"{REFRESH}, or undo the change.")])


def remembered(table: pa.Table, window: KeptRun) -> pa.Table:
    """Return the state without groups that are to be forgotten."""
    column = window.nodes.newest
    if not column:
        return table
    newest = table.column(column)
    rest = table.drop_columns([column])
    if not table.num_rows:
        return rest
    times = newest.cast(pa.timestamp("us")).cast(pa.int64()) if not pa.types.is_timestamp(newest.type) else newest.cast(pa.int64())
    forget = window.node.forget
    assert forget is not None
    oldest = pc.max(times).as_py() - round(forget.total_seconds() * 1_000_000)
    return rest.filter(pc.greater_equal(times, oldest))


def dropped_text(rows: int) -> str:
    """Say how many late rows were dropped."""
    what = "1 row was dropped that comes" if rows == 1 else f"{rows:,} rows were dropped that come"
    return f"{what} before the last row of the group's state, or without an order key (late_rows: drop)"


def values_text(table: pa.Table, names: Any) -> str:
    """Return the values of the first row."""
    return ", ".join(f"{name} = {shown(table.column(name)[0])}" for name in names)


def last_of_group(state: pa.Table, node: KeptWindow, found: pa.Table) -> str:
    """Return the order keys of the last row that the state has of a group; states are in the order of the window."""
    rows = state
    for name in node.by:
        value = found.column(name)[0]
        column = rows.column(name)
        rows = rows.filter(pc.equal(column, value) if value.is_valid else pc.is_null(column))
    if not rows.num_rows:  # a float key that is NaN
        return ""
    return values_text(rows.slice(rows.num_rows - 1), [key.column for key in node.order_by])
