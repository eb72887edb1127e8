"""The incremental sources of one run: what it reads is chosen before, and counts as read when its sinks commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from gpuetl.engines.capacity import Capacity
from gpuetl.errors import RunFailed
from gpuetl.executors.execution import Execution, accept_all, no_state
from gpuetl.messages import coded
from gpuetl.places.paths import StorePath
from gpuetl.places.registry import filesystem_of
from gpuetl.plan.incremental import Reader, Selection
from gpuetl.plan.nodes import Write
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.run.planning import fitted_plan, lowered_again
from gpuetl.run.run_state import MakeEntry
from gpuetl.state.run_store import share_a_commit
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder

if TYPE_CHECKING:
    from gpuetl.run.incremental.choice import Query
    from gpuetl.run.incremental.sources import ChosenSources


@dataclass
class SourceRun:
    """The incremental sources of one run.

    `bound` is the plan as it is bound, and `plan` the one that reads only what is new, without sinks for which there is
    nothing.
    """

    bound: Plan
    reader: Reader
    recorder: Recorder
    plan: Plan
    chosen: ChosenSources | None = None

    @classmethod
    def begin(cls, plan: Plan, reader: Reader, recorder: Recorder) -> SourceRun:
        """Choose what the run reads, as far as metadata of files tells.

        Raises
        ------
        RunFailed
            For sinks that cannot change together with the state, and as `choose_sources` does.
        """
        own = cls(plan, reader, recorder, plan)
        if plan.incremental:
            if plan.moves_state:
                refuse_sinks(plan)
            if reader.fresh:
                refuse_doubled_rows(plan)
            own.choose()
        return own

    def choose(self, query: Query | None = None) -> None:
        """Choose what the run reads."""
        from gpuetl.run.incremental.sources import choose_sources, without_idle

        self.chosen = chosen = choose_sources(self.bound, self.reader, query)
        self.plan = chosen.plan if chosen else self.bound
        if chosen is not None and not chosen.is_complete:
            return
        for selection in self.selections:
            self.recorder.note(selection.note)
            for warning in selection.warnings:
                self.recorder.warn(warning)
        if chosen is not None and chosen.plan.sinks and chosen.has_new:
            self.plan, notes = without_idle(chosen.plan, chosen.idle)
            for note in notes:
                self.recorder.note(note)

    @property
    def is_open(self) -> bool:
        """Whether something is left to ask the engine."""
        return self.chosen is not None and not self.chosen.is_complete

    def completed(self, execution: Execution, capacity: Capacity) -> Plan:
        """Ask the engine what metadata leaves open; return the plan that reads only what is new."""
        if self.is_open:
            from gpuetl.run.incremental.query import query_on

            self.choose(query_on(partial(answer, execution=execution, capacity=capacity)))
        return self.plan

    @property
    def has_nothing_new(self) -> bool:
        """Whether it is known that the run would write nothing."""
        chosen = self.chosen
        return chosen is not None and bool(self.bound.sinks) and chosen.is_complete and not chosen.has_new

    @property
    def entries(self) -> Mapping[str, MakeEntry]:
        """What makes the entries of the state after the run, by source; see `RunState`."""
        return {} if self.chosen is None else self.chosen.entries

    @property
    def selections(self) -> tuple[Selection, ...]:
        """What the run reads of each source."""
        return tuple(self.plan.selections.values())


def answer(plan: Plan, execution: Execution, capacity: Capacity) -> pa.Table:
    """Return the rows that a plan keeps, computed with what the run computes with."""
    from gpuetl.run.incremental.query import ANSWER

    execution = replace(execution, recorder=Recorder(), seconds={}, accepts=accept_all, stage_state=no_state)
    options, engine = execution.options, execution.engine
    fit, _ = fitted_plan(plan, options, engine, capacity)
    _, found = execution.run_to_fit(fit.plan, partial(lowered_again, plan, options, engine))
    return execution.backend.to_arrow(found.kept[ANSWER])


# Sinks that do not go together with incremental sources.


def refuse_sinks(plan: Plan) -> None:
    """Refuse sinks of incremental sources that do not change together with the state.

    Raises
    ------
    RunFailed
        With the sink, and what to do.
    """
    from gpuetl.run.incremental.sources import incremental_below

    for name, node in plan.sinks.items():
        if not isinstance(node, Write) or plan.state is None or not incremental_below(node, plan.incremental):
            continue
        target = node.target
        if share_a_commit([target.path, plan.state]):
            continue
        if target.mode != "append" and not isinstance(plan.state, StorePath):
            continue  # the state changes last, and a run again writes the same
        message = f"and the state of the pipeline, {plan.state}, are in two stores, which do not change together"
        hint = f"Put the state next to the sink: state: {beside(target.path)}."
        raise RunFailed.at(Origin("sink", name), coded("GE1541", message), hint)


def beside(path: object) -> str:
    """Return an example of a state folder near a sink."""
    return f"{path}".rstrip("/") + "-state"


def refuse_doubled_rows(plan: Plan) -> None:
    """Refuse to read everything again for a sink that appends to rows that are there.

    Raises
    ------
    RunFailed
        With the sink, and what to do.
    """
    from gpuetl.run.incremental.sources import incremental_below

    for name, node in plan.sinks.items():
        if isinstance(node, Write) and node.target.mode == "append" and incremental_below(node, plan.incremental):
            path = node.target.path
            if filesystem_of(path).list_files(path, node.target.suffix).files:
                message = f"appends to {path}, which has rows: --full-refresh would add all rows to them once more"
                hint = "Remove the folder first, or write to another one. To replace all rows, set mode: overwrite."
                raise RunFailed.at(Origin("sink", name), coded("GE1549", message), hint)
