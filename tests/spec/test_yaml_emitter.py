"""Texts of pipelines: those of ruamel.yaml, and what is read back."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from gpuetl.spec.write import emitted_by_ruamel
from gpuetl.spec.yaml_emitter import emitted

ODD = [
    "true",
    "null",
    "~",
    "1e5",
    "2020-01-01",
    "=",
    "<<",
    "---",
    "- a",
    "?",
    "? a",
    ":",
    "a: b",
    "a #b",
    "it's",
    "0x1f",
]
ODD += [
    "",
    " ",
    "No",
    "1_000",
    ".inf",
    "_",
    "mean(x, 1)",
    "x" * 100,
    "x" * 101,
    "x" * 200,
    "a\nb",
    "ü",
    "\t",
    'say "a"\\',
]
TEXTS = st.sampled_from(ODD) | st.text(st.sampled_from(" ab1-.:,#'\"[]{}?!&*|>%@`~=<_+eT0/\\$"), max_size=6)
SCALARS = TEXTS | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False)
DATA = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXTS, part, max_size=3), max_leaves=8
)


def read(text: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError:
        return None


@settings(max_examples=300)
@given(st.dictionaries(TEXTS, DATA, min_size=1, max_size=3))
def test_texts_are_those_of_ruamel(data: dict[str, Any]) -> None:
    text, expected = emitted(data), emitted_by_ruamel(data)
    if text is not None:
        assert read(text) == data
        assert text == expected or read(expected) != data  # it writes `[? a]`, which is a map


def test_usual_texts_need_no_ruamel() -> None:
    data = {"gpuetl": 1, "stages": {"a": {"from": "t", "steps": [{"filter": "x > 1"}, {"select": ["x", "a, b", "1"]}]}}}
    data["sinks"] = {
        "s": {"from": "a", "csv": "out: it's.csv", "header": False, "rows": 0.5, "none": None, "empty": {}, "no": []}
    }
    assert emitted(data) == emitted_by_ruamel(data)
    assert (
        emitted(data)
        == """\
gpuetl: 1
stages:
  a:
    from: t
    steps:
      - filter: x > 1
      - select: [x, 'a, b', '1']
sinks:
  s:
    from: a
    csv: "out: it's.csv"
    header: false
    rows: 0.5
    none:
    empty: {}
    no: []
"""
    )


def test_what_is_rare_is_left_to_ruamel() -> None:
    assert [emitted({"a": each}) for each in ("a\nb", "ü", 1e300, float("inf"), [[{}]], [None])] == [None] * 6
    assert emitted({}) is None
    assert emitted([1]) is None
