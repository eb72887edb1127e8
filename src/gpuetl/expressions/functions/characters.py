"""Characters: code points as numbers, how strings differ, and escapes."""

from __future__ import annotations

from gpuetl.expressions.functions.function import Function, fixed
from gpuetl.types.data_types import FLOAT64, INT64, STRING

MOST_COMPARED = 1024
"""Code points of the shorter string of which `levenshtein` takes the distance: a thread of a GPU keeps a bit of each."""
MOST_IN_MATRIX = 256
"""Code points of strings of which `damerau_levenshtein` takes the distance: a thread keeps four rows of the matrix."""

of_text = fixed(STRING, returns=STRING)
number_of = fixed(STRING, returns=INT64)
similarity = fixed(STRING, STRING, returns=FLOAT64)
distance = fixed(STRING, STRING, returns=INT64)

FUNCTIONS = (
    Function("ascii", "text", number_of, "The number of the first code point; 0 of an empty string.", "ascii('añb')", 97),
    Function("unicode", "text", number_of, "The number of the first code point; -1 of an empty string.", "unicode('ñ')", 241),
    Function("chr", "number", fixed(INT64, returns=STRING), "The code point of a number; an error for a number that is none.",
             "chr(241)", "ñ", can_fail=True),
    Function("levenshtein", "x y", distance, "The fewest code points to insert, delete or replace to make y of x; an error where both have "
             f"more than {MOST_COMPARED:,}.", "levenshtein('kitten', 'sitting')", 3, can_fail=True),
    Function("hamming", "x y", distance, "The number of places at which the code points differ; an error for strings of two lengths.",
             "hamming('duck', 'luck')", 1, can_fail=True),
    Function("jaccard", "x y", fixed(STRING, STRING, returns=FLOAT64), "The share of the distinct code points of both that are in each; "
             "an error for an empty string.", "jaccard('duck', 'luck')", 0.6, can_fail=True),
    Function("damerau_levenshtein", "x y", distance, "As `levenshtein`, but two neighbours that change places count once; an error where a string has more "
             f"than {MOST_IN_MATRIX} code points.", "damerau_levenshtein('from', 'form')", 1, can_fail=True),
    Function("jaro_similarity", "x y", similarity, "The Jaro similarity of the code points, from 0 to 1; an error where a string has more than "
             f"{MOST_COMPARED:,}.", "jaro_similarity('duck', 'luck')", 0.8333333333333334, can_fail=True),
    Function("jaro_winkler_similarity", "x y", similarity, "The Jaro similarity, raised for up to 4 equal code points at the start where it is above 0.7; "
             f"an error where a string has more than {MOST_COMPARED:,}.", "jaro_winkler_similarity('duck', 'duke')", 0.8666666666666667,
             can_fail=True),
    Function("strip_accents", "text", of_text, "Letters without their accents and other marks, which also go where they stand alone; "
             "`ø` and `ß` have none.", "strip_accents('Ñandú')", "Nandu"),
    Function("url_encode", "text", of_text, "The UTF-8 bytes but letters, digits and `-_.~` of ASCII as %XX.",
             "url_encode('a b/ñ')", "a%20b%2F%C3%B1"),
    Function("url_decode", "text", of_text, "Each %XX replaced by its byte, other text kept; an error where this is no UTF-8.",
             "url_decode('a%20b%2F%C3%B1')", "a b/ñ", can_fail=True),
    Function("regexp_escape", "text", of_text, "A regular expression that matches the text alone.",
             "regexp_escape('1.5 (a)')", "1\\.5\\ \\(a\\)"),
)  # fmt: skip
