"""LIKE and ILIKE against a plain definition of them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions.evaluation import table, value, values
from gpuetl.expressions.unparse import constant_text


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (r"'a\%b' LIKE 'a\%b'", True), (r"'a%b' LIKE 'a\%b'", False), (r"'a\b' LIKE '%\b'", True), (r"'a\' LIKE 'a\'", True),
        ("'10%' LIKE '%!%' ESCAPE '!'", True), ("'10' LIKE '%!%' ESCAPE '!'", False), ("'a_b' LIKE 'a!_b' ESCAPE '!'", True),
        ("'axb' LIKE 'a!_b' ESCAPE '!'", False), ("'a!b' LIKE 'a!!b' ESCAPE '!'", True), (r"'a%' LIKE 'a\%' ESCAPE '\'", True),
        ("'ab' LIKE 'a%' ESCAPE '%'", None), ("'a%' LIKE 'a%%' ESCAPE '%'", True), ("'ab' LIKE 'a%%' ESCAPE '%'", False),
        ("'' LIKE ''", True), ("'a' LIKE ''", False), ("'' LIKE '%%'", True), ("'a' LIKE '%_%'", True), ("'' LIKE '%_%'", False),
        ("'\n' LIKE '_'", True), ("'a\nb' LIKE 'a_b'", True), ("'a\n' LIKE 'a'", False), ("'a\n' LIKE '_'", False), ("'😀' LIKE '_'", True),
        ("'a.b' LIKE 'a.b'", True), ("'axb' LIKE 'a.b%'", False), ("'[x]' LIKE '[_]'", True), ("'(a' LIKE '(_'", True), ("'a\\d' LIKE '_\\d'", True),
        ("'ÀB' ILIKE 'àb'", True), ("'àb' ILIKE 'À_'", True), ("'STRASSE' ILIKE 'straße'", False), ("'ẞ' ILIKE 'ß'", True), ("'İ' ILIKE 'i'", False),
        ("'AB' NOT ILIKE 'a%'", False), ("'aX%' ILIKE 'Axx%%' ESCAPE 'x'", True),
    ],
)  # fmt: skip
def test_like(sql, expected):
    if expected is None:
        with pytest.raises(Exception, match="takes %, _ or %"):
            value(sql)
    else:
        assert value(sql) is expected


TEXT = st.text("aB%_\\.\n", max_size=6)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(TEXT, TEXT, st.booleans())
def test_like_is_its_definition(text, pattern, folded):
    wildcards = {"%": "(?s:.*)", "_": "(?s:.)"}
    plain = "".join(wildcards.get(character) or re.escape(character) for character in pattern)
    expected = bool(re.fullmatch(plain, text, re.IGNORECASE if folded else 0))
    sql = f"{'ILIKE' if folded else 'LIKE'} {constant_text(pattern)}"
    assert values(f"t {sql}", table(t=("string", [text]))) == [expected]
