"""How far sums and means of floats may differ: |result − exact| ≤ 4·n·ε·Σ|x| in each group, where both are known.

They are where a stage ends in an aggregate, and only passes its sums and means on: then the oracle computes n and Σ|x|
beside it.  Of sums of distinct values it counts and adds up the distinct |x|: at least half of what there is of x.  ε
is 2^-52; a mean may differ by the n-th part.  (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 4.2: any
order of summation stays within (n − 1)·ε/2·Σ|x|, so two of them, each in its own order, do too.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Aggregate, Filter, Limit, Project, Sort
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64, is_floating
from gpuetl.verify.compare import numbered_names
from gpuetl.verify.keys import names_below

EPSILON = 2.0**-52


@dataclass(frozen=True)
class SumBounds:
    """The relation that has, for each group, n and Σ|x| of the columns named."""

    node: Node
    by: tuple[str, ...]
    calls: Mapping[str, Call]

    def of(self, rows: pa.Table, groups: pa.Table) -> dict[str, Any]:
        """Return the bounds of each column, row by row; NaN where a group is not found (null and NaN meet nothing)."""
        if any(pa.types.is_null(rows.schema.field(name).type) for name in self.by):
            return {}
        if self.by:
            names = dict(zip(self.by, numbered_names(self.by), strict=True))
            keys = rows.select(self.by).rename_columns(list(names.values()))
            keys = keys.append_column("row", pa.array(np.arange(rows.num_rows)))
            groups = groups.rename_columns([names.get(name, name) for name in groups.column_names])
            found = keys.join(groups, list(names.values()), join_type="left outer").sort_by("row")
        else:
            found = groups.take(pa.array(np.zeros(rows.num_rows, np.int64)))
        return {name: bound(call, *(numbers(found[f":{what}:{name}"]) for what in ("n", "abs")))
                for name, call in self.calls.items()}  # fmt: skip


def bound(call: Call, n: Any, magnitude: Any) -> Any:
    """Return how far the results of a sum or mean may differ; distinct |x| count twice, since x and -x may be there."""
    name, distinct = call.function.name, 2.0 if is_of_distinct(call) else 1.0
    return 4.0 * EPSILON * distinct * magnitude * (distinct * n if name.startswith("sum") else 1.0)


def is_of_distinct(call: Call) -> bool:
    """Return whether a sum or mean is that of the distinct values."""
    return call.function.name.endswith("_distinct")


def numbers(column: Any) -> Any:
    """Return a column of numbers as floats, NaN for null."""
    return column.cast(pa.float64()).to_numpy()


def sum_bounds(node: Node) -> SumBounds | None:
    """Return what a stage's sums may differ by, where the stage passes them on, with the keys of their groups."""
    names = {name: name for name in node.schema}
    while isinstance(node, Filter | Project | Sort | Limit):
        names = names_below(node, names)
        node = node.source
    if not isinstance(node, Aggregate) or not names.keys() >= set(node.by):
        return None
    sums = {names[name]: call for name, call in node.calls.items() if name in names and sums_floats(call)}
    by = {names[name]: name for name in node.by}
    return SumBounds(magnitudes(node, by, sums), tuple(by), sums) if sums else None


def sums_floats(call: Call) -> bool:
    """Return whether a call is the sum or mean of a column of floats."""
    sums = ("sum", "mean", "sum_distinct", "mean_distinct")
    return call.function.name in sums and len(call.args) == 1 and is_floating(call.args[0].dtype)


def magnitudes(aggregate: Aggregate, by: Mapping[str, str], sums: Mapping[str, Call]) -> Node:
    """Return the relation of n and Σ|x|, with the keys under their names in the stage."""
    dtypes = aggregate.source.schema
    absolute: dict[str, Expr] = {
        f":{name}": Call(FUNCTIONS["scalar", "abs"], call.args, call.args[0].dtype) for name, call in sums.items()
    }
    keys: dict[str, Expr] = {name: Column(source, dtypes[source]) for name, source in by.items()}
    calls: dict[str, Call] = {}
    for name, call in sums.items():
        argument = (Column(f":{name}", call.args[0].dtype),)
        total, count = ("sum_distinct", "count_distinct") if is_of_distinct(call) else ("sum", "count")
        calls[f":abs:{name}"] = Call(FUNCTIONS["aggregate", total], argument, call.dtype)
        calls[f":n:{name}"] = Call(FUNCTIONS["aggregate", count], argument, INT64)
    prepared = Project(source=aggregate.source, columns={**keys, **absolute}, origin=aggregate.origin)
    return Aggregate(source=prepared, by=tuple(by), calls=calls, origin=aggregate.origin)
