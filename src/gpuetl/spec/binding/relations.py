"""The relations of a pipeline by their names: sources, stages, and the rows that they put in quarantine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property, partial
from graphlib import CycleError, TopologicalSorter

from gpuetl.errors import have_hint, listing
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.rejected import without_rejected
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.binding.paths import PathBinder
from gpuetl.spec.binding.reporter import Reporter
from gpuetl.spec.fit_artefacts import FitArtefacts
from gpuetl.spec.model import PipelineSpec
from gpuetl.spec.places import node_in
from gpuetl.spec.steps import Context
from gpuetl.telemetry.origin import Origin
from gpuetl.types.schema import Schema


@dataclass
class Relations:
    """The relations that are bound so far, and the uses of names that are none."""

    spec: PipelineSpec
    paths: PathBinder
    reporter: Reporter
    nodes: dict[str, Node] = field(default_factory=dict)
    datasets: list[Dataset] = field(default_factory=list)
    unknown: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def named(self, name: str, kind: str, of: str) -> Node:
        """Return the relation that a stage, join or sink names."""
        if name in self.nodes:
            return self.nodes[name]
        owner = without_rejected(name)
        if owner in self.spec.unreadable:
            return Unread()
        if name != owner and owner in self.nodes:
            source = owner in self.spec.sources
            how = (
                f"Set on_bad_row: quarantine on source '{owner}'"
                if source
                else "Give one of its rules on_fail: quarantine"
            )
            message = coded("GE1603", f"'{owner}' puts no rows in quarantine, so there is no '{name}'")
            self.reporter.add(message, f"{how}, or read '{owner}'.", name, kind, of)
        else:
            self.unknown.setdefault(str(name), []).append((kind, of, name))
        return Unread()

    def report_unknown(self) -> None:
        """Report each source or stage that does not exist once, where the file names it first."""
        have = [*self.nodes, *self.spec.sources, *self.spec.stages]  # with what rules put in quarantine
        for name, uses in self.unknown.items():
            places = {(place.line, place.column): use for use in uses if (place := self.reporter.place_of(use[2]))}
            kind, of, at = places[min(places)] if places else uses[0]
            lines = sorted({line for line, _ in places})[1:]
            listed = listing([*map(str, lines)])
            also = f" It is named on line{'s' * (len(lines) > 1)} {listed}, too." if lines else ""
            listed = have_hint(name, have, noun="Sources and stages") if self.reporter.problems.hints_names else ""
            hint = (listed + also).strip()
            self.reporter.add(coded("GE1020", f"unknown source or stage '{name}'"), hint, at, kind, of)

    def context(self, origin: Origin) -> Context:
        """Return what a step, source or sink is bound with."""
        relation = partial(self.named, kind=origin.kind, of=origin.name)
        node = node_in(self.spec, origin)
        return Context(
            origin,
            self.reporter.problems,
            self.paths.parameters,
            relation,
            self.paths.folder,
            self.undeclared,
            node,
            self.paths.run_id,
            self.fits,
        )

    @cached_property
    def fits(self) -> FitArtefacts:
        """What the fit steps of the stages learn."""
        return FitArtefacts(
            lambda of, text, reads: self.paths.path("stage", of, text, reads),
            self.paths.run_id,
            self.paths.looks_at_files,
        )

    def undeclared(self, name: str) -> str:
        """Tell how to declare a column that folders of a source have, if any does."""
        from gpuetl.formats.overlooked import declaring_hint

        return declaring_hint(name, self.datasets)

    def stages_in_order(self) -> tuple[str, ...]:
        """Return the stages, each after those that it reads; one of a circle stays unread, so that it is told once."""
        stages = self.spec.stages.keys() - self.spec.sources.keys()
        reads = {
            name: [n for n in map(without_rejected, stage.reads) if n in stages]
            for name, stage in self.spec.stages.items()
        }
        while True:
            try:
                return tuple(name for name in TopologicalSorter(reads).static_order() if name not in self.nodes)
            except CycleError as error:
                first, chain = from_first(error.args[1][:0:-1], list(reads))
                message = coded("GE1014", f"the stages go in a circle: {' → '.join(shortened(chain))}")
                own = "A stage cannot read its own rows, or those that it rejects."
                hint = own if len(set(chain)) == 1 else "Begin one of them with a source."
                self.reporter.add(message, hint, self.spec.stages[first].from_, "stage", first)
                self.nodes[first], reads[first] = Unread(origin=Origin("stage", first)), []


@dataclass(frozen=True, eq=False, kw_only=True)
class Unread(Node):
    """Stands for a source or stage that is wrong, or whose files are not known yet: it may have any column."""

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return no column, and any other."""
        return Schema(open=True)

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """It reads nothing."""
        return ()


def from_first(circle: Sequence[str], names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the name of a circle that is written first, and the circle from there back to it."""
    start = circle.index(min(circle, key=names.index))
    first = circle[start]
    return first, [*circle[start:], *circle[:start], first]


def shortened(chain: list[str], length: int = 12) -> list[str]:
    """Leave out the middle of a long chain."""
    return chain if len(chain) <= length else [*chain[: length // 2], "…", *chain[-length // 2 :]]
