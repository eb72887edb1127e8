"""The state of a pipeline in one run: read when it begins, staged when the sinks are about to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pyarrow as pa

from gpuetl.errors import RunFailed, system_reason
from gpuetl.messages import coded
from gpuetl.places.publishing import RunIdentity, StagedSink
from gpuetl.plan.nodes import Write
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.run.window_states import WindowRun, WindowState, window_names, with_window_states
from gpuetl.state.pipeline_state import FILES, Entry, PipelineState
from gpuetl.state.run_store import RunStore, share_a_commit
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder

FINGERPRINT, ROWS, RUN_ID = "fingerprint", "rows", "run_id"
"""Keys of a window's entry in `state.json`, beside its file."""


@dataclass(frozen=True)
class RunState:
    """What a run began with, and the windows that go on from it.

    Parameters
    ----------
    store, before
        The state folder, and what it had when the run began.
    windows
        The windows that keep their state.
    saves
        Whether the run leaves a state: it writes sinks.
    """

    store: RunStore
    before: PipelineState
    windows: WindowRun
    saves: bool

    def check(self, counts: Mapping[str, pa.Table], recorder: Recorder) -> None:
        """Warn of late rows that were dropped; raise `RunFailed` for one that is an error."""
        for warning in self.windows.check_late_rows(counts):
            recorder.warn(warning)

    def entries(self, counts: Mapping[str, pa.Table], run_id: str, recorder: Recorder) -> dict[str, Entry]:
        """Write the new states of the windows, and return their entries.

        Raises
        ------
        RunFailed
            Where the state folder does not take a file.
        """
        found: dict[str, Entry] = {}
        for number, (name, state) in enumerate(self.windows.states(counts).items(), 1):
            file = self.store.new_file("windows", f"window-{number}", run_id)
            try:
                self.store.files.write(file, state.to_bytes())
            except OSError as error:
                why = coded("GE1573", f"cannot write to {self.store.path}: {system_reason(error)}")
                raise self.store.failed(why) from error
            found[name] = {
                FILES: [file], FINGERPRINT: state.fingerprint, ROWS: state.table.num_rows, RUN_ID: run_id,
            }  # fmt: skip
            recorder.note(f"{name}: window state of {state.table.num_rows:,} rows, {state.table.nbytes:,} bytes")
        return found

    def stage(
        self,
        counts: Mapping[str, pa.Table],
        run: RunIdentity,
        recorder: Recorder,
        sources: Mapping[str, Entry] | None = None,
    ) -> Sequence[StagedSink]:
        """Stage the state after the run, from what it counted; nothing for a run that leaves none."""
        if not self.saves:
            return ()
        windows = self.entries(counts, run.run_id, recorder)
        after = self.before.after(run.run_id, datetime.now(UTC).isoformat(timespec="seconds"), sources, windows)
        return (self.store.stage(self.before, after, run),)


def begin(plan: Plan, refresh: bool = False) -> tuple[Plan, RunState | None]:
    """Return the plan of a run that goes on from the state of earlier ones; None where the plan has nothing to keep.

    With `refresh` the windows begin anew, and the run replaces their state.

    Raises
    ------
    RunFailed
        For a state that cannot be read, or cannot change with the sinks.
    InvalidPipeline
        For a state of another computation.
    """
    names = window_names(plan)
    if not names and not plan.keeps_state:
        return plan, None
    saves = bool(plan.sinks)
    if plan.state is None and not saves:
        return with_window_states(plan, {}, saves)[0], None
    if plan.state is None:
        node = next(iter(names.values()))
        message = coded("GE1554", "keeps its state, and there is no place for the state of the pipeline")
        raise RunFailed.at(node.origin, message, "Name a folder, or a prefix of a store: state: PATH.")
    store = RunStore.at(plan.state)
    before = store.read()
    if saves and names:
        check_commit(plan, store)
    stored = {} if refresh else {name: read_window(store, name, entry) for name, entry in before.windows.items()}
    plan, windows = with_window_states(plan, stored, saves)
    return plan, RunState(store, before, windows, saves)


def check_commit(plan: Plan, store: RunStore) -> None:
    """Refuse sinks that cannot change in one step with the state: after a failure their rows would be there twice."""
    for write in plan.sinks.values():
        if not isinstance(write, Write) or write.target.mode != "append" or write.target.run_key:
            continue
        if not share_a_commit([store.path, write.target.path]):
            message = coded("GE1554", f"appends to another store than that of the state, {store.path}")
            hint = "Name a state folder in the same store (state: PATH), or set run_key on the sink."
            raise RunFailed.at(write.origin, message, hint)


def read_window(store: RunStore, name: str, entry: Entry) -> WindowState:
    """Return the stored state of a window.

    Raises
    ------
    RunFailed
        For a file that is gone, damaged, or not the one that the entry is of.
    """
    try:
        (file,) = entry[FILES]
        data = store.files.read(str(file))
    except OSError as error:
        raise store.failed(coded("GE1573", f"cannot read {store.path}: {system_reason(error)}")) from error
    except (KeyError, TypeError, ValueError) as error:
        raise store.failed(coded("GE1553", f"cannot use the entry of {name}: it is damaged")) from error
    if data is None:
        where = store.files.at(str(file))
        message = coded("GE1553", f"cannot read {where}, the state of {name}: it is gone")
        hint = "Restore it, or build the state anew from all rows of the sources: gpuetl run --full-refresh."
        raise RunFailed.at(Origin("state", str(store.path)), message, hint)
    state = WindowState.of_bytes(data, str(store.files.at(str(file))))
    if state.fingerprint != entry.get(FINGERPRINT) or state.table.num_rows != entry.get(ROWS):
        message = coded("GE1553", f"{store.files.at(str(file))} is not the state of {name} that state.json names")
        hint = "Restore it, or build the state anew from all rows of the sources: gpuetl run --full-refresh."
        raise RunFailed.at(Origin("state", str(store.path)), message, hint)
    return state


