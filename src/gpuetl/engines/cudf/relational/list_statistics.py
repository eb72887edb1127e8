"""Aggregates of the elements of lists: each list is a group of rows that are in order."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.list_statistics import COMPUTED
from gpuetl.engines.cudf.codegen.nested_columns import as_column, element_rows, gathered_lists
from gpuetl.engines.cudf.columns.arrays import converted
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.validity import null_where_any
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.relational.aggregate_reduction import reduced
from gpuetl.engines.cudf.relational.aggregate_states import has_state
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.sorted_aggregates import mad, median, quantile
from gpuetl.engines.cudf.relational.value_counts import DISTRIBUTIONS
from gpuetl.expressions.functions.list_statistics import AGGREGATES, ELEMENT, OF_AGGREGATES
from gpuetl.expressions.ir import Call, Column, Literal

SORTED = {"median": median, "quantile": quantile, "mad": mad, **DISTRIBUTIONS}


def statistic(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Return the aggregate of the elements of each list; null of a null list."""
    lists = gathered_lists(as_column(arguments[0], rows, machine), machine)
    elements = lists.elements
    assert elements is not None
    starts, codes = converted(lists.required_offsets, "int64", machine), element_rows(lists, machine)
    groups = Groups(Frame({ELEMENT: elements}, elements.rows), None, starts, machine, _cache={"codes": codes})
    function = AGGREGATES[OF_AGGREGATES[call.function.name]]
    constants = tuple(each for each in arguments[1:] if isinstance(each, Literal))
    own = Call(function, (Column(ELEMENT, elements.dtype), *constants), call.dtype)
    if has_state(own):
        (found,) = reduced(groups, {"": own}).values()
    else:
        found = SORTED[function.name](groups, own)
    return null_where_any(found, [found, lists], machine)


COMPUTED.update(dict.fromkeys(OF_AGGREGATES, statistic))
