"""Code points as numbers, how strings differ, and escapes."""

import random

import pytest

from expressions.evaluation import table, typed, value, values
from gpu_engine.differential import computed
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.no_result import NoResult
from gpuetl.types.data_types import STRING


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("ascii('')", 0), ("unicode('')", -1), ("ord('😀x')", 0x1F600), ("chr(0)", "\0"), ("chr(1114111)", "\U0010ffff"), ("chr(NULL)", None),
        ("levenshtein('', '')", 0), ("levenshtein('', 'ñ😀')", 2), ("levenshtein('ñ', 'n')", 1), ("levenshtein('abc', 'ca')", 3), ("editdist3('saturday', 'sunday')", 3),
        ("levenshtein(repeat('a', 1024), repeat('b', 2000))", 2000), ("levenshtein(repeat('ab', 40), 'b' || repeat('ab', 40))", 1), ("levenshtein('a', NULL)", None),
        ("hamming('', '')", 0), ("mismatches('añc', 'abd')", 2), ("jaccard('aab', 'ab')", 1.0), ("jaccard('ñ', 'n')", 0.0), ("jaccard('abcd', 'cdé')", 0.4),
        ("url_encode('')", ""), ("url_encode('~-_.*+😀')", "~-_.%2A%2B%F0%9F%98%80"), ("url_decode('+%2b%2B%%4%zz%')", "+++%%4%zz%"), ("url_decode('%c3%B1')", "ñ"), ("url_decode('ñ%41')", "ñA"),
        ("regexp_escape('')", ""), ("regexp_escape('a_1ñ[\\n')", "a_1ñ\\[\\\\n"), ("regexp_like('1.5 (a)', '^1\\.5\\ \\(a\\)$')", True),
        ("to_hex('a')", "61"), ("strlen('ñ')", 2), ("ucase('a')", "A"), ("prefix('abc', 'ab')", True), ("suffix('abc', 'bc')", True), ("string_to_array('a,b', ',')", ["a", "b"]),
    ],
)  # fmt: skip
def test_characters(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("chr(-1)", "not a code point of Unicode"), ("chr(55296)", "not a code point of Unicode"), ("chr(1114112)", "not a code point of Unicode"),
        ("levenshtein(repeat('a', 1025), repeat('b', 1025))", "both strings have more than 1,024 characters"), ("hamming('a', 'ab')", "the strings differ in length"),
        ("jaccard('', 'a')", "a string is empty"), ("url_decode('%C3')", "not UTF-8"), ("url_decode('%ED%A0%80')", "not UTF-8"), ("url_decode('%C3a')", "not UTF-8"),
    ],
)  # fmt: skip
def test_values_without_a_result(sql, reason):
    with pytest.raises(NoResult, match=reason):
        value(sql)


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_kernels_compare_strings_of_several_words():
    """Around 64 and 128 code points, where the bits of the distance begin a new word."""
    draws = random.Random(3)
    texts = ["".join(draws.choices("abñ😀", k=draws.choice([1, 63, 64, 65, 127, 128, 129, 200]))) for _ in range(60)]
    others = [text[:40] + "".join(draws.choices("abñ", k=draws.randint(0, 9))) + text[43:] for text in reversed(texts)]
    frame = table(x=("string", texts), y=("string", others))
    for sql in ("levenshtein(x, y)", "jaccard(x, y || 'a')", "url_decode(url_encode(x || '%' || y))"):
        assert computed(typed(sql, {"x": STRING, "y": STRING}), frame).to_pylist() == values(sql, frame)
