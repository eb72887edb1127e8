"""Automata of regular expressions: their tables beside RE2, their limits, and words of texts on the GPU's side."""

import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from gpu_engine import test_random_texts
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER
from gpu_engine.test_random_texts import random_patterns, random_texts, typed
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.codegen.functions import regex_automaton
from gpuetl.engines.cudf.codegen.functions.regex_automaton import FOUND, automaton_of, byte_ranges
from gpuetl.engines.cudf.codegen.functions.regex_instructions import whole
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.expressions.regex import parse_pattern
from gpuetl.types.data_types import STRING

OTHERS = (r"\b", r"\B", "(?m:^)", "(?m:$)", "(?i:aß)", "(?i:k)", r"[^\x{800}-\x{ffff}]", r"[\x{7f}-\x{10000}]", "(?s:.)", "",
          "a|", "(?:ab|é){2,4}")  # fmt: skip


def found(automaton, text):
    """Run an automaton over a text."""
    state = FOUND + 1
    for byte in text.encode():
        state = automaton.steps[state][automaton.classes[byte]]
    return automaton.steps[state][-1] == FOUND


def assert_found_as_by_re2(pattern, texts):
    """Raise `AssertionError` unless a pattern is found, and matches all, in the texts that RE2 says; return how many fit."""
    parsed = parse_pattern(pattern)
    fit = 0
    for root, text_of_re2 in (
        (parsed.root, parsed.pattern_text()),
        (whole(parsed.root), f"^(?:{parsed.pattern_text()})$"),
    ):
        if automaton := automaton_of(root):
            fit += 1
            expected = pc.match_substring_regex(pa.array(texts, STRING), text_of_re2).to_pylist()
            got = [found(automaton, text) for text in texts]
            assert got == expected, (pattern, [*zip(texts, got, expected, strict=True)])
    return fit


def test_random_patterns_are_found_as_by_re2(monkeypatch):
    monkeypatch.setattr(test_random_texts, "ATOMS", (*test_random_texts.ATOMS, *OTHERS))
    draws = random.Random(7)
    patterns = [pattern for pattern, _ in random_patterns(draws, 150)]
    fit = sum(
        assert_found_as_by_re2(pattern, [text for text in random_texts(draws, 25) if text is not None])
        for pattern in patterns
    )
    assert fit > 280


@pytest.mark.parametrize(
    "pattern",
    [
        "", "^", "$", "^$", "a*", "^a|b", "a$|b", r"\bno\b", r"\Bo", r"\B.", "(?m)^b.*$", "(?i)STRASSE|ß", "no|order|é+|12-|none", "[0-9]+-[0-9]+",
        "(?s)^.{3}$", "^.{3}$", "(a|b)*a(a|b){4}", "x^", "$.", "[^é]$", "😀", r"[^\x{10000}-\x{10ffff}]b",
    ],
)  # fmt: skip
def test_patterns_are_found_as_by_re2(pattern):
    texts = [
        "", "a", "b", "ab\nb", "no", "nor", "é", "éé no", "😀", "a😀b", "order 12-4", "12-", "straße", "STRASSE", "ß\n", "\n", "\n\n",
        "ababab", "\uffffb", "\U0010ffff", "xyz", "x\u0800z",
    ]  # fmt: skip
    assert assert_found_as_by_re2(pattern, texts) == 2


def test_characters_are_written_as_bytes():
    draws = random.Random(3)
    edges = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF, 0xFFF, 0x1000, 0x3FFFF, 0x40000]
    for _ in range(300):
        low, high = sorted(draws.choice([draws.choice(edges), draws.randrange(0x110000)]) for _ in range(2))
        ranges = [*byte_ranges(((low, high),))]
        near = [point + by for point in (low, high, *edges, draws.randrange(0x110000)) for by in (-1, 0, 1)]
        for point in (point for point in near if 0 <= point <= 0x10FFFF and not 0xD800 <= point < 0xE000):
            data = chr(point).encode()
            taken = sum(
                len(data) == len(each) and all(a <= byte <= b for byte, (a, b) in zip(data, each, strict=True))
                for each in ranges
            )
            assert taken == (low <= point <= high), (hex(low), hex(high), hex(point))


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a|b)*a(a|b){7}",
        f"[{''.join(map(chr, range(200, 400, 2)))}]",
        "[^a]{1000}",
        "(?:a|b){300}",
        "x{0,999}y",
        "(?i)[a-zà-ü]{60}\\d{70}",
    ],
)
def test_a_pattern_beyond_the_limits_has_none(pattern):
    assert automaton_of(parse_pattern(pattern).root) is None


def test_automata_are_within_the_limits():
    draws = random.Random(4)
    for _, parsed in random_patterns(draws, 60):
        if automaton := automaton_of(parsed.root):
            width = max(automaton.classes) + 2
            assert {len(row) for row in automaton.steps} == {width}
            assert len(automaton.steps) <= regex_automaton.MOST_STATES
            assert len(automaton.steps) * width <= regex_automaton.MOST_STEPS
            assert automaton.steps[:2] == ((0,) * width, (1,) * width)


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_a_gpu_reads_texts_of_every_length_at_every_place():
    draws = random.Random(5)
    texts = ["".join(draws.choices("ab-1é", k=draws.randrange(25))) for _ in range(150)] + [None, "", "a" * 300 + "b-1"]
    machine, column = EmulatedMachine(), pa.table({"t": pa.array(texts, STRING)})
    exprs = {sql: typed(sql) for sql in ("t RLIKE '[ab]+-1+'", "t SIMILAR TO '[^é]*1'", r"t ~ '(?i)A1|\b1b$'")}
    results = evaluate(exprs, {"t": from_arrow(column["t"], machine)}, len(texts), machine)
    for sql, expr in exprs.items():
        assert to_arrow(results[sql], machine).to_pylist() == evaluate_column(expr, column).to_pylist(), sql
