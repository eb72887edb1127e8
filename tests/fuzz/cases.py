"""One case: nasty tables, a random pipeline over them, and the relation that is checked beside the comparisons."""

import atexit
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from fuzz.builder import Builder, Relation
from fuzz.data import Source, draw_source
from fuzz.derived_stages import add_stages
from fuzz.draws import Draws, HypothesisDraws
from fuzz.facts import Facts
from fuzz.pipelines import add_steps
from gpuetl import Pipeline
from gpuetl.plan.node import Node

RESULT = "result"
SIZES = (6, 12, 30, 60)
LARGE = 2000


@dataclass(frozen=True, eq=False)
class Case:
    """A pipeline whose stage `result` is compared; `facts` say how far."""

    sources: tuple[Source, ...]
    pipeline: Pipeline
    node: Node
    facts: Facts
    relation: str
    refused: tuple[str, ...]

    def write(self) -> None:
        """Write the sources where the pipeline reads them."""
        assert isinstance(self.pipeline.root, Path)
        for source in self.sources:
            source.write(Path(str(self.pipeline.root)))

    def __repr__(self) -> str:
        tables = "\n".join(
            f"{s.name}: {', '.join(f'{f.name} {f.type}' for f in s.rows.schema)}\n"
            + "\n".join(f"    {tuple(row.values())}" for row in s.rows.slice(0, 40).to_pylist())
            for s in self.sources
        )
        return f"\n{tables}\n{self.pipeline.to_yaml()}checked besides: {self.relation}\n"


@cache
def folder() -> Path:
    """Return this process's folder for sources; it goes when the process ends."""
    made = tempfile.TemporaryDirectory(prefix="gpuetl-fuzz-")
    atexit.register(made.cleanup)
    return Path(made.name)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a case by hypothesis."""
    return drawn_case(HypothesisDraws(draw))


def drawn_case(draws: Draws) -> Case:
    """Draw a case."""
    pipeline = Pipeline("fuzz", root=folder())
    large = draws.chance(2)
    sources = [draw_source(draws, "t", (LARGE,) if large else SIZES)]
    if draws.chance(50):
        sources.append(draw_source(draws, "u", (2,) if large else SIZES[:3]))
    builder = Builder(draws, pipeline)
    relations = [builder.source(source) for source in sources]
    builder.others = other_sides(builder, relations)
    relation = add_steps(builder, relations[0], draws.between(1, 5))
    if not relation.table.steps:
        relation = builder.extended(relation, relation.table.sort(relation.node.schema.names[0]))
    result = builder.named(relation, RESULT)
    return Case(
        tuple(sources), pipeline, result.node, result.facts, add_stages(builder, result), tuple(builder.refused)
    )


def other_sides(builder: Builder, relations: list[Relation]) -> list[Relation]:
    """Return what can be joined: the other source, or a stage of it, or the first source itself."""
    other = relations[-1]
    if builder.draws.chance(30):
        longer = add_steps(builder, other, builder.draws.between(1, 2))
        if longer is not other and not longer.facts.sorted:
            other = builder.named(longer, "side")
    return [other]
