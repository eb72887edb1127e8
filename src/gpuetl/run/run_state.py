"""What a run leaves for the next one: entries of sources and windows, staged when the sinks may change."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field

import pyarrow as pa

from gpuetl.errors import RunFailed
from gpuetl.messages import coded
from gpuetl.places.publishing import RunIdentity, StagedSink
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.state.pipeline_state import Entry, PipelineState
from gpuetl.state.run_store import RunStore
from gpuetl.telemetry.origin import Origin

MakeEntry = Callable[[RunStore, Mapping[str, pa.Table]], Entry]
"""Writes the files of an entry below the state folder, and returns the entry; gets what the run counted, by check."""


@dataclass
class RunState:
    """The state of a run's pipeline.

    `sources` and `windows` make the entries that change, by their names in the state.  Other sources stay, unless the
    state `begins_anew`.  A run computes the states of all windows of a pipeline, so entries of others are dropped.
    """

    plan: Plan
    run: RunIdentity
    sources: dict[str, MakeEntry] = field(default_factory=dict)
    windows: dict[str, MakeEntry] = field(default_factory=dict)
    new: PipelineState | None = None
    begins_anew: bool = False

    @property
    def store(self) -> RunStore:
        """The state folder.

        Raises
        ------
        RunFailed
            Where the pipeline can have none.
        """
        if self.plan.state is None:
            what = "a pipeline file of an HTTP server has no folder next to it for its state"
            raise RunFailed.at(Origin("state", self.plan.name), coded("GE1573", f"{what}.  Name one: state: FOLDER"))
        return RunStore.at(self.plan.state)

    def stage(self, counts: Mapping[str, pa.Table]) -> Sequence[StagedSink]:
        """Stage the state after this run, for the commit of its sinks.

        A run without sinks, such as `run(write=False)`, and one of a part of the pipeline leave the state as it is.
        """
        old = self.plan.remembered
        if old is None or not self.plan.sinks or not self.plan.moves_state:
            return ()
        store, kept = self.store, PipelineState() if self.begins_anew else old
        sources = {**kept.sources, **{name: make(store, counts) for name, make in self.sources.items()}}
        windows = {name: make(store, counts) for name, make in self.windows.items()}
        self.new = old.after(self.run.run_id, time.strftime("%Y-%m-%dT%H:%M:%S%z"), sources, windows, self.plan.name)
        return [store.stage(old, self.new, self.run)]

    def clean(self) -> None:
        """Remove files that the new state does not name; what cannot be removed waits for the next run."""
        if self.new is not None:
            with suppress(OSError):
                self.store.remove_unnamed(self.new)
