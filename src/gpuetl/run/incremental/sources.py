"""What a run reads of all incremental sources of a pipeline, and the state that it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import pyarrow as pa

from gpuetl.errors import RunFailed, system_reason
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.rejected import RejectedRows, without_rejected
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath
from gpuetl.places.target import mark_of
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.incremental import Incremental, NewFiles, Reader, Watermark
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read, Write
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.run.incremental.choice import Choice, Query
from gpuetl.run.incremental.new_files import choose_files
from gpuetl.run.incremental.watermarks import choose_rows
from gpuetl.run.run_state import MakeEntry
from gpuetl.state.pipeline_state import Entry, PipelineState
from gpuetl.state.run_store import RunStore
from gpuetl.state.source_state import FilesState, SourceState, WatermarkState, source_state
from gpuetl.state.taken_files import path_text, to_bytes
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import type_name

REFRESH = "To read everything again: gpuetl run --full-refresh."


@dataclass(frozen=True)
class ChosenSources:
    """What a run reads of incremental sources.

    Parameters
    ----------
    plan
        The plan, which reads no more than that.
    choices
        What was chosen, by source.
    """

    plan: Plan
    choices: Mapping[str, Choice]

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to ask the engine."""
        return all(choice.is_complete for choice in self.choices.values())

    @property
    def has_new(self) -> bool:
        """Whether any source has something to read."""
        return any(choice.selection.has_new for choice in self.choices.values())

    @property
    def idle(self) -> frozenset[str]:
        """The sources that have nothing to read."""
        return frozenset(name for name, choice in self.choices.items() if not choice.selection.has_new)

    @property
    def entries(self) -> dict[str, MakeEntry]:
        """What makes the entries of the state after the run.

        Only sources that sinks read have one: rows that were only looked at are read again.
        """
        moved = {name: choice for name, choice in self.choices.items() if self.plan.incremental[name].sinks}
        return {name: partial(make_entry, choice) for name, choice in moved.items() if choice.state is not None}


def make_entry(choice: Choice, store: RunStore, counts: Mapping[str, pa.Table]) -> Entry:
    """Write the list of files that a run reads of a source, and return the source's entry in the state.

    Raises
    ------
    RunFailed
        Where the state folder does not take the file.
    """
    assert choice.state is not None
    if choice.entries is not None:
        label, table = choice.entries
        try:
            store.files.write(label, to_bytes(table))
        except OSError as error:
            what = f"cannot write to {store.path}: {system_reason(error)}"
            raise store.failed(coded("GE1573", what)) from error
    return choice.state.to_json()


def choose_sources(plan: Plan, reader: Reader, query: Query | None = None) -> ChosenSources | None:
    """Return what a run of a plan reads of its incremental sources; None for a plan without such.

    Without a `query`, what metadata of files leaves open stays open: see `ChosenSources.is_complete`.

    Raises
    ------
    RunFailed
        For a state of another source, a file that has changed since it was read, and rows that came too late, as the
        sources say.
    """
    reads = {name: read for name, read in reads_of(plan).items() if name in plan.incremental}
    if not reads or plan.selections:
        return None
    if plan.state is None:
        name = next(iter(reads))
        message = coded("GE1541", "is incremental, and there is no place for the state of the pipeline")
        raise RunFailed.at(Origin("source", name), message, "Name a folder, or a prefix of a store: state: PATH.")
    if plan.moves_state:
        refuse_some_sinks(plan, reads)
    store = RunStore.at(plan.state)
    known = PipelineState() if reader.fresh or plan.remembered is None else plan.remembered
    choices: dict[str, Choice] = {}
    for name, read in reads.items():
        state = checked_state(name, read, plan.incremental, known, reader)
        try:
            choices[name] = choose(read, plan.incremental[name], state, store, reader, query)
        except DatasetError as error:
            raise RunFailed.at(read.origin, str(error), error.hint) from error
    return ChosenSources(applied(plan, choices, reader.run_id), choices)


def choose(
    read: Read, wanted: Incremental, state: SourceState | None, store: RunStore, reader: Reader, query: Query | None
) -> Choice:
    """Return what a run reads of one source."""
    if isinstance(wanted, NewFiles):
        before = state if isinstance(state, FilesState) else FilesState(wanted.path)
        return choose_files(read.dataset, wanted, before, store, reader.root, reader.run_id)
    earlier = state if isinstance(state, WatermarkState) else None
    return choose_rows(read, wanted, earlier, path_text(read.dataset.path, reader.root), query)


def reads_of(plan: Plan) -> dict[str, Read]:
    """Return what reads the sources of files of a plan's run, by name, also where only a quarantine is read."""
    found: dict[str, Read] = {}
    named = {name for node in plan.nodes if isinstance(node, Read) for name in [without_rejected(node.dataset.name)]}
    for name, node in plan.sources.items():
        read = next((one for one in walk_graph(node) if isinstance(one, Read)), None)
        if name in named and read is not None and not isinstance(read.dataset, FrameDataset):
            found[name] = read
    return found


# The state that a source had, held against what the pipeline says now.


def checked_state(
    name: str, read: Read, incremental: Mapping[str, Incremental], before: PipelineState, reader: Reader
) -> SourceState | None:
    """Return the state of a source, None before its first run.

    Raises
    ------
    RunFailed
        For a state that was made for another path, column or type, or for a source of another name.
    """
    wanted, origin = incremental[name], Origin("source", name)
    states = {one: state_of(one, entry) for one, entry in before.sources.items()}
    if name not in states:
        for other, state in states.items():
            if other not in incremental and not differences(state, read, wanted, reader.root):
                message = f"has no state, and the state folder has one of source '{other}', of the same path"
                hint = f"If '{name}' was '{other}' before, call it so again. {REFRESH}"
                raise RunFailed.at(origin, coded("GE1547", message), hint)
        return None
    state = states[name]
    if found := differences(state, read, wanted, reader.root):
        message = f"is not the one for which its state was made: {'; '.join(found)}"
        hint = f"Undo the change, or give the source another name: then all of it is new. {REFRESH}"
        raise RunFailed.at(origin, coded("GE1547", message), hint)
    return state


def state_of(name: str, entry: Entry) -> SourceState:
    """Return a source's state; raise `RunFailed` for one that cannot be used."""
    try:
        return source_state(entry)
    except (KeyError, TypeError, ValueError):
        message = coded("GE1543", "cannot use its state: it is damaged, or of another version of gpuetl")
        raise RunFailed.at(Origin("source", name), message, f"Use the gpuetl that wrote it. {REFRESH}") from None


def differences(state: SourceState, read: Read, wanted: Incremental, root: FilePath) -> list[str]:
    """Say what differs between a source and the one that a state was made for."""
    if isinstance(state, FilesState) != isinstance(wanted, NewFiles):
        kinds = ("new_files", "a watermark")
        was, now = kinds if isinstance(state, FilesState) else kinds[::-1]
        return [f"it was read by {was}, and now by {now}"]
    path = wanted.path if isinstance(wanted, NewFiles) else path_text(read.dataset.path, root)
    pairs = [("path", state.path, path)]
    if isinstance(state, WatermarkState) and isinstance(wanted, Watermark):
        pairs.append(("watermark", state.column, wanted.column))
        pairs.append((f"type of {wanted.column}", type_name(state.dtype), type_name(wanted.dtype)))
    return [f"{what} was {was}, and is {now}" for what, was, now in pairs if was != now]


def refuse_some_sinks(plan: Plan, reads: Iterable[str]) -> None:
    """Refuse a run that writes only some of the sinks that read a source: the others would never get the rows."""
    for name in reads:
        readers = plan.incremental[name].sinks
        missing = sorted(readers - plan.sinks.keys())
        if missing and readers & plan.sinks.keys():
            message = f"is incremental, and this run leaves out sink '{missing[0]}', which reads it, too"
            hint = "Run all of its sinks, or none: rows count as read when sinks are written."
            raise RunFailed.at(Origin("source", name), coded("GE1541", message), hint)


# The plan that reads only what was chosen.


def applied(plan: Plan, choices: Mapping[str, Choice], run_id: str) -> Plan:
    """Return the plan that reads only what was chosen.

    The files of sinks that append are those of one run, so that no later one takes them for its own.
    """

    def rule(node: Node) -> Node:
        if isinstance(node, Read):
            return chosen_rows(node, choices)
        if (
            isinstance(node, Write)
            and node.target.mark
            and not node.target.run_key
            and incremental_below(node, choices)
        ):
            return replace(node, target=replace(node.target, mark=mark_of("incremental", node.target.mark, run_id)))
        return node

    selections = {name: choice.selection for name, choice in choices.items()}
    return replace(plan.rewrite_all(rule), selections=selections)


def chosen_rows(read: Read, choices: Mapping[str, Choice]) -> Node:
    """Return what reads the chosen rows of a source, or of its quarantine."""
    name = without_rejected(read.dataset.name)
    if name not in choices:
        return read
    choice = choices[name]
    if isinstance(read.dataset, RejectedRows):
        return replace(read, dataset=replace(read.dataset, source=choice.dataset))
    node = replace(read, dataset=choice.dataset)
    return choice.bounds.applied(node) if choice.bounds else node


def incremental_below(node: Node, names: Iterable[str]) -> frozenset[str]:
    """Return the incremental sources, of some, whose rows or rejected rows a node is made of."""
    read = {without_rejected(one.dataset.name) for one in walk_graph(node) if isinstance(one, Read)}
    return frozenset(read.intersection(names))


def next_run(plan: Plan, root: FilePath) -> Plan:
    """Return the plan of the next run, as far as metadata of files tells what it reads; the state stays as it is.

    Raises
    ------
    RunFailed
        As `choose_sources` does.
    """
    chosen = choose_sources(plan, Reader(root, "plan"))
    return plan if chosen is None else chosen.plan


def without_idle(plan: Plan, idle: frozenset[str]) -> tuple[Plan, list[str]]:
    """Return the plan without the sinks and rules for which all incremental sources have nothing new, and notes.

    A sink that overwrites its target would empty it, and a rule that wants rows would fail.
    """
    names = frozenset(plan.incremental)

    def is_idle(node: Node) -> bool:
        read = incremental_below(node, names)
        return bool(read) and read <= idle

    left = [name for name, node in plan.sinks.items() if is_idle(node)]
    counts = {name for name, node in plan.checks.items() if is_idle(node)}
    notes = [f"sink '{name}' was left as it is: its incremental sources have nothing new" for name in left]
    kept = replace(
        plan,
        sinks={name: node for name, node in plan.sinks.items() if name not in left},
        checks={name: node for name, node in plan.checks.items() if name not in counts},
        rules=tuple(rule for rule in plan.rules if rule.counts not in counts),
    )
    return kept, notes
