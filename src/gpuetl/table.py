"""`Table`: a source or a sequence of steps under construction, in Python.  Immutable and lazy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Never

from gpuetl.errors import InvalidPipeline, UnknownMethod
from gpuetl.expressions.syntax import StageName, parts
from gpuetl.formats.rejected import REJECTED
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.sink_methods import SinkMethods
from gpuetl.spec import steps as verbs
from gpuetl.spec.expect.rules import Rule
from gpuetl.spec.fields import check_keys, read_plain, with_parameters
from gpuetl.spec.forms import BOOLEAN
from gpuetl.spec.places import caller
from gpuetl.spec.steps.scalar import scalars_in
from gpuetl.spec.synonyms import word_suggestion
from gpuetl.spec.values import Located, Text
from gpuetl.table_kernels import TableKernels
from gpuetl.table_results import TableResults
from gpuetl.table_steps import TableSteps

if TYPE_CHECKING:
    from gpuetl.pipeline import Pipeline

METHODS = (
    *verbs.STEPS, "scalar", "group_by", "pipe", "expect", "stage", "rejected", "write_parquet", "write_csv",
    *(name for name in vars(TableResults) if not name.startswith("_")),
)  # fmt: skip
"""What a misspelt method may stand for."""


@dataclass(frozen=True, eq=False, repr=False)
class Table(TableSteps, TableKernels, SinkMethods, TableResults):
    """Rows to come: those of `origin`, a source or stage of `pipeline`, after `steps`.

    Every method returns a new table and leaves this one as it is.  Names, types and expressions are checked when the
    pipeline is planned or run, all at once.
    """

    pipeline: Pipeline
    origin: str
    steps: tuple[verbs.Step, ...] = ()
    expectations: tuple[Rule, ...] = ()
    nodes: tuple[Located | None, ...] = field(default=(), repr=False)
    """Where the steps stand in the user's script."""

    if not TYPE_CHECKING:  # to a type checker, what is not here is an error

        def __getattr__(self, name: str) -> Never:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnknownMethod("a table", name, word_suggestion(name, METHODS))

    def step(self, step: verbs.Step) -> Table:
        """Add a step of the language; raise `InvalidPipeline` where a key does not take its value."""
        step = with_parameters(step, step.verb)
        check_keys(step, step.verb)
        self._check_scalars(step)
        if self.expectations:  # a stage ends with what is expected of it
            return Table(self.pipeline, self.named()).step(step)
        return replace(self, steps=(*self.steps, step), nodes=(*self.nodes, caller()))

    @property
    def rejected(self) -> Table:
        """The rows that the rules of this stage, or the reading of this source, have put in quarantine."""
        if self.steps or self.expectations:
            message = coded("GE1603", "only a stage has rejected rows")
            raise InvalidPipeline.because(message, "Name it: table.stage('name').rejected.")
        return Table(self.pipeline, f"{self.origin}{REJECTED}")

    def stage(self, name: str, *, checkpoint: bool = False) -> Table:
        """Give the steps so far a name: a stage of the pipeline, from which other tables may begin.

        With `checkpoint`, runs keep its rows in the state folder, and `run(resume=True)` reads them.
        """
        is_kept = read_plain(BOOLEAN, checkpoint, f"stage '{name}': checkpoint")
        self.pipeline.add_stage(name, self.origin, self.steps, self.expectations, self.nodes, is_kept)
        return Table(self.pipeline, name)

    def named(self) -> Text:
        """Return the name of this source or stage; steps that have none are given one."""
        if not self.steps and not self.expectations:
            return Text(self.origin)
        return Text(self.pipeline.add_unnamed(self.origin, self.steps, self.expectations, self.nodes))

    def _beside(self, verb: str, other: Any) -> Text:
        """Return the name of another table for a step; raise `InvalidPipeline` unless it is one of this pipeline."""
        if not isinstance(other, Table):
            hint = "pipeline.table('name') is the table of a source or stage."
            message = coded("GE3008", f"takes a table, got {type(other).__name__}")
            raise InvalidPipeline.because(message, hint, verb)
        if other.pipeline is not self.pipeline:
            message = coded("GE3008", f"'{other.origin}' belongs to pipeline '{other.pipeline.spec.name}'")
            raise InvalidPipeline.because(message, "Declare its source in this pipeline.", verb)
        return other.named()

    def _check_scalars(self, step: verbs.Step) -> None:
        """Raise `InvalidPipeline` for the value of another pipeline's table in a step."""
        for use in scalars_in(step):
            for part in parts(use.written):
                if isinstance(part, StageName) and part.pipeline is not self.pipeline:
                    message = coded("GE3008", f"'{part.name}' belongs to pipeline '{part.pipeline.spec.name}'")
                    raise InvalidPipeline.because(message, "Declare its source in this pipeline.", step.verb)

    def _sink(self, name: str, format: str, path: str | os.PathLike[str], keys: Mapping[str, Any]) -> None:  # noqa: A002
        self.pipeline.add_sink(name, format, os.fspath(path), self.named(), **keys)
