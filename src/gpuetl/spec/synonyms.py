"""What SQL, pandas, Polars and Spark call the words of the language: the hint of a word that is none of ours.

Names of functions are in `expressions/functions`, since some of them are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpuetl.errors import suggestion

SYNONYMS = {
    # steps
    "filter": "where having query", "select": "project", "drop": "dropcolumns exclude",
    "with_columns": "withcolumn mutate assign derive compute", "rename": "renamecolumns withcolumnrenamed alias",
    "cast": "astype convert", "join": "merge lookup joinasof mergeasof asofjoin asof",
    "union": "concat append unionall unionbyname vstack",
    "intersect": "intersection intersectall", "except": "minus subtract difference exceptall",
    "aggregate": "groupby agg summarize summarise", "window": "over partitionby",
    "sort": "orderby sortby sortvalues arrange", "limit": "head take top fetch slice",
    "distinct": "dedupe dedup deduplicate dropduplicates unique", "explode": "flatten",
    "fill_null": "fillna fillnulls",
    "fill_gaps": "resample upsample gapfill timebucketgapfill asfreq complete expand",
    "sample": "tablesample", "kernel": "udf map mapbatches",
    # kinds of joins, and what validates them
    "full": "outer fullouter", "left": "leftouter", "right": "rightouter", "semi": "leftsemi", "anti": "leftanti",
    "one_to_one": "1:1", "many_to_one": "m:1 n:1", "one_to_many": "1:m 1:n", "many_to_many": "m:m n:n m:n",
    # modes of sinks
    "overwrite": "replace truncate", "error": "errorifexists fail", "replace_partitions": "overwritepartitions",
    "upsert": "merge mergeinto update",
    # keys
    "on": "using subset keys", "how": "type kind", "by": "groupby partitionby over keys",
    "order_by": "sort sortby order", "columns": "agg aggs aggregates select", "with": "right other",
    "direction": "strategy", "strict": "allowexactmatches", "tolerance": "within maxdistance",
    "fraction": "frac", "rows": "n size",
    "count": "n rows", "offset": "skip start",
    "sort_by": "orderby", "schema": "types dtypes", "nulls": "nullvalues navalues",
    "delimiter": "sep separator", "partition_by": "partitionby", "steps": "transforms", "from": "source input",
    # types
    "string": "utf8 object", "timestamp": "datetime datetime64", "date": "date32", "duration": "timedelta",
}  # fmt: skip
"""By the language's word: others for it, in lower case and without `_`, `-` and spaces."""


def word_suggestion(word: str, have: Iterable[str]) -> str:
    """Return "Did you mean 'x'?" for what other languages call `word`, else for the nearest of `have`, or nothing."""
    plain = word.lower().translate({ord(mark): None for mark in "_- "})
    words = list(have)
    meant = next((ours for ours in words if plain in SYNONYMS.get(ours, "").split()), None)
    return f"Did you mean '{meant}'?" if meant else suggestion(word, words)


def keys_hint(name: str, keys: Iterable[str]) -> str:
    """List the keys that a map takes, in their order, the one that `name` may mean last."""
    known = list(keys)
    return f"Keys: {', '.join(known)}. {word_suggestion(name, known)}".rstrip()
