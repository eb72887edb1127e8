"""THE table: every function of the language in DuckDB's SQL, spelled as the contract has it.

A new function is one entry here: `("scalar", "name"): "text with {0} and {1}"`, or a function of the typed call and of
its arguments' texts where the text depends on types or on constants.  A function that DuckDB cannot say goes to
COMPARED_OTHERWISE.
"""

from typing import Any

from fuzz.duckdb_aggregates import AGGREGATES
from fuzz.duckdb_scalars import SCALARS
from fuzz.duckdb_text import MACROS, Text
from fuzz.duckdb_windows import WINDOWS
from gpuetl.backends.pandas.functions.hashing import HANDLERS
from gpuetl.expressions.functions import Kind
from gpuetl.expressions.ir import Call

HASH = "hash_of_engine"
"""The engine's own `hash`, taken by DuckDB, so that it samples as we do; tests/expressions/test_hashing.py compares it."""

DUCKDB: dict[tuple[Kind, str], Text] = {
    **{("scalar", name): text for name, text in SCALARS.items()},
    **{("aggregate", name): text for name, text in AGGREGATES.items()},
    **{("window", name): text for name, text in WINDOWS.items()},
    ("scalar", "split"): "string_split({0}, {1})",
    ("scalar", "hash"): lambda call, *args: f"{HASH}({', '.join(args)})",
}

COMPARED_OTHERWISE: dict[tuple[Kind, str], str] = {
    ("window", "ewm_mean"): "a recursion over rows: plain loops in tests/backends/pandas/test_window_functions.py",
    ("window", "decayed_sum"): "a recursion over rows: plain loops in tests/backends/pandas/test_window_functions.py",
}
"""Functions without a text, why, and the test that compares them.  Here, only runs of the engine are compared."""


def call_text(call: Call, *args: str) -> str:
    """Return the text of a call, null where DuckDB has none."""
    key = call.function.kind, call.function.name
    if key in COMPARED_OTHERWISE:
        return "NULL"
    text = DUCKDB[key]
    return text.format(*args) if isinstance(text, str) else text(call, *args)


def add_functions(database: Any) -> None:
    """Give DuckDB what its SQL cannot say."""
    database.execute(MACROS)
    database.create_function(HASH, HANDLERS["hash"], None, "BIGINT", type="arrow", null_handling="special")
