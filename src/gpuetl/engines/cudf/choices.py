"""Ways of the cudf engine that are faster where they apply; each may be left out by name, as an optimizer pass may.

A handler that has two ways asks `chosen("name")`; the rows are the same in both.
"""

from __future__ import annotations

from gpuetl.choices import is_skipped

CHOICES = {
    "compile_ahead": "The kernels of a plan are listed from its types, and compiled while its first files are read.",
    "interpret": "Expressions whose kernel is not compiled yet are computed by instructions of a kernel that is.",
    "notice_order": "Rows that come in the order of their keys are not sorted.",
    "keys_from_words": "Columns that rows are sorted by are computed from what was sorted; only others are gathered.",
    "number_texts_by_hash": "Texts that are keys are numbered by their hash; only the distinct ones are sorted.",
    "number_texts_by_suffix": "Texts that are keys are numbered by 8 bytes, where these tell them apart.",
    "group_by_table": "Groups of keys that range narrowly are reduced in tables by key; nothing is sorted.",
    "group_by_counts": "Groups of keys with up to some million values are found by counts; no rows are compared.",
    "reduce_by_records": "Columns that are read in the order of groups are laid side by side first.",
    "count_by_bits": "Distinct values of a narrow range are counted as bits of a table.",
    "join_by_table": "Keys of a join that range narrowly are looked up in a table by key.",
    "join_by_hash": "Keys of a join that range widely are looked up by their hash; nothing is sorted.",
    "text_codes": "Columns of few distinct texts are numbers in a dictionary of these.",
    "read_small_on_cpu": "Small Parquet files are read by Arrow on the CPU and copied: libcudf takes longer to begin.",
    "encode_on_gpu": "Parquet files are encoded on the GPU and written by threads; else Arrow writes them.",
}
"""A sentence for each choice."""


def chosen(name: str) -> bool:
    """Tell whether a choice may be taken; raise `KeyError` where there is none of the name."""
    return bool(CHOICES[name]) and not is_skipped(name)
