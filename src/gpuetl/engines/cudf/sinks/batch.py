"""The columns of a batch, measured and then encoded: those of one kind together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.sinks.delta import Integers
from gpuetl.engines.cudf.sinks.encoded import Encoded, Encoder
from gpuetl.engines.cudf.sinks.host_texts import HostTexts
from gpuetl.engines.cudf.sinks.levels import BatchLevels, Levels
from gpuetl.engines.cudf.sinks.numbers import Numbers
from gpuetl.engines.cudf.sinks.stack import Column
from gpuetl.engines.cudf.sinks.texts import Codes, Lengths, coded
from gpuetl.engines.cudf.sinks.values import Bits, LongDecimals
from gpuetl.engines.cudf.vector import Vector, storage_type
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, STRING, DataType, is_floating


@dataclass(frozen=True, eq=False)
class MeasuredBatch:
    """What measures the columns of some row groups; each encoder stands beside the names of its columns."""

    levels: BatchLevels
    encoders: Sequence[tuple[Sequence[str], Encoder]]

    @property
    def measures(self) -> list[Array]:
        """All that the host must know."""
        return [self.levels.d_starts, *(measure for _, each in self.encoders for measure in each.measures)]

    def encoded(self, measures: Sequence[np.ndarray[Any, Any]]) -> dict[str, Encoded]:
        """Encode the columns, given the measures."""
        starts, *rest = measures
        self.levels.tell(starts)
        left, found = iter(rest), dict[str, Encoded]()
        for names, each in self.encoders:
            found.update(zip(names, each.encoded([next(left) for _ in each.measures]), strict=True))
        return found


def encoders_of(columns: Mapping[str, Column], machine: Machine) -> list[tuple[list[str], Encoder]]:
    """Return encoders of columns, those of one kind together, and the names of their columns."""
    kinds = defaultdict[tuple[type[Encoder], str], list[str]](list)
    for name, column in columns.items():
        kinds[kind_of(column)].append(name)
    return [(names, kind([columns[name] for name in names], machine)) for (kind, _), names in kinds.items()]


def column_of(vector: Vector, levels: Levels, few: bool, known: HostTexts | None, machine: Machine) -> Column:
    """Return a column as encoders take it; few distinct texts get numbers."""
    if vector.dtype != STRING:
        return Column(vector, None, levels)
    return Column(*coded(vector, few, known, machine), levels)


def kind_of(column: Column) -> tuple[type[Encoder], str]:
    """Return what encodes a column, and the type of those that are encoded together."""
    dtype = column.vector.dtype
    if dtype == STRING:
        return (Lengths if column.texts is None else Codes), ""
    return encoder_class(dtype), storage_type(dtype)


def encoder_class(dtype: DataType) -> type[Encoder]:
    """Return what encodes a type of fixed width."""
    if dtype == BOOL:
        return Bits
    if is_floating(dtype):
        return Numbers
    return LongDecimals if storage_type(dtype) == "V16" else Integers
