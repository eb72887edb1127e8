"""The stored states of windows: Arrow files in the state folder, held against what their windows compute now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace
from io import BytesIO

import pyarrow as pa

from gpuetl.errors import InvalidPipeline, Place, Problem, RunFailed, first_line, system_reason
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.run.window_fingerprint import FORM, differences, fingerprint_of
from gpuetl.state.pipeline_state import FILES, Entry
from gpuetl.state.run_store import RunStore
from gpuetl.telemetry.origin import Origin

KEY = b"gpuetl.window"
"""The entry of a file's schema metadata that says what the state depends on."""
FINGERPRINT, ROWS, RUN_ID = "fingerprint", "rows", "run_id"
"""Keys of a window's entry in `state.json`, beside its file."""
REFRESH = "To build the state anew from all rows of the sources, run with --full-refresh"
MOST_DIFFERENCES = 3
COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
"""Most columns of a state are null in most rows."""


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
        with pa.ipc.new_file(sink, table.schema, options=COMPRESSED) as file:
            file.write_table(table)
        return sink.getvalue()

    @classmethod
    def of_bytes(cls, data: bytes, store: RunStore, name: str) -> WindowState:
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
            detail = f"Reader error: {first_line(error)}" if isinstance(error, pa.ArrowException) else ""
            raise unusable(store, f"cannot read {name}: it is damaged, or another file", detail) from error
        if form > FORM:
            raise unusable(store, f"cannot read {name}: a later version of gpuetl has written it")
        return cls(table.replace_schema_metadata(), lines)


# The files of states, and the entries of `state.json` that name them.


def written_entry(store: RunStore, state: WindowState, label: str, run_id: str) -> Entry:
    """Write a state to a file that no other run has, and return its entry.

    Raises
    ------
    RunFailed
        Where the state folder does not take the file.
    """
    file = store.new_file("windows", label, run_id)
    try:
        store.files.write(file, state.to_bytes())
    except OSError as error:
        raise store.failed(coded("GE1573", f"cannot write to {store.path}: {system_reason(error)}")) from error
    return {FILES: [file], FINGERPRINT: state.fingerprint, ROWS: state.table.num_rows, RUN_ID: run_id}


def read_entry(store: RunStore, name: str, entry: Entry) -> WindowState:
    """Return the stored state of a window.

    Raises
    ------
    RunFailed
        For a file that is gone, damaged, or not the one that the entry is of.
    """
    try:
        (file,) = map(str, entry[FILES])
        data = store.files.read(file)
    except OSError as error:
        raise store.failed(coded("GE1573", f"cannot read {store.path}: {system_reason(error)}")) from error
    except (KeyError, TypeError, ValueError) as error:
        raise unusable(store, f"the entry of {name} in state.json is damaged") from error
    where = store.files.at(file)
    if data is None:
        raise unusable(store, f"cannot read {where}, the state of {name}: it is gone")
    state = WindowState.of_bytes(data, store, f"{where}, the state of {name}")
    if state.fingerprint != entry.get(FINGERPRINT) or state.table.num_rows != entry.get(ROWS):
        raise unusable(store, f"{where} is not the state of {name} that state.json names")
    return state


def unusable(store: RunStore, why: str, detail: str = "") -> RunFailed:
    """Word a file of a state that cannot be used."""
    problem = Problem(coded("GE1553", why), f"Restore it, or begin anew. {REFRESH}.", row=detail)
    return RunFailed().with_problem(replace(problem, within=f"state '{store.path}'"), Origin("state", str(store.path)))


# Stored states held against the windows of a pipeline.


def matching_states(
    lines: Mapping[str, tuple[str, ...]], stored: Mapping[str, WindowState], places: Mapping[str, Place | None]
) -> tuple[dict[str, WindowState], list[str]]:
    """Return the state of each window that has one, and notes of windows that were moved or are new.

    A window whose step has another name now takes the state that depends on the same.  `places` are those of the
    windows in the user's text.

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
        if name not in matched and name in left:
            raise changed(name, left[name].lines, own, places[name])
    if left:
        raise gone(next(iter(left)), tuple(lines))
    new = [name for name in lines if stored and name not in matched]
    notes += [f"{name} has no state from earlier runs: it starts with the rows of this run" for name in new]
    return matched, notes


def states_to_read(
    lines: Mapping[str, tuple[str, ...]], stored: Mapping[str, WindowState]
) -> tuple[dict[str, WindowState], list[str]]:
    """Return the states of the windows of a run that leaves none: it may be of a part of the pipeline, or a new one."""
    states = {state.lines: state for state in stored.values()}
    matched = {name: states[own] for name, own in lines.items() if own in states}
    new = [name for name in lines if stored and name not in matched]
    return matched, [f"{name} has no state from earlier runs: its rows are those of a first run" for name in new]


def changed(name: str, before: tuple[str, ...], now: tuple[str, ...], place: Place | None) -> InvalidPipeline:
    """Word a state that depends on something else now."""
    found = differences(before, now)
    more = f"\n… and {len(found) - MOST_DIFFERENCES} more" if len(found) > MOST_DIFFERENCES else ""
    text = "\n".join(found[:MOST_DIFFERENCES]) + more
    message = coded("GE1552", "the window state of earlier runs is of another computation")
    return InvalidPipeline([Problem(message, f"{REFRESH}, or undo the change.", place, within=name, row=text)])


def gone(name: str, windows: tuple[str, ...]) -> InvalidPipeline:
    """Word a state that no window takes."""
    have = f"windows that keep their state: {', '.join(windows)}" if windows else "no window keeps its state now"
    message = coded("GE1552", f"there is a state of {name} from earlier runs, and no such window ({have})")
    return InvalidPipeline([Problem(message, f"{REFRESH}, or undo the change.")])
