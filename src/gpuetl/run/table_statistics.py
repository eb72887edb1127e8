"""Statistics of a table's columns, all from one aggregate of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.expressions.expression import Expression, apply
from gpuetl.expressions.syntax import Name
from gpuetl.run.results import Result
from gpuetl.run.table_evaluation import TableQuery, schema_of, small_answer
from gpuetl.spec.steps import Aggregate
from gpuetl.spec.values import Formula
from gpuetl.types.data_types import DURATION, STRING, DataType, is_number, is_temporal, type_name
from gpuetl.types.schema import Schema
from gpuetl.value_texts import shown

ROWS = "rows"
NUMBERS = ("mean", "std", "q25", "median", "q75")
TEXTS = ("min", "max")
OUTPUT = pa.schema(
    [
        ("column", pa.string()), ("type", pa.string()), ("rows", pa.int64()), ("nulls", pa.int64()),
        ("mean", pa.float64()), ("std", pa.float64()), ("min", pa.string()), ("q25", pa.float64()),
        ("median", pa.float64()), ("q75", pa.float64()), ("max", pa.string()),
    ]
)  # fmt: skip


def described(query: TableQuery, engine: str) -> Result:
    """Return a row for each column of a table, with its statistics."""
    schema = schema_of(query)
    calls = {ROWS: apply("count_rows")}
    for number, (name, dtype) in enumerate(schema.items()):
        calls |= {f"{statistic}_{number}": call for statistic, call in calls_of(name, dtype)}
    columns = {name: Formula(call.syntax) for name, call in calls.items()}
    answer = small_answer(query.then(Aggregate(columns)), engine)
    table = pa.Table.from_pylist(list(lines_of(schema, answer.to_arrow())), OUTPUT)
    return replace(answer, frame=None, table=table)


def calls_of(name: str, dtype: DataType) -> Iterator[tuple[str, Expression]]:
    """Yield the aggregates that a column of a type has."""
    column = Expression(Name(name))
    yield "values", apply("count", column)
    if is_number(dtype):
        yield "mean", apply("mean", column)
        yield "std", apply("std", column)
        yield "q25", apply("quantile", column, 0.25)
        yield "median", apply("median", column)
        yield "q75", apply("quantile", column, 0.75)
    if is_number(dtype) or is_temporal(dtype) or dtype in (STRING, DURATION):
        yield "min", apply("min", column)
        yield "max", apply("max", column)


def lines_of(schema: Schema, answer: pa.Table) -> Iterator[Mapping[str, Any]]:
    """Yield a line for each column."""
    found = {name: answer.column(name)[0] for name in answer.column_names}
    rows = found[ROWS].as_py()
    for number, (name, dtype) in enumerate(schema.items()):
        own = {key: found[key_of] for key in (*NUMBERS, *TEXTS) if (key_of := f"{key}_{number}") in found}
        values = {key: own[key].as_py() for key in NUMBERS if key in own}
        texts = {key: shown(own[key]) for key in TEXTS if key in own and own[key].is_valid}
        nulls = rows - found[f"values_{number}"].as_py()
        yield {"column": name, "type": type_name(dtype), "rows": rows, "nulls": nulls, **values, **texts}
