"""What a `fit` step has learned, as plans: transforms with the relations of their statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.steps.fit.transform import Statistics, Transform
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import Text
from gpuetl.types.data_types import UNKNOWN, DataType, type_name


@dataclass(frozen=True, eq=False)
class Fitted:
    """Transforms, what each has learned, and the types of the columns that they read of their input.

    `of` is what messages call it: a stage, or the folder that it was read from.
    """

    transforms: tuple[Transform, ...]
    statistics: tuple[Statistics, ...]
    columns: Mapping[str, DataType]
    of: str

    def applied(self, context: Context, source: Node, at: object) -> Node:
        """Return rows transformed, one transform after the other; problems where their columns have other types."""
        for name, dtype in self.columns.items():
            own = source.schema.get(name, UNKNOWN)
            if UNKNOWN not in (own, dtype) and own != dtype:
                message = coded("GE1881", f"'{name}' is {type_name(own)}, and was {type_name(dtype)} in {self.of}")
                context.problem(message, f"Cast it to {type_name(dtype)} in a step before.", at)
        for transform, statistics in zip(self.transforms, self.statistics, strict=True):
            source = transform.applied(context, source, statistics)
        return source


class Fits(Protocol):
    """The fits of a pipeline: those of its stages, and artefacts in files."""

    def keep(self, stage: str, fitted: Fitted, save: Text | None) -> None:
        """Remember what a stage learns; `save` is the folder to which a run writes it."""

    def of_stage(self, stage: str) -> Fitted | None:
        """Return what a stage has learned; None where it has no `fit` step."""

    def load(self, context: Context, path: Text) -> Fitted | None:
        """Return what a folder has; None where that cannot be read, which is reported, or is not known yet."""


def columns_read(transforms: tuple[Transform, ...], source: Node) -> dict[str, DataType]:
    """Return the types of the columns of the input that transforms read."""
    return {
        name: source.schema[name]
        for transform in transforms
        for name in transform.read_columns
        if name in source.schema
    }
