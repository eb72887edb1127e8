"""The columns of a table under construction, which selectors look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuetl.errors import Problems
from gpuetl.formats.rejected import without_rejected
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.model import StageSpec
from gpuetl.spec.values import Text
from gpuetl.types.schema import Schema

if TYPE_CHECKING:
    from gpuetl.table import Table


def schema_of(table: Table) -> Schema:
    """Return the columns and types of a table; of files, metadata alone is read.

    Raises
    ------
    InvalidPipeline
        With everything that is wrong with what the table reads.
    """
    spec, name = table.pipeline.spec, table.origin
    stages: dict[str, StageSpec] = dict(spec.stages)
    if table.steps:
        name = "selected:columns"
        stages[name] = StageSpec(Text(table.origin), table.steps, (), table.nodes)
    needed = set(ancestors(stages, without_rejected(name)))
    alone = replace(
        spec,
        sources={source: one for source, one in spec.sources.items() if source in needed},
        stages={stage: one for stage, one in stages.items() if stage in needed},
        sinks={},
        tests=(),
    )
    plan = PipelineDefinition.from_spec(alone, table.pipeline.root, Problems()).plan(unbound=True)
    return {**plan.sources, **plan.stages, **plan.rejected}[name].schema


def ancestors(stages: Mapping[str, StageSpec], name: str) -> Iterator[str]:
    """Yield a relation, and all that it reads at any remove."""
    seen, todo = {name}, [name]
    while todo:
        found = todo.pop()
        yield found
        for read in (without_rejected(read) for read in (stages[found].reads if found in stages else ())):
            if read not in seen:
                seen.add(read)
                todo.append(read)
