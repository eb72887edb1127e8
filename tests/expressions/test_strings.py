"""Functions of text over nulls, empty texts, characters of every width, several chunks and no rows."""

import pyarrow as pa
import pytest

from expressions.evaluation import table, value, values
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import InvalidExpression

COMBINING = "e\u0301a"  # e, an acute accent, a

TEXTS = table(t=("string", ["Straße", "ÀÉ", "", None, "a😀b", "x"]))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("upper('Straße')", "STRAßE"), ("upper('ǆ')", "Ǆ"), ("upper('ﬁ')", "ﬁ"), ("upper('ᾳ')", "ᾳ"), ("upper('𐐨')", "𐐀"), ("upper('ı')", "I"),
        ("upper('ÿ')", "Ÿ"), ("lower('İ')", "İ"), ("lower('ΑΣ')", "ας".replace("ς", "σ")), ("lower('ẞ')", "ß"), ("lower('𐐀')", "𐐨"),
        ("lower('ÀÉx')", "àéx"), ("upper('')", ""), ("upper('a\u0301')", "A\u0301"),
    ],
)  # fmt: skip
def test_case_changes_code_point_by_code_point(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JEAN-luc o''neil", "Jean-Luc O'Neil"), ("3RD   street", "3rd   Street"), ("ÉMILE zola", "Émile Zola"), ("", ""), ("-", "-"),
        (COMBINING + " " + COMBINING, "E\u0301a E\u0301a"), ("ßa", "ßa"), ("a_b", "A_B"), ("日本 tokyo", "日本 Tokyo"),
    ],
)  # fmt: skip
def test_initcap_begins_words_of_letters_digits_and_marks(text, expected):
    assert value(f"initcap('{text}')") == expected


def test_words_do_not_go_on_from_row_to_row():
    assert values("initcap(t)", table(t=("string", ["ab", "cd", "", None, "ef gh"]))) == ["Ab", "Cd", "", None, "Ef Gh"]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("trim(' \t\n\v\f\ra\u00a0 ')", "a\u00a0"), ("ltrim('\u3000 a')", "\u3000 a"), ("rtrim('a\x1c')", "a\x1c"), ("trim('')", ""), ("trim('  ')", ""),
        ("trim('xyaxbyx', 'xy')", "axb"), ("ltrim('éèa', 'èé')", "a"), ("rtrim('a😀😀', '😀')", "a"), ("trim(' a ', '')", " a "), ("trim('aaa', 'a')", ""),
        ("trim('[a]', '[]')", "a"), ("trim(' a ', characters => 'a')", " a "),
    ],
)  # fmt: skip
def test_trim_takes_ascii_white_space_or_the_characters_given(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("split_part('a/b/c', '/', 1)", "a"), ("split_part('a/b/c', '/', 3)", "c"), ("split_part('a/b/c', '/', 4)", ""),
        ("split_part('a/b/c', '/', -1)", "c"), ("split_part('a/b/c', '/', -3)", "a"), ("split_part('a/b/c', '/', -4)", ""),
        ("split_part('', '/', 1)", ""), ("split_part('', '/', -1)", ""), ("split_part('/a', '/', 1)", ""), ("split_part('a/', '/', 2)", ""),
        ("split_part('abc', '/', 1)", "abc"), ("split_part('abc', '/', 2)", ""), ("split_part('aaa', 'aa', 2)", "a"), ("split_part('aaa', 'aa', -1)", "a"),
        ("split_part('x😀y😀z', '😀', 2)", "y"), ("split_part('a.b', '.', 2)", "b"), ("split_part('a--b', '-', 2)", ""), ("split_part('a', '/', 9223372036854775807)", ""),
        ("split_part('a', '/', -9223372036854775807)", ""),
    ],
)  # fmt: skip
def test_split_part_counts_parts_from_either_end(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("strpos('abcb', 'b')", 2), ("strpos('abc', 'x')", 0), ("strpos('a😀éb', 'b')", 4), ("strpos('', 'a')", 0), ("strpos('abc', '')", 1),
        ("strpos('', '')", 1), ("strpos('abc', 'abc')", 1), ("strpos('ab', 'abc')", 0), ("instr('a.b', '.')", 2),
        ("byte_length('a😀é')", 7), ("byte_length('')", 0), ("octet_length('ab')", 2),
        ("repeat('aé', 2)", "aéaé"), ("repeat('a', 0)", ""), ("repeat('', 3)", ""),
        ("remove_prefix('aab', 'a')", "ab"), ("remove_prefix('b', 'a')", "b"), ("remove_prefix('ab', '')", "ab"), ("remove_prefix('😀x', '😀')", "x"),
        ("remove_suffix('baa', 'a')", "ba"), ("remove_suffix('b', 'a')", "b"), ("remove_suffix('ab', '')", "ab"), ("remove_suffix('x😀', '😀')", "x"),
        ("remove_suffix('a', 'a')", ""), ("remove_prefix('a', 'ab')", "a"),
        ("translate('abcab', 'ab', 'xy')", "xycxy"), ("translate('abc', 'ab', 'x')", "xc"), ("translate('abc', 'abc', '')", ""), ("translate('aba', 'aa', 'xy')", "xbx"),
        ("translate('abc', '', 'x')", "abc"), ("translate('ab', 'a', 'xyz')", "xb"), ("translate('😀é', 'é😀', '😀é')", "é😀"), ("translate('', 'a', 'b')", ""),
        ("translate('aba', 'aa', '')", "b"),
    ],
)  # fmt: skip
def test_positions_repetitions_and_replacements(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("concat_ws(',', a, b, c)", ["x,y", "z", "", ","]),
        ("concat_ws('–', a, b)", ["x–y", "", "", "–"]),
        ("concat_ws('', a, c, 'k')", ["xk", "zk", "k", "k"]),
        ("concat_ws(', ', a)", ["x", "", "", ""]),
        ("concat(a, b, 'c')", ["xyc", None, None, "c"]),
        ("a || b || 'c'", ["xyc", None, None, "c"]),
    ],
)
def test_concat_ws_skips_nulls_and_concat_does_not(sql, expected):
    frame = table(
        a=("string", ["x", None, None, ""]), b=("string", ["y", None, None, ""]), c=("string", [None, "z", None, None])
    )  # fmt: skip
    assert values(sql, frame) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("upper(t)", ["STRAßE", "ÀÉ", "", None, "A😀B", "X"]), ("lower(t)", ["straße", "àé", "", None, "a😀b", "x"]),
        ("initcap(t)", ["Straße", "Àé", "", None, "A😀B", "X"]), ("translate(t, 'aÀ', 'A')", ["StrAße", "É", "", None, "A😀b", "x"]),
        ("split_part(t, 'a', 2)", ["ße", "", "", None, "😀b", ""]), ("split_part(t, 'a', -1)", ["ße", "ÀÉ", "", None, "😀b", "x"]),
        ("strpos(t, 'b')", [0, 0, 0, None, 3, 0]), ("strpos(t, '')", [1, 1, 1, None, 1, 1]), ("trim(t, 'xS')", ["traße", "ÀÉ", "", None, "a😀b", ""]),
        ("repeat(t, 2)", ["StraßeStraße", "ÀÉÀÉ", "", None, "a😀ba😀b", "xx"]), ("byte_length(t)", [7, 4, 0, None, 6, 1]),
        ("remove_prefix(t, 'a')", ["Straße", "ÀÉ", "", None, "😀b", "x"]), ("remove_suffix(t, 'b')", ["Straße", "ÀÉ", "", None, "a😀", "x"]),
        ("t ILIKE 'STRA%E'", [True, False, False, None, False, False]), ("t LIKE '_'", [False, False, False, None, False, True]),
        ("regexp_count(t, '[a-z]')", [4, 0, 0, None, 2, 1]), ("regexp_extract(t, '[a-z]+')", ["tra", None, None, None, "a", "x"]),
    ],
)  # fmt: skip
def test_columns_of_every_kind_of_chunk(sql, expected):
    assert values(sql, TEXTS) == expected
    assert values(sql, TEXTS.slice(3)) == expected[3:]
    assert values(sql, pa.concat_tables([TEXTS.slice(2, 3), TEXTS.slice(5), TEXTS.slice(0, 0)])) == expected[2:]
    assert values(sql, TEXTS.slice(3, 1)) == [None]
    assert values(sql, TEXTS.slice(0, 0)) == []
    assert values(sql, TEXTS.schema.empty_table()) == []


@pytest.mark.parametrize(
    "call", ["upper(#)", "initcap(#)", "trim(#)", "translate(#, 'a', 'b')", "split_part(#, 'a', 1)", "strpos(#, 'a')", "strpos(#, '')", "repeat(#, 2)",
             "remove_prefix(#, 'a')", "remove_suffix(#, 'a')", "byte_length(#)", "# ILIKE 'a'", "regexp_like(#, 'a')", "regexp_replace(#, 'a', 'b')",
             "regexp_extract(#, 'a')", "regexp_count(#, 'a')", "concat(#, 'a', 'b')"],
)  # fmt: skip
def test_functions_of_a_null_text_are_null(call):
    assert value(call.replace("#", "CAST(NULL AS string)")) is None
    assert value(call.replace("#", "NULL")) is None
    assert values(call.replace("#", "t"), table(t=("string", [None, None]))) == [None, None]


BY_ROW = table(
    t=("string", ["a-b-c", "😀é😀", "", None, "xaxbx", "AbC", "ab"]), s=("string", ["-", "😀", "a", "x", "x", "%b%", ""]),
    i=("int64", [2, -1, 3, 1, None, 0, -(2**63)]), n=("int64", [1, 2, -1, 1, 2, 5, 2**63 - 1]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("substring(t, i)", ["-b-c", "😀", "", None, None, "AbC", "ab"]), ("substring(t, i, n)", ["-", "😀", "", None, None, "AbC", "a"]),
        ("substring(t, 2, n)", ["-", "é😀", "", None, "ax", "bC", "b"]), ("substring('abcdef', i, n)", ["b", "f", "b", "a", None, "abcd", "abcde"]),
        ("substring('abcdef', 4, -2)", ["bc"] * 7), ("substring('abcdef', -2, -2)", ["cd"] * 7), ("substring(t, 3, -n)", ["-", "😀é", "", None, "xa", "Ab", "ab"]),
        ("left(t, i)", ["a-", "😀é", "", None, None, "", ""]), ("right(t, i)", ["-c", "é😀", "", None, None, "", ""]),
        ("replace(t, s, '+')", ["a+b+c", "+é+", "", None, "+a+b+", "AbC", "ab"]), ("replace('a-b', '-', s)", ["a-b", "a😀b", "aab", "axb", "axb", "a%b%b", "ab"]),
        ("translate(t, s, 'z')", ["azbzc", "zéz", "", None, "zazbz", "AC", "ab"]), ("trim(t, s)", ["a-b-c", "é", "", None, "axb", "AbC", "ab"]),
        ("ltrim(t, s)", ["a-b-c", "é😀", "", None, "axbx", "AbC", "ab"]), ("rtrim(t, s)", ["a-b-c", "😀é", "", None, "xaxb", "AbC", "ab"]),
        ("remove_prefix(t, s)", ["a-b-c", "é😀", "", None, "axbx", "AbC", "ab"]), ("remove_suffix(t, s)", ["a-b-c", "😀é", "", None, "xaxb", "AbC", "ab"]),
        ("split_part(t, s, i)", ["b", "", "", None, None, "", ""]), ("split_part('ab', '', -1)", ["b"] * 7), ("split_part(t, '-', i)", ["b", "😀é😀", "", None, None, "", ""]),
        ("strpos(t, s)", [2, 1, 0, None, 1, 0, 1]), ("starts_with(t, s)", [False, True, False, None, True, False, True]), ("ends_with(t, s)", [False, True, False, None, True, False, True]),
        ("contains(t, s)", [True, True, False, None, True, False, True]), ("t LIKE s", [False, False, False, None, False, True, False]), ("t NOT LIKE s", [True, True, True, None, True, False, True]),
        ("t ILIKE upper(s)", [False, False, False, None, False, True, False]), ("t LIKE '%' || s", [False, True, False, None, True, True, True]),
        ("repeat(s, i)", ["--", "", "aaa", "x", None, "", ""]),
        ("concat_ws(s, t, 'k')", ["a-b-c-k", "😀é😀😀k", "ak", "k", "xaxbxxk", "AbC%b%k", "abk"]), ("concat_ws(NULL, t, 'k')", [None] * 7), ("contains(t, NULL)", [None] * 7),
        ("split(t, s)", [["a", "b", "c"], ["", "é", ""], [""], None, ["", "a", "b", ""], ["AbC"], ["a", "b"]]), ("split(t, '')[1]", ["a", "😀", None, None, "x", "A", "a"]),
        ("lpad('ab', 7, 'xyz')", ["xyzxyab"] * 7), ("rpad('ab', 7, 'é😀')", ["abé😀é😀é"] * 7),
    ],
)  # fmt: skip
def test_arguments_are_columns_too(sql, expected):
    assert values(sql, BY_ROW) == expected
    assert values(sql, BY_ROW.slice(2)) == expected[2:]
    assert values(sql, BY_ROW.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("sql", "reason"),
    [("repeat(t, i)", "more than 1,000,000 characters, or copies"), ("lpad(t, i, 'x')", "more than 1,000,000 characters, or copies"),
     ("rpad(t, 5, f)", "the fill is empty"), ("lpad(t, i * 0 + 2, f)", "the fill is empty")],
)  # fmt: skip
def test_counts_and_fills_of_rows_have_limits(sql, reason):
    frame = table(t=("string", ["ab", "a"]), i=("int64", [1, 1_000_001]), f=("string", ["x", ""]))
    with pytest.raises(NoResult, match="has no result in row 1, .*" + reason):
        values(sql, frame)
    assert values(sql, frame.slice(0, 1))


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("split_part(t, '/', 0)", "split_part counts parts from 1, and from -1 at the end; got 0", ""),
        ("repeat(t, 1000000000000)", "repeat takes a count from 0 to 1,000,000, got 1,000,000,000,000", ""),
        ("repeat(t, -1)", "repeat takes a count from 0 to 1,000,000, got -1", ""),
        ("rpad(t, -1)", "rpad takes a length from 0 to 1,000,000, got -1", ""),
        ("t LIKE t ESCAPE '!'", "LIKE takes a constant or a $parameter as pattern where it has an escape", "Leave ESCAPE out, or write the pattern as a constant."),
        (
            "substring(t, 9223372036854775807, 9223372036854775807)",
            "substring takes a start from -2,147,483,647 to 2,147,483,647, got 9,223,372,036,854,775,807",
            "",
        ),
        (
            "left(t, -9223372036854775808)",
            "left takes a count from -2,147,483,647 to 2,147,483,647, got -9,223,372,036,854,775,808",
            "",
        ),
        ("rpad(t, 3, '')", "rpad takes at least one character as fill, got ''", ""),
        ("t LIKE 'a' ESCAPE 'xy'", "LIKE takes one character as escape, got 'xy'", ""),
        ("t ILIKE 'a' ESCAPE ''", "ILIKE takes one character as escape, got ''", ""),
        ("t LIKE '!a' ESCAPE '!'", "LIKE takes %, _ or ! after the escape !, got 'a'", ""),
        ("t LIKE 'a!' ESCAPE '!'", "LIKE takes %, _ or ! after the escape !, got ''", ""),
        ("concat_ws(',', 1)", "concat_ws takes string, got int64", ""),
    ],
)  # fmt: skip
def test_constants_without_a_meaning_are_refused(sql, message, hint):
    with pytest.raises(InvalidExpression) as error:
        values(sql, TEXTS)
    assert (error.value.message, error.value.hint) == (message, hint)
