"""DuckDB as the second oracle: the same sources, the same plan in its SQL, its rows in our types."""

from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from fuzz.duckdb_functions import add_functions
from fuzz.duckdb_sql import to_duckdb
from fuzz.duckdb_text import hidden
from fuzz.duckdb_types import storage_type
from gpuetl.plan.node import Node

REFUSED = (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException)
"""What DuckDB raises for values that have no result; other errors are mistakes in the text."""


EMPTY_LIST = "Cannot perform list_reduce on an empty input list"
"""A value without a result that DuckDB raises no class of its own for."""


@cache
def connection() -> Any:
    """Return this process's database, without an optimizer, which would skip errors, and without other threads."""
    opened = duckdb.connect(config={"threads": 1})
    opened.execute("PRAGMA disable_optimizer")
    add_functions(opened)
    return opened


def duckdb_rows(node: Node, sources: dict[str, pa.Table]) -> pa.Table | None:
    """Return the node's rows as DuckDB computes them, in storage types, or None where it finds no result.

    Raises
    ------
    AssertionError
        With the query, where DuckDB cannot run it: the text is wrong.
    """
    query, database = to_duckdb(node), connection()
    for name, rows in sources.items():
        database.register(name, stored(rows))
    try:
        return stored(database.sql(query).to_arrow_table(), node)
    except REFUSED:
        return None
    except (duckdb.Error, pa.ArrowInvalid) as error:
        if EMPTY_LIST in str(error):
            return None
        raise AssertionError(f"{error}\n{query}") from None
    finally:
        for name in sources:
            database.unregister(name)


def duckdb_fails(node: Node, sources: dict[str, pa.Table]) -> bool:
    """Tell whether DuckDB finds no result where it has to compute everything, also what stands beside a null."""
    token = hidden.set(True)
    try:
        return duckdb_rows(node, sources) is None
    finally:
        hidden.reset(token)


def stored(rows: pa.Table, node: Node | None = None) -> pa.Table:
    """Return rows with times as microseconds, in the types of `node` if there is one."""
    types = rows.schema.types if node is None else node.schema.values()
    columns = [column.cast(storage_type(dtype)) for column, dtype in zip(rows.columns, types, strict=True)]
    return pa.table(columns, names=rows.column_names)
