"""Ways of the cudf engine that are faster where they apply; each may be left out by name, as an optimizer pass may.

A handler that has two ways asks `chosen("name")`; the rows are the same in both.
"""

from __future__ import annotations

from gpuetl.choices import is_skipped

CHOICES = {
    "compile_ahead": "The kernels of a plan are listed from its types, and compiled while its first files are read.",
    "interpret": "Expressions whose kernel is not compiled yet are interpreted by a precompiled kernel.",
    "notice_order": "Rows that arrive in the order of their keys are not sorted again.",
    "keys_from_words": "Sort columns are unpacked from the sorted keys; only other columns are gathered.",
    "number_strings_by_hash": "String keys get dictionary codes by their hash; only distinct strings are sorted.",
    "number_strings_by_suffix": "String keys get dictionary codes from 8 of their bytes, where these are unique.",
    "group_by_table": "Groups with a narrow range of keys are reduced in tables by key; nothing is sorted.",
    "group_by_counts": "Groups of keys with up to some million values are found by counts; no rows are compared.",
    "reduce_by_records": "Columns that are read in the order of groups are first packed row by row.",
    "count_by_hash": "Values of a vocabulary are counted in a table by hash; only those that are kept are sorted.",
    "count_by_bits": "Distinct values of a narrow range are counted as bits of a table.",
    "sketch_in_table": "States of estimates are made in a table of all groups, where it is small; nothing is sorted.",
    "join_by_table": "Join keys with a narrow range are looked up in a table by key.",
    "join_by_hash": "Join keys with a wide range are looked up by their hash; nothing is sorted.",
    "string_codes": "Columns with few distinct strings are stored as dictionary codes.",
    "read_small_on_cpu": "Small Parquet files are read by Arrow on the CPU and copied: libcudf takes longer to start.",
    "encode_on_gpu": "Parquet files are encoded on the GPU and written by threads; without this, Arrow writes them.",
}
"""A sentence for each choice."""


def chosen(name: str) -> bool:
    """Tell whether a choice may be taken; raise `KeyError` where there is none of the name."""
    return bool(CHOICES[name]) and not is_skipped(name)
