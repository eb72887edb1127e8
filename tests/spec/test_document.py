"""YAML text to nodes with places: what YAML 1.2 reads, what is refused, and where a problem stands."""

import pytest

from gpuetl.errors import InvalidPipeline, Problems, Span
from gpuetl.spec.document import MAX_CHARACTERS, read_document, read_text


def read(text):
    """Return the tree as plain data, and the problems."""
    problems = Problems()
    node = read_document(text, "p.yaml", problems)
    return (None if node is None else plain(node)), [str(problem) for problem in problems.found]


def plain(node):
    if isinstance(node.value, dict):
        return {name: plain(value) for name, value in node.items()}
    return [plain(item) for item in node.value] if isinstance(node.value, tuple) else node.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NO", "NO"), ("yes", "yes"), ("on", "on"), ("12:30", "12:30"), ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("12", 12), ("-3", -3), ("1.5", 1.5), ("1e3", 1000.0), (".inf", float("inf")), ("0o14", 12), ("0x1f", 31), ("012", 12), ("1_000", "1_000"), ("1_0.5", "1_0.5"), ("-.inf", -float("inf")), ("2013-03-09", "2013-03-09"),
        ("'12'", "12"), ('"true"', "true"), ("a b", "a b"), ("[1, a]", [1, "a"]), ("{k: v}", {"k": "v"}), ("'it''s'", "it's"),
    ],
)  # fmt: skip
def test_scalars_follow_yaml_1_2(text, value):
    assert read(f"key: {text}\n") == ({"key": value}, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", "p.yaml:3:1: the key 'a' is here twice\n    a: 3\n    ^\nThe first is on line 1."),
        ("a: {<<: {b: 1}}\n", "p.yaml:1:5: gpuetl does not support merge keys\n    a: {<<: {b: 1}}\n        ^^\nWrite the keys out."),
        ("a: !x b\n", "p.yaml:1:4: gpuetl does not support the tag '!x'\n    a: !x b\n       ^^^^\nWrite the value in quotes."),
        ("a: !x {b: 1}\n", "p.yaml:1:4: gpuetl does not support the tag '!x'\n    a: !x {b: 1}\n       ^^^^^^^^^\nWrite the value in quotes."),
        ("a: !!python/tuple [1]\n", "p.yaml:1:4: gpuetl does not support the tag '!!python/tuple'\n    a: !!python/tuple [1]\n       ^^^^^^^^^^^^^^^^^^\nWrite the value in quotes."),
        ("a: &x 1\nb: *x\n", "p.yaml:1:4: gpuetl does not support anchors and aliases\n    a: &x 1\n       ^^^^\nWrite it out, or make it a stage."),
        ("a: [1\n", "p.yaml:1:4: this '[' is not closed\n    a: [1\n       ^\nClose it with ']'."),
        ("a:\n\tb: 1\n", "p.yaml:2:1: this line is indented with a tab\n    b: 1\n    ^\nIndent with spaces."),
        ("a: 1e999\n", "p.yaml:1:4: 1e999 is not a valid float64\n    a: 1e999\n       ^^^^^\nInfinity is written .inf."),
        ("a: 1\n---\nb: 2\n", "p.yaml:2:1: a file has one pipeline\n    ---\n    ^\nWrite the second one to a separate file."),
        ("", "p.yaml is empty\nSee README.md for a first pipeline."),
        ("# nothing\n\n", "p.yaml is empty\nSee README.md for a first pipeline."),
        ("[" * 100 + "]" * 100, f"p.yaml:1:66: it nests deeper than 64\n    {'[' * 100 + ']' * 100}\n    {' ' * 65}^\nWrite what is inside as a separate stage."),
        ("- " * 100 + "a", f"p.yaml:1:131: it nests deeper than 64\n    {('- ' * 100 + 'a')[30:]}\n    {' ' * 100}^\nWrite what is inside as a separate stage."),
        ("a: " + "x" * MAX_CHARACTERS, f"p.yaml has {MAX_CHARACTERS + 3:,} characters; {MAX_CHARACTERS:,} are allowed"),
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_what_is_refused_is_reported_once_with_its_place(text, problem):
    assert read(text)[1] == [problem]


def test_a_thousand_brackets_are_refused_without_a_crash():
    tree, problems = read("[" * 5_000)
    assert tree is None
    assert len(problems) == 1


def test_aliases_do_not_expand():
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)
    )
    tree, problems = read(bomb)
    assert tree is None
    assert all("anchors and aliases" in problem for problem in problems)


@pytest.mark.parametrize(
    ("text", "part", "place"),
    [
        ("k: a + b\n", "b", (1, 8)), ("k:   'a + b'\n", "b", (1, 11)), ('k: "a + b"\n', "b", (1, 9)), ("k: >\n  a +\n  b\n", "b", (3, 3)),
        ("k: |\n  a +\n    b\n", "b", (3, 5)), ("k: a +\n   b\n", "b", (2, 4)), ("k: 'it''s + b'\n", "b", (1, 13)), ("k: a * a + a\n", "a", (1, 4)),
    ],
)  # fmt: skip
def test_a_part_of_a_text_is_found_in_the_file(text, part, place):
    node = read_document(text, "p.yaml", Problems()).value["k"]
    start = node.value.index(part)
    found = node.place(Span(start, start + len(part)))
    assert (found.line, found.column) == place


def test_the_second_occurrence_of_a_word_in_a_folded_text_is_found():
    node = read_document("k: >\n  a > 1 AND\n  a > 2\n", "p.yaml", Problems()).value["k"]
    start = node.value.rindex("a >")
    assert (node.place(Span(start, start + 1)).line, node.place(Span(start, start + 1)).column) == (3, 3)


def test_a_file_that_is_not_there_or_no_text_is_reported_at_once(tmp_path):
    with pytest.raises(InvalidPipeline, match=r"cannot read .*missing\.yaml: No such file"):
        read_text(tmp_path / "missing.yaml", Problems(), "p.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidPipeline, match="it is not UTF-8 text"):
        read_text(tmp_path / "binary.yaml", Problems(), "p.yaml")
