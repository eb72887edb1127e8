"""The steps fit and apply: features whose numbers come from the data."""

from __future__ import annotations

from dataclasses import field, replace
from typing import ClassVar

from gpuetl.errors import Place, Problems
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import NAME
from gpuetl.spec.steps.fit.fitted import Fitted, columns_read
from gpuetl.spec.steps.fit.table import TRANSFORM_LIST
from gpuetl.spec.steps.fit.transform import Statistics, Transform
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.spec.values import Text, node_of
from gpuetl.telemetry.origin import Origin


@dataclass
class StepProblems(Problems):
    """The problems of a step that come from nodes of another origin: they are those of the step."""

    whole: Problems = field(default_factory=Problems)
    within: str = ""

    @classmethod
    def of(cls, context: Context) -> StepProblems:
        """Return the problems of a step, kept with all others of the file."""
        whole = context.problems
        return cls(whole.found, whole.warnings, whole=whole, within=str(context.origin))

    def add(self, message: str, hint: str = "", place: Place | None = None, within: str = "") -> None:
        """Keep one problem as one of the step."""
        self.whole.add(message, hint, place, self.within)

    def warn(self, message: str, hint: str = "", place: Place | None = None, within: str = "") -> None:
        """Keep one warning as one of the step."""
        self.whole.warn(message, hint, place, self.within)


@dataclass(frozen=True)
class Fit(Step):
    """Learn from the rows, and transform them: `fit: {transforms: [{normalise: age}, {categorify: city}]}`.

    Transforms run one after the other, and each sees the columns that those before it have made. `columns: [a, b]`
    replaces columns. `columns: {new: old}` adds them. `save: PATH` writes what was learned to a folder, in the commit
    of the sinks. An `apply` step transforms other rows in the same way: rows of another stage, or those of a later run.

    | transform | result |
    |---|---|
    | `fill: {columns: …, with: median}` | nulls replaced by mean, median, min, max or mode |
    | `clip: {columns: …, lower: 0, upper_quantile: 0.99}` | values moved to the nearest bound |
    | `log: …` | `log1p(x)` |
    | `normalise: …` | `(x - mean) / standard deviation` |
    | `min_max: …` | 0 for the least value, 1 for the greatest |
    | `bucketise: {columns: …, buckets: 10}` | the number of the bucket, by quantiles or `boundaries` |
    | `categorify: {columns: …, min_count: 10}` | 0 for null, 1 for unknown, then values by frequency |
    | `target_encode: {columns: …, target: clicked}` | the smoothed mean of the target, out of fold |
    | `one_hot: {column: …, values: […]}` | a column of 0 and 1 for each value |
    | `cross: {columns: […], buckets: n, name: …}` | a hash of several columns, from 0 to n - 1 |
    """

    verb: ClassVar[str] = "fit"
    main: ClassVar[str] = "transforms"
    transforms: tuple[Transform, ...] = key(TRANSFORM_LIST, doc="what to learn and compute, in this order")
    save: str | None = key(NAME, None, doc="the folder to which a run writes what it has learned")

    def build(self, context: Context, source: Node) -> Node:
        """Plan the statistics of each transform, and transform the rows by them."""
        learned: list[Statistics] = []
        learning = replace(context, origin=Origin("statistics", context.origin.name), problems=StepProblems.of(context))
        node = source
        for transform in self.transforms:
            statistics = transform.statistics(learning, node)
            learned.append(statistics)
            node = transform.trained(context, node, statistics)
        name = context.origin.name
        fitted = Fitted(self.transforms, tuple(learned), columns_read(self.transforms, source), f"stage '{name}'")
        assert context.fits is not None
        if context.fits.of_stage(name) is not None:
            message = coded("GE1882", f"stage '{name}' has two fit steps")
            context.problem(message, "Put all transforms into one, or make a second stage.", self.save)
            return node
        context.fits.keep(name, fitted, Text(self.save, node_of(self.save)) if self.save is not None else None)
        return node


@dataclass(frozen=True)
class Apply(Step):
    """Transform rows as a `fit` step did: `apply: {fit: train}`, or `apply: {load: models/features}`.

    `fit` names the stage that has the `fit` step. `load` names the folder that its `save` wrote. The columns that the
    transforms read must have the types that they had there. The target of `target_encode` need not be there.
    """

    verb: ClassVar[str] = "apply"
    fit: str | None = key(NAME, None, doc="the stage that has the fit step")
    load: str | None = key(NAME, None, doc="the folder that a fit step saved")

    @property
    def reads(self) -> tuple[str, ...]:
        """The stage that learns."""
        return () if self.fit is None else (self.fit,)

    def build(self, context: Context, source: Node) -> Node:
        """Apply the transforms of the stage or of the folder."""
        at = self.load if self.fit is None else self.fit
        if (self.fit is None) == (self.load is None):
            message = coded("GE1882", "apply takes either fit or load")
            context.problem(message, "Write apply: {fit: STAGE}, or apply: {load: FOLDER}.", at)
            return Unknown(source=source, columns={}, origin=context.origin)
        fitted = self.fitted(context)
        if fitted is None:
            return Unknown(source=source, columns={}, origin=context.origin)
        return fitted.applied(context, source, at)

    def fitted(self, context: Context) -> Fitted | None:
        """Return what was learned; None where that is not known, which is reported unless it cannot be known yet."""
        assert context.fits is not None
        if self.load is not None:
            return context.fits.load(context, Text(self.load, node_of(self.load)))
        assert self.fit is not None
        context.relation(self.fit)
        fitted = context.fits.of_stage(str(self.fit))
        if fitted is None and not context.problems.found:
            message = coded("GE1882", f"'{self.fit}' has no fit step")
            context.problem(message, "Name a stage that has one, or load a folder that one saved.", self.fit)
        return fitted
