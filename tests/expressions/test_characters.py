"""Code points as numbers, how strings differ, and escapes."""

import random

import duckdb
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
        ("damerau_levenshtein('', 'ab')", 2), ("damerau_levenshtein('ca', 'abc')", 2), ("damerau_levenshtein('ñb', 'bñ')", 1), ("damerau_levenshtein(repeat('ab', 128), repeat('ba', 128))", 2),
        ("jaro_similarity('', '')", 0.0), ("jaro_similarity('a', 'a')", 1.0), ("jaro_similarity('martha', 'marhta')", 0.9444444444444445), ("jaro_similarity('ñ', 'ò')", 0.0), ("jaro_similarity(repeat('a', 1024), 'a')", 0.6669921875),
        ("jaro_winkler_similarity('martha', 'marhta')", 0.9611111111111111), ("jaro_winkler_similarity('abcdefgh', 'abcdxxxx')", 0.6666666666666666), ("jaro_winkler_similarity('ñandu', 'ñandú')", 0.92), ("jaro_winkler_similarity(NULL, 'a')", None),
        ("hamming('', '')", 0), ("mismatches('añc', 'abd')", 2), ("jaccard('aab', 'ab')", 1.0), ("jaccard('ñ', 'n')", 0.0), ("jaccard('abcd', 'cdé')", 0.4),
        ("url_encode('')", ""), ("url_encode('~-_.*+😀')", "~-_.%2A%2B%F0%9F%98%80"), ("url_decode('+%2b%2B%%4%zz%')", "+++%%4%zz%"), ("url_decode('%c3%B1')", "ñ"), ("url_decode('ñ%41')", "ñA"),
        ("regexp_escape('')", ""), ("regexp_escape('a_1ñ[\\n')", "a_1ñ\\[\\\\n"), ("regexp_like('1.5 (a)', '^1\\.5\\ \\(a\\)$')", True),
        ("strip_accents('')", ""), ("strip_accents('Àéîõü ñ Å ÿ')", "Aeiou n A y"), ("strip_accents('ø ß ﬁ 😀')", "ø ß ﬁ 😀"), ("strip_accents('e\u0301x\u0308')", "ex"), ("strip_accents('\u0301')", ""), ("strip_accents('\0é\0')", "\0e\0"),
        ("strip_accents('가각')", "가각"), ("strip_accents('\u1100\u0301\u1161\u11a8\u11a8')", "각\u11a8"), ("strip_accents('ǖ ệ Ǻ \u212b')", "u e A A"),
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
        ("damerau_levenshtein('', repeat('a', 257))", "a string has more than 256 characters"), ("jaro_similarity(repeat('a', 1025), 'a')", "a string has more than 1,024 characters"),
        ("jaccard('', 'a')", "a string is empty"), ("url_decode('%C3')", "not UTF-8"), ("url_decode('%ED%A0%80')", "not UTF-8"), ("url_decode('%C3a')", "not UTF-8"),
    ],
)  # fmt: skip
def test_values_without_a_result(sql, reason):
    with pytest.raises(NoResult, match=reason):
        value(sql)


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_accents_of_every_code_point_are_those_of_python():
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    texts = ["".join(points[start : start + 999]) for start in range(0, len(points), 999)]
    frame = table(x=("string", [*texts, "\u1100\u1161\u11a7\u11a8", None, "가\u11a8\u11a8", "\u1161\u1100"]))
    found = values("strip_accents(x)", frame)
    assert computed(typed("strip_accents(x)", {"x": STRING}), frame).to_pylist() == found
    first_points = table(x=("string", ["".join(points[1:3000])]))
    assert values("strip_accents(x)", first_points) == list(
        *duckdb.sql("SELECT strip_accents(x) FROM first_points").fetchall()
    )


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_kernels_compare_strings_of_several_words():
    """Around 64 and 128 code points, where the bits of the distance begin a new word."""
    draws = random.Random(3)
    texts = ["".join(draws.choices("abñ😀", k=draws.choice([1, 63, 64, 65, 127, 128, 129, 200]))) for _ in range(60)]
    others = [text[:40] + "".join(draws.choices("abñ", k=draws.randint(0, 9))) + text[43:] for text in reversed(texts)]
    frame = table(x=("string", texts), y=("string", others))
    for sql in (
        "levenshtein(x, y)",
        "damerau_levenshtein(x, y)",
        "jaro_similarity(x, y)",
        "jaro_winkler_similarity(x, y)",
        "jaccard(x, y || 'a')",
        "url_decode(url_encode(x || '%' || y))",
    ):
        assert computed(typed(sql, {"x": STRING, "y": STRING}), frame).to_pylist() == values(sql, frame)


def test_strings_differ_as_in_duckdb():
    draws = random.Random(4)
    texts = ["".join(draws.choices("abcñ", k=draws.randint(0, 12))) for _ in range(400)]
    others = [
        "".join(draws.sample(text, len(text))[: draws.randint(0, 12)]) + draws.choice(["", "a", "cb"]) for text in texts
    ]
    frame = table(x=("string", texts), y=("string", others))
    database = duckdb.connect()
    database.register("frame", frame)
    for sql in ("damerau_levenshtein(x, y)", "jaro_similarity(x, y)", "jaro_winkler_similarity(x, y)"):
        expected = [row for (row,) in database.execute(f"SELECT {sql} FROM frame").fetchall()]
        assert values(sql, frame) == pytest.approx(expected, rel=1e-15, abs=0), (
            sql
        )  # some builds of DuckDB fuse a product and a sum


PATHS = ("", "/", "//", "a", "a/", "/a", "//a/b.c.d", "a\\b/c.txt", "\\a/b", "a//b/.x", "a/b.", "é/ñ.ü", "a.b/c")


@pytest.mark.parametrize("separator", ["", ", 'forward_slash'", ", 'backslash'", ", 'system'"])
def test_paths_as_duckdb_reads_them(separator):
    frame = table(x=("string", [*PATHS, None]))
    database = duckdb.connect()
    database.register("frame", frame)
    for call in (
        "parse_filename(x{})",
        "parse_filename(x, true{})",
        "parse_dirpath(x{})",
        "parse_dirname(x{})",
        "parse_path(x{})",
    ):
        sql = call.format(separator)
        expected = [row for (row,) in database.execute(f"SELECT {sql} FROM frame").fetchall()]
        assert values(sql, frame) == expected, sql
        if COMPILER is not None:
            assert computed(typed(sql, {"x": STRING}), frame).to_pylist() == expected


GLOBS = ("a*", "*", "", "?", "[a-c]?", "[!a]*", "[]]", "a[]-]b", "\\*", "a.c", "[^b]", "[.]", "a{2}", "é*")


def test_patterns_of_glob_as_duckdb_reads_them():
    texts = ["", "a", "b", "ab", "a]b", "]", "*", "a.c", "abc", "^", ".", "a{2}", "aa", "é\n", "a/b", "a\\"]
    for pattern in GLOBS:
        expected = [duckdb.execute(f"SELECT ? GLOB '{pattern}'", [text]).fetchall()[0][0] for text in texts]
        assert values(f"x GLOB '{pattern}'", table(x=("string", texts))) == expected, pattern
