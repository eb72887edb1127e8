"""What a run would compute, from metadata alone: `gpuetl plan`, and `Pipeline.explain`."""

from __future__ import annotations

from gpuetl.places.paths import FilePath
from gpuetl.plan.plan import Plan
from gpuetl.run.selection import Selection
from gpuetl.spec.model import PipelineSpec


def chosen_part(bound: Plan, spec: PipelineSpec, part: Selection) -> Plan:
    """Return the plan of a part of a pipeline, or of all of it; raise `InvalidPipeline` as `Selection.of` does."""
    return part.of(bound, spec, None, write=True) if part.is_partial else bound.with_results()


def as_it_would_run(
    chosen: Plan, bound: Plan, spec: PipelineSpec, root: FilePath, resume: bool
) -> tuple[Plan, list[str]]:
    """Return the plan of the next run, which reads what is new and, to `resume`, checkpoints; and what to say of it.

    It stands in `chosen.pointing()`.
    """
    notes = [note for note in chosen.notes if note not in bound.notes]
    plan = chosen
    if plan.incremental:
        from gpuetl.run.incremental.sources import next_run

        plan = next_run(plan, root)
    if resume:
        from gpuetl.run.checkpoints import resumed

        plan, checkpoints = resumed(plan, spec)
        notes += checkpoints
    return plan, [*notes, *(f"next run, {selection.note}" for selection in plan.selections.values())]
