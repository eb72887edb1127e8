"""THE table: every function of the language in DuckDB's SQL, spelled as the contract has it.

A new function is one entry here: `("scalar", "name"): "text with {0} and {1}"`, or a function of the typed call and of
its arguments' texts where the text depends on types or on constants.  A function that DuckDB cannot say goes to
COMPARED_OTHERWISE.
"""

from typing import Any

from fuzz.duckdb_aggregates import AGGREGATES, MEAN, WHOLE_MEAN, nearest_float, nearest_integer
from fuzz.duckdb_casts import Untranslated
from fuzz.duckdb_scalars import SCALAR_MACROS, SCALARS
from fuzz.duckdb_text import MACROS, Text, canonical, hidden
from fuzz.duckdb_types import sql_type
from fuzz.duckdb_windows import WINDOWS
from fuzz.hyperloglog import estimated_distinct
from gpuetl.engines.pandas.expressions.functions.hashing import HANDLERS
from gpuetl.expressions.functions import FUNCTIONS, Kind
from gpuetl.expressions.functions.ordering import is_order_text
from gpuetl.expressions.ir import Call, Column, Literal, can_fail

HASH, DISTINCT = "hash_of_engine", "estimated_distinct"
JSON_WITH_NUMBERS = (
    "json_extract", "json_extract_string", "json_value", "json", "json_object", "json_array", "json_join", "json_parts", "to_json",
    "from_json", "try_from_json", "json_set", "json_insert", "json_replace", "json_remove", "json_merge_patch", "json_merge_patch_diff",
    "json_deep_merge", "json_strip_nulls", "json_normalize",
)  # fmt: skip


def hashed(call: Call, *args: str) -> str:
    """DuckDB has no XXH64 and takes the engine's, so that its samples are ours; tests/expressions/test_hashing.py compares it.

    Nested values stand for their texts here, which are not those of the engine.
    """
    if any(is_order_text(arg) or (isinstance(arg, Column) and arg.name.startswith(":order of ")) for arg in call.args):
        raise Untranslated("hashes of nested values")
    return (
        f"{HASH}({', '.join(f'CAST({x} AS {sql_type(arg.dtype)})' for x, arg in zip(args, call.args, strict=False))})"
    )


def bucket(call: Call, x: str, count: str) -> str:
    """The hash's bits as an unsigned number."""
    return f"CAST((CAST({hashed(call, x)} AS HUGEINT) + {1 << 64}) % {1 << 64} % {count} AS BIGINT)"


def sort_key(call: Call, x: str) -> str:
    """A key of the order of a call."""
    descending, nulls_first = (isinstance(way, Literal) and bool(way.value) for way in call.args[1:])
    ways = f"{'DESC' if descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}"
    return f"{canonical(x, call.dtype)} {ways}"


DUCKDB: dict[tuple[Kind, str], Text] = {
    **{("scalar", name): text for name, text in SCALARS.items()},
    **{("aggregate", name): text for name, text in AGGREGATES.items()},
    **{("window", name): text for name, text in WINDOWS.items()},
    ("scalar", "sort_key"): lambda call, x, *ways: sort_key(call, x),
    ("scalar", "order_text"): "{0}",  # a text that compares as the value does
    ("scalar", "hash"): hashed,
    ("aggregate", "approx_count_distinct"): lambda call, x: (
        f"{DISTINCT}(list({hashed(call, x)}) FILTER (WHERE {x} IS NOT NULL))"
    ),
    ("scalar", "bucket"): bucket,
}

COMPARED_OTHERWISE: dict[tuple[Kind, str], str] = {
    ("window", "ewm_mean"): "a recursion over rows: plain loops in tests/engines/pandas/windows/test_functions.py",
    **{
        key: "its definition, over other functions: tests/steps/test_aggregate_statistics.py compares DuckDB's own"
        for key, function in FUNCTIONS.items()
        if function.definition
    },
    ("scalar", "cut"): "a CASE, which is compared: tests/expressions/test_bins.py",
    **dict.fromkeys(
        [("scalar", name) for name in JSON_WITH_NUMBERS],
        "DuckDB writes numbers anew: tests/expressions/test_json.py and test_json_editing.py compare it for others",
    ),
    **dict.fromkeys(
        [("window", "ewm_var"), ("window", "ewm_std")],
        "of all rows with their weights: plain loops in tests/engines/pandas/windows/test_functions.py",
    ),
    ("scalar", "typeof"): "the fuzzer's columns have other types in DuckDB: tests/expressions/test_types.py",
    ("window", "decayed_sum"): "a recursion over rows: plain loops in tests/engines/pandas/windows/test_functions.py",
}
"""Functions without a text, why, and the test that compares them.  Here, only runs of the engine are compared."""


def call_text(call: Call, *args: str) -> str:
    """Return the text of a call, null where DuckDB has none."""
    key = call.function.kind, call.function.name
    if key[1] in JSON_WITH_NUMBERS:
        raise Untranslated(f"numbers in JSON: {key[1]}")
    if key in COMPARED_OTHERWISE:
        return f"CAST(NULL AS {sql_type(call.dtype)})"
    text = DUCKDB[key]
    made = text.format(*args) if isinstance(text, str) else text(call, *args)
    return computing_all(call, args, made) if hidden.get() else made


def computing_all(call: Call, args: tuple[str, ...], text: str) -> str:
    """Return a text that computes all arguments that can fail first; DuckDB passes over those beside a column of nulls."""
    failing = [text for arg, text in zip(call.args, args, strict=True) if can_fail(arg)]
    if not failing or call.function.kind != "scalar" or call.function.nulls == "own":
        return text
    return f"(CASE WHEN len([{', '.join(f'{arg} IS NULL' for arg in failing)}]) > 0 THEN {text} END)"


def add_functions(database: Any) -> None:
    """Give DuckDB what its SQL cannot say."""
    database.execute(MACROS + SCALAR_MACROS)
    database.create_function(HASH, HANDLERS["hash"], None, "BIGINT", type="arrow", null_handling="special")
    database.create_function(DISTINCT, estimated_distinct, ["BIGINT[]"], "BIGINT", null_handling="special")
    for name, function, gives in ((MEAN, nearest_float, "DOUBLE"), (WHOLE_MEAN, nearest_integer, "BIGINT")):
        database.create_function(name, function, ["VARCHAR[]"], gives, null_handling="special")
