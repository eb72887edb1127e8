"""The closed table of functions: what may stand in an expression, with types, null rule and a tested example.

A new function is an entry in one of these modules and a handler of the same name in each backend.
"""

from __future__ import annotations

from gpuetl.expressions.functions import (
    aggregates,
    arithmetic,
    calendar,
    formats,
    hashing,
    lists,
    logic,
    mathematics,
    moments,
    regex,
    strings,
    windows,
    zones,
)
from gpuetl.expressions.functions.function import Function, Kind, TypeMismatch

MODULES = (
    arithmetic,
    mathematics,
    logic,
    strings,
    regex,
    calendar,
    moments,
    formats,
    zones,
    lists,
    hashing,
    aggregates,
    windows,
)
FUNCTIONS: dict[tuple[Kind, str], Function] = {
    (function.kind, function.name): function for module in MODULES for function in module.FUNCTIONS
}
ALIASES = {
    "avg": "mean", "average": "mean", "variance": "var", "stddev": "std", "pow": "power",
    "substr": "substring", "char_length": "length", "ceiling": "ceil", "mod": "modulo", "isnan": "is_nan",
    "dow": "dayofweek", "doy": "dayofyear", "is_in": "in", "fill_null": "coalesce",
    "ifnull": "coalesce", "nvl": "coalesce", "instr": "strpos", "octet_length": "byte_length", "isfinite": "is_finite",
    "isinf": "is_infinite", "rlike": "regexp_like", "regexp_matches": "regexp_like", "regexp_contains": "regexp_like",
    "weekofyear": "week", "isoyear": "iso_year", "date_bin": "time_bucket",
    "array_length": "list_length", "string_split": "split",
    "var_samp": "var", "stddev_samp": "std", "stddev_pop": "std_pop", "covar": "covar_samp", "quantile_cont": "quantile",
    "bool_and": "all", "every": "all", "bool_or": "any", "arg_min": "min_by", "arg_max": "max_by",
}  # fmt: skip
AMBIGUOUS = {"log": "Write ln(x) for the natural logarithm, log10(x) or log2(x)."}
"""Names that mean one thing in some databases and another in others: no alias, so that nobody is surprised."""


def find_function(name: str, kinds: tuple[Kind, ...]) -> Function | None:
    """Return the function of that name, or of that alias, in the first of `kinds` that has it."""
    name = ALIASES.get(name, name)
    return next((FUNCTIONS[kind, name] for kind in kinds if (kind, name) in FUNCTIONS), None)


def table_entry(kind: Kind, name: str) -> Function:
    """Return the function of that kind and name, also where users cannot call it."""
    return aggregates.INTERNAL.get(name) or FUNCTIONS[kind, name]


def function_names(kinds: tuple[Kind, ...]) -> list[str]:
    """Return the names that `find_function` knows, for suggestions."""
    return sorted(name for kind, name in FUNCTIONS if kind in kinds)


__all__ = [
    "ALIASES", "AMBIGUOUS", "FUNCTIONS", "Function", "Kind", "TypeMismatch", "find_function", "function_names",
    "table_entry",
]  # fmt: skip
