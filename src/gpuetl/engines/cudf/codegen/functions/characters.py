"""Code points as numbers, how strings differ, and escapes."""

from __future__ import annotations

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library

HEADER = "characters.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "ascii": Device(lambda _, args: f"first_code_point({args[0]}, 0)"),
    "unicode": Device(lambda _, args: f"first_code_point({args[0]}, -1)"),
    "chr": Device("put_character", result_form="text"),
    "levenshtein": Device("levenshtein"),
    "damerau_levenshtein": Device("damerau_levenshtein"),
    "jaro_similarity": Device("jaro_similarity"),
    "jaro_winkler_similarity": Device("jaro_winkler_similarity"),
    "hamming": Device("hamming"),
    "jaccard": Device("jaccard"),
    "url_encode": Device("url_encode", result_form="text"),
    "url_decode": Device("url_decode", result_form="text"),
    "regexp_escape": Device("regexp_escape", result_form="text"),
}
