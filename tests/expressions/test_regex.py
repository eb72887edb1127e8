"""Regular expressions: what is refused, the form that engines get, and answers beside those of Python's `re`."""

import re

import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions.evaluation import table, typed, value, values
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.ir import Literal, Parameter
from gpuetl.expressions.regex import InvalidPattern, parse_pattern, parse_replacement
from gpuetl.expressions.unparse import constant_text
from gpuetl.types.data_types import INT64, STRING

UNLIKE = "does not mean the same on all engines"


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("a", "a"), ("a.c", "a.c"), ("a|b|cd", "a|b|cd"), ("(a)(?:b)(c)", "(?:a)(?:b)(?:c)"), ("^a$", "^a$"), (r"\Aa\z", "^a$"),
        (r"\d", "[0-9]"), (r"\w", "[0-9A-Z_a-z]"), (r"\s", "[\t-\r ]"), (r"\D", "[^0-9]"), (r"\W", "[^0-9A-Z_a-z]"), (r"\S", "[^\t-\r ]"), (r"[^\W]", "[0-9A-Z_a-z]"),
        (r"[\s\S]", "(?:.|\n)"), (r"[^\n]", "."), ("[a]", "a"), ("[cab]", "[a-c]"), ("[a-cb-dx]", "[a-dx]"), ("[ab]", "[ab]"), ("[^a]", "[^a]"), (r"[^\d\s]", "[^\t-\r 0-9]"),
        (r"[\w.-]", r"[\-.0-9A-Z_a-z]"), ("[-a]", r"[\-a]"), ("[a-]", r"[\-a]"), ("[-]", "-"), ("[^-]", r"[^\-]"), (r"[\]^\\[]", r"[[-\^]"), ("[x^]", r"[\^x]"), ("[+--]", r"[+-\-]"),
        (r"\.\*\-\@\/", r"\.\*-@/"), (r"\t\n\x41", "\t\nA"), ('{"k"}', r'\{"k"\}'), ("a{", r"a\{"), ("]", "]"), ("é😀", "é😀"), ("[à-ü]", "[à-ü]"), (r"\]\}", r"]\}"),
        ("a*b+c?", "a*b+c?"), ("a*?b+?c??", "a*?b+?c??"), ("a{3}", "aaa"), ("a{2}?b", "aab"), ("a{0,}b", "a*b"), ("a{1,}", "a+"), ("a{3,}?", "aaa+?"), ("a{0,1}b", "a?b"),
        ("a{1,3}", "a(?:aa?)?"), ("a{1,3}?", "a(?:aa??)??"), ("(?:ab){2}", "(?:ab)(?:ab)"), ("(?:a{2}){2}", "(?:aa)(?:aa)"), (r"\d{2,}", "[0-9][0-9]+"), ("[ab]{0,2}x", "(?:[ab][ab]?)?x"),
    ],
)  # fmt: skip
def test_patterns_are_written_in_the_few_forms_that_engines_share(pattern, written):
    assert parse_pattern(pattern).pattern_text() == written


def test_only_the_groups_asked_for_are_captured_and_the_end_is_the_engines():
    pattern = parse_pattern(r"(a)(?:b)((c)|d)$")
    assert pattern.groups == 3
    assert pattern.pattern_text(1, 3) == "(a)(?:b)(?:(c)|d)$"
    assert pattern.pattern_text(2, bracket="(?P<x>", end=r"\Z") == r"(?:a)(?:b)(?P<x>(?:c)|d)\Z"


@pytest.mark.parametrize(
    ("pattern", "problem", "hint"),
    [
        ("(?=a)", f"a look-ahead '(?=' {UNLIKE}, at character 1", "Test for one pattern after the other."),
        ("a(?!b)", f"a look-ahead '(?!' {UNLIKE}, at character 2", "Test for one pattern after the other."),
        ("(?<=a)b", f"a look-behind '(?<=' {UNLIKE}, at character 1", "Test for one pattern after the other."),
        ("(?<!a)b", f"a look-behind '(?<!' {UNLIKE}, at character 1", "Test for one pattern after the other."),
        ("(?P<n>a)", f"a named group '(?P<' {UNLIKE}, at character 1", "Write (…): groups are counted from 1."),
        ("(?<n>a)", f"a named group '(?<' {UNLIKE}, at character 1", "Write (…): groups are counted from 1."),
        ("(?i)a", f"a flag '(?i' {UNLIKE}, at character 1", "Match lower(text) where case does not matter; (.|\\n) is any character."),
        ("(?s:a)", f"a flag '(?s' {UNLIKE}, at character 1", "Match lower(text) where case does not matter; (.|\\n) is any character."),
        ("(?>a)", f"an atomic group '(?>' {UNLIKE}, at character 1", "Test for one pattern after the other."),
        ("(?#a)", f"a comment '(?#' {UNLIKE}, at character 1", "Test for one pattern after the other."),
        ("(?", f"a flag '(?' {UNLIKE}, at character 1", "Match lower(text) where case does not matter; (.|\\n) is any character."),
        (r"(a)\1", f"a back reference '\\1' {UNLIKE}, at character 4", "A pattern cannot refer to its own groups."),
        (r"\ba", f"a word boundary '\\b' {UNLIKE}, at character 1", "Write what can stand next to the word, such as (^|[^A-Za-z0-9_])word([^A-Za-z0-9_]|$)."),
        (r"\p{L}", f"a Unicode property '\\p' {UNLIKE}, at character 1", "Write a class of ranges, such as [A-Za-zÀ-ÿ]."),
        (r"a\Z", f"the anchor '\\Z' {UNLIKE}, at character 2", "Write $: it matches only the end of the string."),
        (r"\017", f"an octal escape '\\0' {UNLIKE}, at character 1", "Write the character itself."),
        (r"\Qa\E", f"a quotation '\\Q' {UNLIKE}, at character 1", "Put a \\ before each special character."),
        (r"\h", f"the escape '\\h' {UNLIKE}, at character 1", "Write the character itself; \\ stands before a special one."),
        (r"\é", f"the escape '\\é' {UNLIKE}, at character 1", "Write the character itself; \\ stands before a special one."),
        (r"\x00", f"the escape '\\x' {UNLIKE}, at character 1", "Write the character itself; \\ stands before a special one."),
        (r"\xe9", f"the escape '\\x' {UNLIKE}, at character 1", "Write the character itself; \\ stands before a special one."),
        ("a\\", f"the escape '\\' {UNLIKE}, at character 2", "Write the character itself; \\ stands before a special one."),
        ("[[:alpha:]]", f"the named class '[:' {UNLIKE}, at character 2", "Write its ranges, such as [A-Za-z]."),
        ("a++", f"a second quantifier '+' {UNLIKE}, at character 3", "Write one; a ? after it takes the shortest match."),
        ("a*+", f"a second quantifier '+' {UNLIKE}, at character 3", "Write one; a ? after it takes the shortest match."),
        ("a{2}{3}", f"a second quantifier '{{' {UNLIKE}, at character 5", "Write one; a ? after it takes the shortest match."),
        ("a???", f"a second quantifier '?' {UNLIKE}, at character 4", "Write one; a ? after it takes the shortest match."),
        ("", "there is nothing to match, at character 1", "Write (…)? for what may be absent."),
        ("a|", "there is nothing to match, at character 3", "Write (…)? for what may be absent."),
        ("(|a)", "there is nothing to match, at character 2", "Write (…)? for what may be absent."),
        ("()", "there is nothing to match, at character 2", "Write (…)? for what may be absent."),
        ("*a", "'*' repeats nothing, at character 1", "Write \\* for the character."),
        ("(+a)", "'+' repeats nothing, at character 2", "Write \\+ for the character."),
        ("a|?", "'?' repeats nothing, at character 3", "Write \\? for the character."),
        ("{2}a", "'{' is not a valid repetition, at character 1", "Write {least,most} after an item, or \\{ for the character."),
        ("a{,3}", "'{' is not a valid repetition, at character 2", "Write {least,most} after an item, or \\{ for the character."),
        ("a{3,2}", "'{3,2}' repeats nothing, at character 2", "Write {least,most}, such as {1,3}."),
        ("a{0}", "'{0}' repeats nothing, at character 2", "Write {least,most}, such as {1,3}."),
        ("(a*)*", "'(a*)' can match an empty string and cannot be repeated, at character 1", "Take one of the quantifiers away."),
        ("(a|b?)+", "'(a|b?)' can match an empty string and cannot be repeated, at character 1", "Take one of the quantifiers away."),
        ("a^*", "'^' can match an empty string and cannot be repeated, at character 2", "Take one of the quantifiers away."),
        ("(a", "this '(' is not closed, at character 1", "Write \\( for the character."),
        ("a)b", "')' has no '(', at character 2", "Write \\) for the character."),
        ("[a", "this '[' is not closed, at character 1", "Write \\[ for the character."),
        ("[a-", "this '[' is not closed, at character 1", "Write \\[ for the character."),
        ("[]a]", "this class is empty, at character 1", "Write \\] for the character."),
        ("[^]", "this class is empty, at character 1", "Write \\] for the character."),
        (r"[^\s\S]", "this class has no character, at character 1", ""),
        ("[z-a]", "'z-a' is not a valid range of characters, at character 2", "Write \\- for the character."),
        (r"[a-\d]", "'a-\\d' is not a valid range of characters, at character 2", "Write \\- for the character."),
        (r"[\d-z]", "'\\d-z' is not a valid range of characters, at character 2", "Write \\- for the character."),
        ("[a-z-9]", "'-' stands between no two characters, at character 5", "Write \\- for the character."),
        ("a\0", "the character 0 cannot stand in a pattern, at character 2", ""),
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
        ("regexp_like(t, '(?=a)')", f"regexp_like cannot take the pattern '(?=a)': a look-ahead '(?=' {UNLIKE}, at character 1", "Test for one pattern after the other."),
        ("t RLIKE '['", "regexp_like cannot take the pattern '[': this '[' is not closed, at character 1", "Write \\[ for the character."),
        ("regexp_count(t, 'a*')", "regexp_count cannot take the pattern 'a*': it can match an empty string", "Write + for *, so that there is something to count."),
        ("regexp_replace(t, 'a?', 'b')", "regexp_replace cannot take the pattern 'a?': it can match an empty string", "Write + for *; || joins strings."),
        ("regexp_replace(t, '^|$', 'b')", "regexp_replace cannot take the pattern '^|$': it can match an empty string", "Write + for *; || joins strings."),
        ("regexp_replace(t, '(a)', '\\2')", "regexp_replace takes the number of a group, got 2: the pattern has 1 group", "0 is the whole match."),
        ("regexp_replace(t, '(a)+b', '\\1')", "regexp_replace cannot take group 1: it is repeated and so has several matches", "Put the repetition inside the group: ((?:…)+)."),
        ("regexp_replace(t, 'a', '\\d')", "regexp_replace cannot take '\\d' in the replacement, at character 1", "Write \\1 for what group 1 matched, and \\\\ for a backslash."),
        ("regexp_extract(t, 'a', 1)", "regexp_extract takes the number of a group, got 1: the pattern has 0 groups", "0 is the whole match."),
        ("regexp_extract(t, 'a', -1)", "regexp_extract takes the number of a group, got -1: the pattern has 0 groups", "0 is the whole match."),
        ("regexp_extract(t, '((a)b){2}', 2)", "regexp_extract cannot take group 2: it is repeated and so has several matches", "Put the repetition inside the group: ((?:…)+)."),
        ("regexp_like(t, t)", "regexp_like takes a constant or a $parameter as pattern", ""),
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
    with pytest.raises(InvalidExpression, match="it can match an empty string"):
        typed(sql, {"t": STRING}, {"p": Literal("a*", STRING), "r": Literal("", STRING)})


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (r"regexp_like('ab1', '\d$')", True), (r"regexp_like('ab1\n', 'x')", False), ("regexp_like('a\n', 'a$')", False), ("regexp_like('a\nb', '^b')", False),
        ("regexp_like('a\nb', 'a.b')", False), (r"regexp_like('a\nb', 'a[^x]b')", False), ("regexp_like('a\nb', 'a[^x]b')", True), (r"regexp_like('٣', '\d')", False),
        (r"regexp_like('é', '\w')", False), (r"regexp_like('\u00a0', '\s')", False), ("regexp_like('\v', '\\s')", True), ("regexp_like('\x1c', '\\s')", False),
        ("regexp_like('K', 'k')", False), ("regexp_like('', '^$')", True), ("regexp_like('', 'a*')", True), ("regexp_like('ab', 'a^b')", False), (r"'a.b' RLIKE 'a\.b'", True),
        ("regexp_full_match('abc', 'a|abc')", True), ("regexp_full_match('ab\n', 'ab')", False), ("regexp_full_match('ab', 'b')", False), ("regexp_full_match('ab', '^ab$')", True),
        ("regexp_extract('abc', 'x')", None), ("regexp_extract('abc', 'b|abc')", "abc"), ("regexp_extract('abab', '(a)(x)?', 2)", ""), ("regexp_extract('a1', '([a-z])([0-9])', 2)", "1"),
        ("regexp_extract('abc', 'a|ab')", "a"), ("regexp_extract('aaa', 'a{1,2}')", "aa"), ("regexp_extract('aaa', 'a{1,2}?')", "a"), ("regexp_extract('<a><b>', '<.*?>')", "<a>"),
        ("regexp_extract('<a><b>', '<.*>')", "<a><b>"), ("regexp_extract('x', 'y*')", ""), ("regexp_extract('a😀b', '.b')", "😀b"), ("regexp_extract('ab', '((a)b)', 2)", "a"),
        ("regexp_replace('aaa', 'aa', 'b')", "ba"), ("regexp_replace('aaa', '^a', 'b')", "baa"), (r"regexp_replace('john smith', '(\w+) (\w+)', '\2, \1')", "smith, john"),
        (r"regexp_replace('a', 'a', '\\\0$1')", "\\a$1"), (r"regexp_replace('ab', '(a)|(b)', '[\1|\2]')", "[a|][|b]"), ("regexp_replace('abc', 'x', 'y')", "abc"),
        (r"regexp_replace('a-b', '(\w)-(?:x|(\w))', '\2\2')", "bb"), ("regexp_replace('', 'a', 'b')", ""), (r"regexp_replace('ab', '((a)(b))', '\3\2')", "ba"),
        ("regexp_count('aaa', '^a')", 1), ("regexp_count('aaaa', 'aa')", 2), ("regexp_count('', 'a')", 0), ("regexp_count('x,x', '(^|,)x')", 2), ("regexp_count('xx', '(^|,)x')", 1),
        ("regexp_count('a😀é', '.')", 3), ("regexp_count('a a', 'a$')", 1),
    ],
)  # fmt: skip
def test_what_patterns_match(sql, expected):
    assert value(sql) == expected


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
@settings(max_examples=1500, deadline=None, derandomize=True)
@given(st.recursive(ATOMS, patterns, max_leaves=6), st.lists(st.text(CHARACTERS, max_size=6), min_size=1, max_size=4))
def test_answers_are_those_of_python(generated, texts):
    pattern, python = generated.replace(END, "$"), re.compile(generated.replace(END, r"\Z"), re.ASCII)
    parsed = read_unless_empty_is_repeated(pattern)
    if parsed is None:
        return
    frame, quoted = table(t=("string", texts)), constant_text(pattern)
    found = [python.search(text) for text in texts]
    assert values(f"regexp_like(t, {quoted})", frame) == [bool(hit) for hit in found]
    assert values(f"regexp_full_match(t, {quoted})", frame) == [bool(python.fullmatch(text)) for text in texts]
    for group in set(range(parsed.groups + 1)) - parsed.repeated_groups:
        expected = [hit and (hit[group] or "") for hit in found]
        assert values(f"regexp_extract(t, {quoted}, {group})", frame) == expected
    if not parsed.can_be_empty:
        assert values(f"regexp_count(t, {quoted})", frame) == [len([*python.finditer(text)]) for text in texts]
        assert values(f"regexp_replace(t, {quoted}, '<\\0>')", frame) == [
            python.sub(r"<\g<0>>", text) for text in texts
        ]


def read_unless_empty_is_repeated(pattern):
    """Return the pattern, or None for the one thing that is refused of those generated."""
    try:
        return parse_pattern(pattern)
    except InvalidPattern as error:
        refused = "can match an empty string and cannot be repeated" in str(error)
        if not refused:
            raise
        return None


def test_patterns_may_hold_every_character_but_0():
    everything = "".join(map(chr, [*range(1, 0xD800), *range(0xE000, 0x11000)]))
    escaped = re.sub(r"[\\^$.|?*+()\[\]{}]", r"\\\g<0>", everything)
    for start in range(0, len(escaped) - 900, 17_011):
        piece = re.sub(r"^\\?.|\\$", "", escaped[start : start + 900], flags=re.DOTALL)
        assert pc.match_substring_regex(everything, pattern=parse_pattern(piece).pattern_text()).as_py()
