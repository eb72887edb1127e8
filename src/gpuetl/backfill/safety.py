"""What runs of several values would take from each other: their sinks, and the state of the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gpuetl.errors import InvalidPipeline, Problem
from gpuetl.messages import coded
from gpuetl.places.target import Target
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import KeptWindow, Write
from gpuetl.plan.plan import Plan

MOST_PLANNED = 366
"""Values whose sinks are looked at; others have paths that differ in the same way."""


def refuse_losses(name: str, texts: Sequence[str], planned: Callable[[str], Plan], parallel: int) -> list[str]:
    """Refuse a backfill whose runs would take rows from each other; return what to warn of.

    `planned` gives the plan for the text of a value.

    Raises
    ------
    InvalidPipeline
        With all sinks of which only the last value's rows would be left, and for state that one run at a time may
        change.
    """
    plans = {text: planned(text) for text in texts[:MOST_PLANNED]}
    problems, warnings = list[Problem](), list[str]()
    has_state = any(map(keeps_state, plans.values()))
    for sink in next(iter(plans.values())).sinks if plans else ():
        targets = {text: target_of(plan, sink) for text, plan in plans.items()}
        first = next(iter(targets.values()))
        if pair := next(same_place(targets), None):
            problems.append(lost_rows(name, first, pair))
        elif first.mode == "append" and not first.run_key and not any(plan.incremental for plan in plans.values()):
            again = f"a value that runs twice would have its rows twice.  Give it run_key: [{name}]"
            warnings.append(f"sink '{sink}' appends without run_key: {again}")
    if parallel > 1 and has_state:
        message = f"the pipeline keeps state from run to run, and --parallel {parallel} runs several at once"
        problems.append(Problem(coded("GE1571", message), "Leave out --parallel: values then run in their order."))
    if problems:
        raise InvalidPipeline(problems)
    return warnings


def keeps_state(plan: Plan) -> bool:
    """Tell whether a run leaves something for the next one: what sources have given, or windows."""
    return bool(plan.incremental) or any(isinstance(node, KeptWindow) for node in walk_graph(*plan.stages.values()))


def target_of(plan: Plan, sink: str) -> Target:
    """Return the target of a sink."""
    write = plan.sinks[sink]
    assert isinstance(write, Write)
    return write.target


def same_place(targets: dict[str, Target]) -> Iterator[tuple[str, str]]:
    """Yield two values of which the second run replaces, or refuses, what the first one has written."""
    seen = dict[tuple[str, str], str]()
    for text, target in targets.items():
        if target.mode in ("replace_partitions", "upsert") or (target.mode == "append" and not target.run_key):
            continue
        place = str(target.path), target.mark
        if place in seen:
            yield seen[place], text
        seen[place] = text


def lost_rows(name: str, target: Target, pair: tuple[str, str]) -> Problem:
    """Word that only one run's rows would be left."""
    first, second = pair
    if target.run_key:
        key = ", ".join(target.run_key)
        what = (
            f"has the run_key {key} for every value of '{name}': the run of {second} would replace the rows of {first}"
        )
        return Problem(coded("GE1571", f"sink '{target.name}' {what}"), f"Add {name} to its run_key.")
    does = "would fail, since its target exists" if target.mode == "error" else f"would replace the rows of {first}"
    what = f"writes {target.path} for {first} and for {second} (mode: {target.mode}): the run of {second} {does}"
    ways = f"mode: append with run_key: [{name}], mode: replace_partitions, or mode: upsert"
    hint = f"Put ${{params.{name}}} into its path, or use {ways}."
    return Problem(coded("GE1571", f"sink '{target.name}' {what}"), hint)
