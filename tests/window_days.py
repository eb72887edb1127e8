"""Runs of a pipeline day by day, with the window states of one run given to the next one by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl import Pipeline, RunOptions, Table
from gpuetl.engines.registry import load_driver_backend
from gpuetl.executors.execution import Execution, on_workers
from gpuetl.run.planning import lowered_again, planned
from gpuetl.run.window_run import remembered, state_check, with_window_states
from gpuetl.run.window_states import WindowState
from gpuetl.state.run_store import RunStore
from gpuetl.telemetry.recorder import Recorder, recording

STORE = RunStore.at(Path("state"))
States = Mapping[str, WindowState]


def run_day(
    pipeline: Pipeline,
    engine: str,
    stored: States,
    options: RunOptions | None = None,
    keep: str = "result",
    params: Mapping[str, Any] | None = None,
    saves: bool = True,
) -> tuple[pa.Table, dict[str, WindowState], list[str]]:
    """Run a pipeline from stored states; return the rows of a stage, the new states, and the warnings."""
    options, recorder, seconds = options or RunOptions(), Recorder(), dict[str, float]()
    plan, windows = with_window_states(pipeline.plan(params).keeping([keep]), stored, saves)
    backend = load_driver_backend(engine)
    with on_workers(engine, backend, options, seconds, recorder.progress) as (options, capacity), recording(recorder):
        fit = planned(plan, options, engine, capacity).fit
        placed = replace(options, resident_bytes=fit.resident_bytes)
        execution = Execution(engine, backend, placed, recorder, "run", seconds, capacity.addresses)
        _, outputs = execution.run_to_fit(fit.plan, partial(lowered_again, plan, placed, engine))
        rows = backend.to_arrow(outputs.kept[keep])
    windows.check_late_rows(outputs.checks, recorder)
    tables = {
        name: remembered(outputs.checks[state_check(name)], one) for name, one in windows.windows.items() if saves
    }
    states = {name: WindowState(table, windows.windows[name].lines) for name, table in tables.items()}
    again = {name: WindowState.of_bytes(state.to_bytes(), STORE, name) for name, state in states.items()}
    return rows, again, list(recorder.warnings)


def feed(
    steps: Table, days: Sequence[pa.Table], engine: str, options: RunOptions | None = None, source: str = "t"
) -> tuple[pa.Table, States]:
    """Run steps on each day's rows in turn, which are written over the source's file; return all rows, and the state.

    The stage is named `result`.
    """
    pipeline, found, stored = steps.pipeline, list[pa.Table](), dict[str, WindowState]()
    for day in days:
        pq.write_table(day, pipeline.root / f"{source}.parquet", row_group_size=2)
        rows, stored, _ = run_day(pipeline, engine, stored, options)
        found.append(rows)
    return pa.concat_tables(found), stored
