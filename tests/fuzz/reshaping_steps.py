"""Steps between rows and columns, pivot and unpivot, and rows that are made: fill_gaps."""

from typing import Any

from fuzz.builder import Builder, Relation
from gpuetl import Table, col, count, expr
from gpuetl.types.data_types import BOOL, INT64, STRING, DataType, can_be_key

MOST_ROWS = 200
"""That may have gaps filled."""
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


GRIDS = {
    "int": ("{n} % 20", "3", "-2", "4"),
    "decimal": ("CAST({n} % 20 AS decimal(5,1))", "2.5", "-2", "4.5"),
    "date": ("DATE '2024-02-20' + {n} % 20", "3 days", "DATE '2024-02-10'", "DATE '2024-02-28'"),
    "month": ("add_months(DATE '2024-01-29', {n} % 20) + {n} % 3", "2 months", "DATE '2023-12-31'", "DATE '2024-05-01'"),
    "time": ("TIMESTAMP '2024-02-28 23:00' + ({n} % 20) * INTERVAL '50 minutes'", "2 hours",
             "TIMESTAMP '2024-02-28 20:00'", "TIMESTAMP '2024-02-29 05:30'"),
    "zoned": ("TIMESTAMP '2024-03-31 00:00' AT TIME ZONE 'UTC' + ({n} % 20) * INTERVAL '50 minutes'", "3 hours",
              "TIMESTAMP '2024-03-30 20:00' AT TIME ZONE 'UTC'", "TIMESTAMP '2024-03-31 05:30' AT TIME ZONE 'UTC'"),
}  # fmt: skip
"""Columns of few values, with an interval, a lower bound or origin, and an upper bound."""


def gaps_filled(builder: Builder, relation: Relation) -> Table | None:
    """Rows for the missing points of a grid, by up to two columns, of a column that is made of an integer one."""
    draws, schema, exact = builder.draws, relation.node.schema, relation.exact()
    numbers = [name for name in exact if schema[name] == INT64]
    if not numbers or relation.facts.most_rows > MOST_ROWS:
        return None
    kind = draws.one_of(tuple(GRIDS))
    text, every, low, high = GRIDS[kind]
    name = next(name for i in range(1000) if (name := f"t{i}") not in schema)
    by = draws.some_of(relation.comparable(), 0, 2)
    options: dict[str, Any] = {
        key: expr(value) for key, value in (("start", low), ("before", high), ("origin", low)) if draws.chance(40)
    }
    mark = "made" if draws.chance(30) and "made" not in schema else ""
    number = f'"{draws.one_of(numbers)}"'
    table = relation.table.with_columns(**{name: expr(text.format(n=number))})
    return table.fill_gaps(name, every if kind != "int" else int(every), by=by, mark=mark, **options)
