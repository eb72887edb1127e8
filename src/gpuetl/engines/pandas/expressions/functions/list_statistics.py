"""Statistics of lists: the handlers of aggregates over the elements, each list a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import over_columns
from gpuetl.engines.pandas.columns.keys import Groups
from gpuetl.engines.pandas.columns.lists import Elements
from gpuetl.expressions.functions.list_statistics import AGGREGATES, ELEMENT, OF_AGGREGATES
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.plan.nodes import Aggregate
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64


@dataclass(frozen=True)
class ElementCalls:
    """What stands for an aggregate over elements: its calls."""

    calls: dict[str, Call]


def statistic(name: str) -> Callable[..., Any]:
    """Return the handler of an aggregate of the elements of lists."""

    def handler(lists: Any, *constants: Any) -> Any:
        literals = [Literal(constant.as_py(), FLOAT64) for constant in constants]
        return over_columns(lambda column: aggregated(name, Elements.of(column), literals), lists)

    return handler


def aggregated(name: str, elements: Elements, constants: list[Literal]) -> Any:
    """Return the aggregate of each list; null of a null list."""
    from gpuetl.engines.pandas.relational.aggregate import AGGREGATES as HANDLERS  # which imports expressions
    from gpuetl.engines.pandas.relational.grouping import GroupedRows

    values = elements.values
    args: tuple[Expr, ...] = (Column(ELEMENT, values.type), *constants)
    call = Call(AGGREGATES[name], args, AGGREGATES[name].rule(args)[1])
    groups = Groups(elements.rows, np.zeros(elements.count, np.int64))
    operation = cast("Aggregate", ElementCalls({"": call}))
    found = HANDLERS[name](GroupedRows(operation, pa.table({ELEMENT: values}), groups), call)
    return pc.if_else(pa.array(elements.valid), found, pa.scalar(None, found.type))


HANDLERS: dict[str, Callable[..., Any]] = {name: statistic(aggregate) for name, aggregate in OF_AGGREGATES.items()}
