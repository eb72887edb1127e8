"""Steps between rows and columns: pivot and unpivot."""

from typing import Any

from fuzz.builder import Builder, Relation
from gpuetl import Table, col, count
from gpuetl.types.data_types import BOOL, INT64, STRING, DataType, can_be_key

LABELS: dict[DataType, list[Any]] = {BOOL: [True, False], INT64: [0, 1, -1, 7], STRING: ["", "a", "b", "x"]}
"""Values that columns are made of."""


def pivoted(builder: Builder, relation: Relation) -> Table | None:
    """Counts and greatest values of some values of a column, by up to two others."""
    draws, schema, exact = builder.draws, relation.node.schema, relation.exact()
    names = [name for name in exact if schema[name] in LABELS]
    if not names:
        return None
    name = draws.one_of(names)
    by = draws.some_of([other for other in exact if other != name], 0, 2)
    labels = draws.some_of(LABELS[schema[name]], 1, 3)
    values = {"n": count(), "most": col(draws.one_of(exact)).max()}
    if any(f"{str(label).lower()}_{value}" in by for label in labels for value in values):
        return None
    return relation.table.pivot(name, values, labels, by=by, others="ignore")


def unpivoted(builder: Builder, relation: Relation) -> Table | None:
    """Up to three columns of one type as rows."""
    draws, schema = builder.draws, relation.node.schema
    types = [dtype for dtype in dict.fromkeys(schema.values()) if can_be_key(dtype)]
    if not types:
        return None
    dtype = draws.one_of(types)
    columns = draws.some_of([name for name in schema if schema[name] == dtype], 1, 3)
    label, value = [name for i in range(1000) if (name := f"u{i}") not in schema][:2]
    return relation.table.unpivot(*columns, names_to=label, values_to=value, nulls=draws.one_of(("keep", "drop")))
