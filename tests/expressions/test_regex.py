"""Regular expressions: what is refused, the form that engines get, and answers beside those of Python's `re`."""

import re

import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions.evaluation import table, typed, value, values
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.ir import Literal, Parameter
from gpuetl.expressions.regex import InvalidPattern, parse_pattern, parse_replacement
from gpuetl.expressions.regex.tree import Choice, Group, Repeat, Sequence, can_be_empty
from gpuetl.expressions.unparse import constant_text
from gpuetl.types.data_types import INT64, STRING
from left_to_full import in_full

NO = "gpuetl does not support"


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("a", "a"), ("a.c", "a.c"), ("a|b|cd", "a|b|cd"), ("(a)(?:b)(c)", "(?:a)(?:b)(?:c)"), ("^a$", "^a$"), (r"\Aa\z", "^a$"),
        (r"\d", "[0-9]"), (r"\w", "[0-9A-Z_a-z]"), (r"\s", "[\t\n\f\r ]"), (r"\D", "[^0-9]"), (r"\W", "[^0-9A-Z_a-z]"), (r"\S", "[^\t\n\f\r ]"), (r"[^\W]", "[0-9A-Z_a-z]"),
        (r"[\s\S]", "(?:.|\n)"), (r"[^\n]", "."), ("[a]", "a"), ("[cab]", "[a-c]"), ("[a-cb-dx]", "[a-dx]"), ("[ab]", "[ab]"), ("[^a]", "[^a]"), (r"[^\d\s]", "[^\t\n\f\r 0-9]"),
        (r"[\w.-]", r"[\-.0-9A-Z_a-z]"), ("[-a]", r"[\-a]"), ("[a-]", r"[\-a]"), ("[-]", "-"), ("[^-]", r"[^\-]"), (r"[\]^\\[]", r"[[-\^]"), ("[x^]", r"[\^x]"), ("[+--]", r"[+-\-]"),
        (r"\.\*\-\@\/", r"\.\*-@/"), (r"\t\n\x41", "\t\nA"), ('{"k"}', r'\{"k"\}'), ("a{", r"a\{"), ("]", "]"), ("é😀", "é😀"), ("[à-ü]", "[à-ü]"), (r"\]\}", r"]\}"),
        ("a*b+c?", "a*b+c?"), ("a*?b+?c??", "a*?b+?c??"), ("a{3}", "a{3}"), ("a{2}?b", "a{2}?b"), ("a{0,}b", "a*b"), ("a{1,}", "a+"), ("a{3,}?", "a{3,}?"), ("a{0,1}b", "a?b"),
        ("a{1,3}", "a{1,3}"), ("(?:ab){2}", "(?:ab){2}"), ("(?:a{2}){2}", "(?:a{2}){2}"), (r"\d{2,}", "[0-9]{2,}"), ("[ab]{0,2}x", "[ab]{0,2}x"),
        ("", "(?:)"), ("a|", "a|(?:)"), ("()", "(?:(?:))"), ("(a*)*", "(?:a*)*"), ("a^*", "a(?:^)*"), ("a\0", r"a\x{0}"), ("(?P<n>a)(?<m>b)", "(?:a)(?:b)"), ("(?i)k1", "[Kk\u212a]1"),
        ("(?i:a)b", "(?:[Aa])b"), ("a(?i)b|c", "a[Bb]|[Cc]"), ("(?i)[^a](?-i)b", "[^Aa]b"), ("(?s).(?-s).", "(?:.|\n)."), ("(?m)^a$", "(?m:^)a(?m:$)"), (r"(?m)\Aa\z", "^a$"), ("(?U)a+b+?", "a+?b+"),
        (r"\ba\B", r"\ba\B"), (r"\p{Zs}", "[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"), (r"[\pZ]", "[ \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"),
        ("[[:alpha:]_]", "[A-Z_a-z]"), ("[[:^digit:]]", "[^0-9]"), ("[]a]", r"[\]a]"), (r"\Qa.b\E+", r"a\.b+"), (r"\101\x{e9}\x41\07", "Aé" + "A\x07"),
    ],
)  # fmt: skip
def test_patterns_are_written_for_re2(pattern, written):
    assert parse_pattern(pattern).pattern_text() == written


def test_only_the_groups_asked_for_are_captured():
    pattern = parse_pattern(r"(a)(?:b)((c)|d)$")
    assert pattern.groups == 3
    assert pattern.pattern_text(1, 3) == "(a)(?:b)(?:(c)|d)$"
    assert pattern.pattern_text(2, bracket="(?P<x>") == "(?:a)(?:b)(?P<x>(?:c)|d)$"


@pytest.mark.parametrize(
    ("pattern", "problem", "hint"),
    [
        ("(?=a)", f"{NO} a look-ahead '(?=', at character 1", "Test for one pattern after the other."),
        ("a(?!b)", f"{NO} a look-ahead '(?!', at character 2", "Test for one pattern after the other."),
        ("(?<=a)b", f"{NO} a look-behind '(?<=', at character 1", "Test for one pattern after the other."),
        ("(?<!a)b", f"{NO} a look-behind '(?<!', at character 1", "Test for one pattern after the other."),
        ("(?>a)", f"{NO} an atomic group '(?>', at character 1", "Test for one pattern after the other."),
        ("(?#a)", f"{NO} a comment '(?#', at character 1", "Test for one pattern after the other."),
        (r"\p{Greek}", f"{NO} the Unicode property '\\p{{Greek}}', at character 1", "Write a general category, such as \\p{L} or \\p{Lu}, or a class of ranges, such as [α-ω]."),
        ("[[:thing:]]", f"{NO} the named class '[:thing:]', at character 2", "There are alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, space, upper, word, xdigit."),
        ("(?P<n>a)(?P<n>b)", "two groups are named 'n', at character 9", "Rename one."), ("[a", "this '[' is not closed, at character 1", "Write \\[ for the character."),
        (r"\x{110000}", "'\\x{110000}' is not a code point of Unicode, at character 1", ""),
        (r"\B|a*", "'\\B' stands in a pattern that can match an empty string, at character 1", "Write what follows it."),
        (r"[\b]", f"{NO} a word boundary inside of a class '\\b', at character 2", "Write it outside of the brackets."),
        ("(?", f"{NO} a group '(?', at character 1", "Write (…), (?:…), (?P<name>…), or flags: (?i), (?s), (?m), (?U), (?-i)."),
        (r"(a)\1", f"{NO} a back reference '\\1', at character 4", "A pattern cannot refer to its own groups."),
        (r"a\Z", f"{NO} the anchor '\\Z', at character 2", "Write $: it matches only the end of the string."),
        (r"\h", f"{NO} the escape '\\h', at character 1", "Write the character itself; \\ stands before a special one."),
        (r"\é", f"{NO} the escape '\\é', at character 1", "Write the character itself; \\ stands before a special one."),
        ("a\\", f"{NO} the escape '\\', at character 2", "Write the character itself; \\ stands before a special one."),
        ("a++", f"{NO} a second quantifier '+', at character 3", "Write one; a ? after it takes the shortest match."),
        ("a*+", f"{NO} a second quantifier '+', at character 3", "Write one; a ? after it takes the shortest match."),
        ("a{2}{3}", f"{NO} a second quantifier '{{', at character 5", "Write one; a ? after it takes the shortest match."),
        ("a???", f"{NO} a second quantifier '?', at character 4", "Write one; a ? after it takes the shortest match."),
        ("*a", "'*' repeats nothing, at character 1", "Write \\* for the character."),
        ("(+a)", "'+' repeats nothing, at character 2", "Write \\+ for the character."),
        ("a|?", "'?' repeats nothing, at character 3", "Write \\? for the character."),
        ("{2}a", "'{' is not a valid repetition, at character 1", "Write {least,most} after an item, or \\{ for the character."),
        ("a{,3}", "'{' is not a valid repetition, at character 2", "Write {least,most} after an item, or \\{ for the character."),
        ("a{3,2}", "'{3,2}' repeats nothing, at character 2", "Write {least,most}, such as {1,3}."),
        ("a{0}", "'{0}' repeats nothing, at character 2", "Write {least,most}, such as {1,3}."),
        ("(a", "this '(' is not closed, at character 1", "Write \\( for the character."),
        ("a)b", "')' has no '(', at character 2", "Write \\) for the character."),
        ("[a-", "this '[' is not closed, at character 1", "Write \\[ for the character."),
        (r"[^\s\S]", "this class has no character, at character 1", ""),
        ("[z-a]", "'z-a' is not a valid range of characters, at character 2", "Write \\- for the character."),
        (r"[a-\d]", "'a-\\d' is not a valid range of characters, at character 2", "Write \\- for the character."),
        (r"[\d-z]", "'\\d-z' is not a valid range of characters, at character 2", "Write \\- for the character."),
        ("[a-z-9]", "'-' stands between no two characters, at character 5", "Write \\- for the character."),
        ("(?:a{50}){50}", "it is 2,500 characters long with its repetitions written out; 1,000 are allowed", "Repeat less often, or test length(text) as well."),
        ("a{999999999}", "it is 999,999,999 characters long with its repetitions written out; 1,000 are allowed", "Repeat less often, or test length(text) as well."),
        ("(" * 33 + "a" + ")" * 33, "groups nest deeper than 32, at character 33", ""),
    ],
)  # fmt: skip
def test_what_engines_do_not_share_is_refused_with_its_place(pattern, problem, hint):
    with pytest.raises(InvalidPattern) as error:
        parse_pattern(pattern)
    assert (str(error.value), error.value.hint) == (problem, hint)


@pytest.mark.parametrize("text", [r"a\q", "\\", "${1}", r"\x", "a${12}b"])
def test_a_replacement_with_other_references_is_refused(text):
    with pytest.raises(InvalidPattern, match="in the replacement, at character"):
        parse_replacement(text)


def test_a_replacement_is_strings_and_groups():
    assert parse_replacement(r"a\1\\b\10$1 {}") == ("a", 1, "\\", "b", 1, "0", "$", "1 {}")


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("regexp_like(t, '(?=a)')", f"regexp_like cannot take the pattern '(?=a)': {NO} a look-ahead '(?=', at character 1", "Test for one pattern after the other."),
        ("t RLIKE '['", "regexp_like cannot take the pattern '[': this '[' is not closed, at character 1", "Write \\[ for the character."),
        ("regexp_replace(t, '(a)', '\\2')", "regexp_replace takes the number of a group, got 2: the pattern has 1 group", "0 is the whole match."),
        ("regexp_replace(t, 'a', '\\d')", "regexp_replace cannot take '\\d' in the replacement, at character 1", "Write \\1 for what group 1 matched, and \\\\ for a backslash."),
        ("regexp_extract(t, 'a', 1)", "regexp_extract takes the number of a group, got 1: the pattern has 0 groups", "0 is the whole match."),
        ("regexp_extract(t, 'a', -1)", "regexp_extract takes the number of a group, got -1: the pattern has 0 groups", "0 is the whole match."),
        ("regexp_split_to_array(t, 'a*')", "regexp_split_to_array cannot take the pattern 'a*': it can match an empty string", "Write + for *; split(text, '') parts all characters."),
        ("regexp_like(t, 'a', 'x')", "regexp_like takes the options c, i, l, m, n, p, s, got 'x'", "Write 'i' for any case, 's' where . is also a newline, 'l' for no special characters."),
        ("regexp_replace(t, 'a', 'b', 'i')", "regexp_replace replaces every match, got the options 'i'", "Write 'ig': other databases replace only the first match without g."),
        ("regexp_extract_all(t, 'a', 1)", "regexp_extract_all takes the number of a group, got 1: the pattern has 0 groups", "0 is the whole match."),
        ("regexp_extract(t, '(a)', [])", "regexp_extract takes at least one name for each group from the first, as constants", "Write ['year', 'month']."), ("regexp_extract_all(t, '(a)', [t])", "regexp_extract_all takes a name for each group from the first, as constants", "Write ['year', 'month']."),
        ("regexp_extract(t, '(a)(b)', ['x', 'x'])", "regexp_extract has two groups named 'x'", "Rename one."), ("regexp_extract(t, '(a)', ['x', 'y'])", "regexp_extract takes the number of a group, got 2: the pattern has 1 group", "0 is the whole match."),
        ("t ~* 'a'", "gpuetl does not support '~*'", "Write regexp_like(text, pattern, 'i')."),
        ("regexp_like(t, t, t)", "regexp_like takes a constant or a $parameter as options", ""), ("regexp_like(t, 'a', NULL)", "regexp_like takes a constant that is not null as options", "A parameter needs a value or a default here."),
        ("regexp_like(t, 1)", "regexp_like takes string, got int64", ""),
    ],
)  # fmt: skip
def test_calls_are_checked_when_they_are_typed(sql, message, hint):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, {"t": STRING})
    assert (error.value.message, error.value.hint) == (message, hint)


def test_a_pattern_in_a_parameter_is_checked_when_it_is_bound():
    sql = "regexp_replace(t, $p, $r)"
    typed(sql, {"t": STRING}, {"p": Parameter("p", STRING), "r": Parameter("r", STRING)})
    typed("regexp_extract(t, $p, $g)", {"t": STRING}, {"p": Parameter("p", STRING), "g": Parameter("g", INT64)})
    with pytest.raises(InvalidExpression, match="this '\\(' is not closed"):
        typed(sql, {"t": STRING}, {"p": Literal("(a", STRING), "r": Literal("", STRING)})


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (r"regexp_like('ab1', '\d$')", True), (r"regexp_like('ab1\n', 'x')", False), ("regexp_like('a\n', 'a$')", False), ("regexp_like('a\nb', '^b')", False),
        ("regexp_like('a\nb', 'a.b')", False), (r"regexp_like('a\nb', 'a[^x]b')", False), ("regexp_like('a\nb', 'a[^x]b')", True), (r"regexp_like('٣', '\d')", False),
        (r"regexp_like('é', '\w')", False), (r"regexp_like('\u00a0', '\s')", False), ("regexp_like('\v', '\\s')", False), ("regexp_like('\x1c', '\\s')", False),
        ("regexp_like('K', 'k')", False), ("regexp_like('', '^$')", True), ("regexp_like('', 'a*')", True), ("regexp_like('ab', 'a^b')", False), (r"'a.b' RLIKE 'a\.b'", True),
        ("regexp_full_match('abc', 'a|abc')", True), ("regexp_full_match('ab\n', 'ab')", False), ("regexp_full_match('ab', 'b')", False), ("regexp_full_match('ab', '^ab$')", True),
        ("regexp_extract('abc', 'x')", None), ("regexp_extract('abc', 'b|abc')", "abc"), ("regexp_extract('abab', '(a)(x)?', 2)", ""), ("regexp_extract('a1', '([a-z])([0-9])', 2)", "1"),
        ("regexp_extract('abc', 'a|ab')", "a"), ("regexp_extract('aaa', 'a{1,2}')", "aa"), ("regexp_extract('aaa', 'a{1,2}?')", "a"), ("regexp_extract('<a><b>', '<.*?>')", "<a>"),
        ("regexp_extract('<a><b>', '<.*>')", "<a><b>"), ("regexp_extract('x', 'y*')", ""), ("regexp_extract('a😀b', '.b')", "😀b"), ("regexp_extract('ab', '((a)b)', 2)", "a"),
        ("regexp_replace('aaa', 'aa', 'b')", "ba"), ("regexp_replace('aaa', '^a', 'b')", "baa"), (r"regexp_replace('john smith', '(\w+) (\w+)', '\2, \1')", "smith, john"),
        (r"regexp_replace('a', 'a', '\\\0$1')", "\\a$1"), (r"regexp_replace('ab', '(a)|(b)', '[\1|\2]')", "[a|][|b]"), ("regexp_replace('abc', 'x', 'y')", "abc"),
        (r"regexp_replace('a-b', '(\w)-(?:x|(\w))', '\2\2')", "bb"), ("regexp_replace('', 'a', 'b')", ""), (r"regexp_replace('ab', '((a)(b))', '\3\2')", "ba"),
        ("regexp_count('aaa', '^a')", 1), ("regexp_count('aaaa', 'aa')", 2), ("regexp_count('', 'a')", 0), ("regexp_count('x,x', '(^|,)x')", 2), ("regexp_count('xx', '(^|,)x')", 1),
        ("regexp_count('a😀é', '.')", 3), ("regexp_count('a a', 'a$')", 1), ("regexp_count('aab', 'a*')", 2), ("regexp_count('añ', '')", 3),
        ("regexp_replace('baac', 'a*', '-')", "-b-c-"), ("regexp_replace('ab ab', '\\b', '|')", "|ab| |ab|"), ("regexp_replace('é😀', 'x*', '-')", "-é-😀-"),
        ("regexp_replace('AB ab', 'ab', 'x', 'gi')", "x x"), ("regexp_replace('a.b', '.', '-', 'gl')", "a-b"), ("regexp_extract('aab', '(a|b)*', 1)", "b"), ("regexp_extract('aab', '(|a)+')", ""),
        ("regexp_like('A', 'a', 'i')", True), ("regexp_like('A', 'a', 'ic')", False), ("regexp_like('ſ K', '^s k$', 'i')", True), ("regexp_full_match('a\nb', 'a.b', 's')", True), ("regexp_full_match('a\nb', 'a.b', 'sm')", False),
        ("regexp_like('a\nb', '(?m)^b$')", True), ("regexp_like('a\nb', '(?m)a$')", True), ("regexp_like('xab', '\\bab')", False), ("regexp_like('x ab', '\\bab\\b')", True), ("regexp_like('xab', '\\Bab')", True), ("regexp_like('éab', '\\bab')", True),
        ("regexp_extract('né 1', '\\p{L}+')", "né"), ("regexp_extract('xÑy', '\\p{Lu}')", "Ñ"), ("regexp_extract('é1', '[^\\pL]')", "1"), ("regexp_extract('a-B', '[[:upper:]]')", "B"),
        ("regexp_extract_all('a1 b2', '([a-z])(\\d)', 2)", ["1", "2"]), ("regexp_extract_all('aab', 'a*')", ["aa", "", ""]), ("regexp_extract_all('abb', '(x)?b', 1)", [None, None]), ("regexp_extract_all('aaa', '^a')", ["a"]),
        ("regexp_extract_all('ñaé', '')", ["", "", "", ""]), ("regexp_extract_all('ab ab', '\\bab')", ["ab", "ab"]), ("regexp_extract_all('', 'a')", []), ("regexp_extract_all('aXx', 'x', 0, 'i')", ["X", "x"]), ("regexp_extract_all('a\nb', '(?m)^.')", ["a", "b"]),
        ("regexp_split_to_array('a1bb22', '\\d+')", ["a", "bb", ""]), ("regexp_split_to_array('', 'x')", [""]), ("regexp_split_to_array('aaa', '^a')", ["", "aa"]), ("regexp_split_to_array('aXbx', 'x', 'i')", ["a", "b", ""]),
        ("string_split_regex('a, b', ',\\s*')", ["a", "b"]), ("regexp_extract(NULL, 'a')", None), ("regexp_extract_all(NULL, 'a')", None),
    ],
)  # fmt: skip
def test_what_patterns_match(sql, expected):
    assert value(sql) == expected


OF_ROWS = table(
    t=("string", ["abc1", "x22y3", None, "zz", "", "naïve é", "ABC"]),
    p=("string", ["[a-c]+", "\\d+", "[", "", None, "(?i)(É)|x", "(b)(c)"]),
    r=("string", ["<\\0>", "#", "\\9", ".", "q", "\\1\\1", "\\2"]),
    g=("int64", [0, 0, 5, 0, 0, 1, 2]),
)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("regexp_like(t, p)", [True, True, None, True, None, True, False]), ("t RLIKE p", [True, True, None, True, None, True, False]), ("t ~ p", [True, True, None, True, None, True, False]), ("t !~ p || '$'", [True, False, None, False, None, False, True]), ("regexp_like(t, p, 'i')", [True, True, None, True, None, True, True]),
        ("regexp_full_match(t, p || '.*')", [True, False, None, True, None, False, False]), ("regexp_full_match('abc', CASE WHEN p <> '[' THEN p END)", [True, False, None, False, None, False, False]),
        ("regexp_extract(t, p)", ["abc", "22", None, "", None, "é", None]), ("regexp_extract(t, p, g)", ["abc", "22", None, "", None, "é", None]), ("regexp_extract(t, p, g, 'i')", ["abc", "22", None, "", None, "é", "C"]),
        ("regexp_extract(t, '(.)(.)?', g)", ["ab", "x2", None, "zz", None, "n", "B"]), ("regexp_extract_all(t, p)", [["abc"], ["22", "3"], None, ["", "", ""], None, ["é"], []]),
        ("regexp_extract_all(t, p, g)", [["abc"], ["22", "3"], None, ["", "", ""], None, ["é"], []]), ("regexp_split_to_array(t, p || '\\d')", [["", ""], ["x", "y3"], None, ["zz"], None, ["naïve ", ""], ["ABC"]]),
        ("regexp_replace(t, p, r)", ["<abc>1", "x#y#", None, ".z.z.", None, "naïve éé", "ABC"]), ("regexp_replace(t, p, '-')", ["-1", "x-y-", None, "-z-z-", None, "naïve -", "ABC"]), ("regexp_replace(t, '(.)(.)', r)", ["<ab><c1>", "##3", None, ".", "", "nnïïeeé", "BC"]),
        ("regexp_count(t, p)", [1, 2, None, 3, None, 1, 0]), ("regexp_count(t, NULL)", [None] * 7), ("regexp_replace(t, 'a', NULL)", [None] * 7), ("regexp_extract(t, 'a', NULL)", [None] * 7),
        ("regexp_extract(t, '([a-z])(\\d)?', ['letter', 'digit'])", [*({"letter": x, "digit": y} for x, y in (("a", ""), ("x", "2"))), None, {"letter": "z", "digit": ""}, None, {"letter": "n", "digit": ""}, None]),
        ("regexp_extract(t, p || '()', ['x']).x", ["", "", None, "", None, "é", None]), ("regexp_extract_all(t, '([a-z])(\\d)?', ['c', 'd'], 'i')[2].d", [None, "3", None, None, None, None, None]),
        ("regexp_extract_all(t, '([xy])(\\d)', ['c'])", [[], [{"c": "x"}, {"c": "y"}], None, [], [], [], []]), ("t SIMILAR TO '[a-z]+\\d'", [True, False, None, False, False, False, False]),
        ("t NOT SIMILAR TO p || '.*'", [False, True, None, False, None, True, True]),
        ("CASE WHEN g = 5 THEN 'left out' WHEN regexp_like('x', p) THEN 'yes' END", [None, None, "left out", "yes", None, "yes", None]),
    ],
)  # fmt: skip
def test_patterns_groups_and_replacements_come_from_columns(sql, expected):
    assert values(sql, OF_ROWS) == expected
    assert values(sql, OF_ROWS.slice(2, 1)) == expected[2:3]
    assert values(sql, OF_ROWS.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("regexp_like('abc', p)", "regexp_like('abc', p) has no result in row 2, for abc, [: the pattern is not valid: this '[' is not closed, at character 1"),
        ("regexp_replace('a', 'a', r)", "regexp_replace('a', 'a', r) has no result in row 2, for a, a, \\9: it asks for group 9, and the pattern has 0 groups"),
        ("regexp_replace(t, p, r || '\\')", "regexp_replace(t, p, r || '\\') has no result in row 0, for abc1, [a-c]+, <\\0>\\: the replacement is not valid: '\\' in the replacement, at character 5"),
        ("regexp_extract(t, p, g + 1)", "regexp_extract(t, p, g + 1) has no result in row 0, for abc1, [a-c]+, 1: it asks for group 1, and the pattern has 0 groups"),
        ("regexp_extract_all(t, '(a)', -g)", "regexp_extract_all(t, '(a)', -g) has no result in row 5, for naïve é, (a), -1: it asks for group -1, and the pattern has 1 group"),
        ("regexp_split_to_array(t, p)", "regexp_split_to_array(t, p) has no result in row 3, for zz, : the pattern can match an empty string"),
    ],
)  # fmt: skip
def test_a_pattern_of_a_row_that_is_refused_is_an_error_with_the_row(sql, message):
    with pytest.raises(NoResult) as error:
        values(sql, OF_ROWS)
    assert str(error.value.args[0]) == message
    assert error.value.hint == "Correct it in the data, or leave such rows out."


@pytest.mark.parametrize("pattern", ["x{0,999}y", "[^a]{1000}", "(.|\\n){500}", "(?:a?b){500}", r"\W{1,1000}"])
def test_the_longest_patterns_are_taken_by_the_engine(pattern):
    assert value(f"regexp_like('xxy', '{pattern}')") in (True, False)


END = "§"  # `$` here, `\Z` in Python, whose `$` stops before a last newline as well
CHARACTERS = st.sampled_from(["a", "b", "-", "1", "é", "😀", "\n", " ", "_", ".", "]", "^", "\\", "$", "B"])
ATOMS = st.sampled_from(
    [
        "a",
        "b",
        r"\.",
        "é",
        "😀",
        ".",
        r"\d",
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        "[ab]",
        "[^a]",
        r"[^\d\n]",
        r"[\]\\^-]",
        "[a-z_-]",
        "^",
        "$",
        r"\$",
        r"\\",
    ]
)


def patterns(inner):
    repeated = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{1,}", "{2,}?"])
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda options: f"({'|'.join(options)})"),
        st.builds(lambda body, sign: f"(?:{body}){sign}", inner, repeated),
        inner.map(lambda body: f"({body})"),
    )


@pytest.mark.slow
@settings(max_examples=in_full(600, 250), deadline=None, derandomize=True)
@given(st.recursive(ATOMS, patterns, max_leaves=6), st.lists(st.text(CHARACTERS, max_size=6), min_size=1, max_size=4))
def test_answers_are_those_of_python(generated, texts):
    pattern, python = generated.replace(END, "$"), re.compile(generated.replace(END, r"\Z"), re.ASCII)
    parsed = parse_pattern(pattern)
    if repeats_empty(parsed.root):
        return
    frame, quoted = table(t=("string", texts)), constant_text(pattern)
    found = [python.search(text) for text in texts]
    assert values(f"regexp_like(t, {quoted})", frame) == [bool(hit) for hit in found]
    assert values(f"regexp_full_match(t, {quoted})", frame) == [bool(python.fullmatch(text)) for text in texts]
    for group in range(parsed.groups + 1):
        expected = [hit and (hit[group] or "") for hit in found]
        assert values(f"regexp_extract(t, {quoted}, {group})", frame) == expected
    if not parsed.can_be_empty:
        assert values(f"regexp_count(t, {quoted})", frame) == [len([*python.finditer(text)]) for text in texts]
        assert values(f"regexp_replace(t, {quoted}, '<\\0>')", frame) == [
            python.sub(r"<\g<0>>", text) for text in texts
        ]


def repeats_empty(node):
    """Tell whether something that can be empty is repeated: there Python is unlike RE2."""
    match node:
        case Repeat():
            return can_be_empty(node.item) or repeats_empty(node.item)
        case Group():
            return repeats_empty(node.body)
        case Sequence():
            return any(map(repeats_empty, node.items))
        case Choice():
            return any(map(repeats_empty, node.options))
    return False


def test_patterns_may_hold_every_character():
    everything = "".join(map(chr, [*range(0, 0xD800), *range(0xE000, 0x11000)]))
    escaped = re.sub(r"[\\^$.|?*+()\[\]{}]", r"\\\g<0>", everything)
    for start in range(0, len(escaped) - 900, 17_011):
        piece = re.sub(r"^\\?.|\\$", "", escaped[start : start + 900], flags=re.DOTALL)
        assert pc.match_substring_regex(everything, pattern=parse_pattern(piece).pattern_text()).as_py()
