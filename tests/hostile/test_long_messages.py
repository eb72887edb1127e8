"""Names and values of 100,000 characters, wherever a message may repeat them: no line of a message is long."""

import pyarrow as pa
import pytest

import gpuetl as ge
from gpuetl import GpuetlError, InvalidPipeline, Pipeline, expr
from gpuetl.errors import Problem, Problems, have_hint
from gpuetl.messages import LINE_CHARACTERS, cut, readable

LONG = "n" * 100_000
WORDS = "ab " * 33_000
MOST = LINE_CHARACTERS + 20
HEAD = "gpuetl: 1\nname: p\nsources:\n  t: {csv: t.csv, schema: {x: int64, s: string}}\n"


def steps(text):
    return f"{HEAD}stages:\n  s: {{from: t, steps: [{text}]}}\n"


@pytest.mark.part(2)
@pytest.mark.parametrize("long", [LONG, WORDS], ids=["name", "words"])
@pytest.mark.parametrize(
    "text",
    [
        HEAD + "{0}: 1\n", HEAD + "stages:\n  {0}: 1\n", HEAD + "stages:\n  s: {{from: {0}, steps: []}}\n",
        HEAD + "stages:\n  s: {{from: t, steps: [{0}: 1]}}\n", steps("limit: {0}"), steps("select: ['{0}']"),
        steps("filter: '{0}'"), steps("sort: '{0} desc'"), steps("rename: {{x: '{0}', s: '{0}'}}"), steps("cast: {{x: '{0}'}}"),
        steps("join: {{with: '{0}', on: x}}"), steps("union: {{with: t, missing: '{0}'}}"), steps("filter: x = '{0}'"),
        steps("drop: '{0}'"), steps("{0}"), "gpuetl: {0}\nname: {0}\n", "{0}", HEAD.replace("t.csv", "{0}"),
        HEAD.replace("int64", "{0}"), HEAD + "params: {{p: {{type: int64, default: '{0}'}}}}\n",
        HEAD + "params: {{p: {{type: '{0}'}}}}\n", HEAD + "sinks:\n  o: {{from: t, parquet: o, mode: '{0}'}}\n",
        HEAD + "sinks:\n  o: {{from: t, parquet: 's3://{0}'}}\n", HEAD + "sinks:\n  o: {{from: t, csv: o, partition_by: '{0}'}}\n",
        HEAD + "stages:\n  s: {{from: t, steps: [], expect: [{{'{0}': x}}]}}\n", "{0}: &{0}\n", "[{0}\n",
    ],
)  # fmt: skip
def test_no_line_about_a_file_is_long(tmp_path, text, long):
    (tmp_path / "t.csv").write_text("x,s\n1,a\n")
    text = text.replace("{{", "{").replace("}}", "}").replace("{0}", long)
    with pytest.raises(GpuetlError) as caught:
        ge.loads(text, tmp_path, name=f"/{'folder/' * 500}p.yaml").plan()
    assert max(map(len, str(caught.value).splitlines())) <= MOST


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (LONG, "CAST(s AS int64)"), (WORDS, "CAST(s AS date)"), (LONG, "strptime(s, '%Y')"), (WORDS, "CAST(s AS decimal(4, 2))"),
        ("1", f"CAST(concat(s, '{'x' * 15_000}') AS int64)"), (LONG, "CAST(s || s || s AS bool)"),
    ],
)  # fmt: skip
def test_no_line_about_a_value_is_long(tmp_path, of, text):
    pipeline = Pipeline("p", root=tmp_path)
    pipeline.from_frame("t", pa.table({"s": ["1", of]})).select(z=expr(text)).stage("s")
    with pytest.raises(GpuetlError) as caught:
        pipeline.run(engine="pandas")
    assert max(map(len, str(caught.value).splitlines())) <= MOST


def test_parameters_given_are_cut(tmp_path):
    pipeline = Pipeline("p", root=tmp_path)
    pipeline.param("p", "int64", required=True)
    for params in ({"p": LONG}, {LONG: "1"}):
        with pytest.raises(GpuetlError) as caught:
            pipeline.plan(params)
        assert max(map(len, str(caught.value).splitlines())) <= MOST


def test_strings_are_cut_at_200_characters():
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 201) == "x" * 200 + "…"
    assert readable(f"unknown column '{'a b ' * 60}'") == f"unknown column '{'a b ' * 50}…'"
    assert readable(f"cannot read {'x' * 300} here") == f"cannot read {'x' * 200}… here"
    assert readable(readable(f"'{WORDS}' {WORDS} {LONG}")) == readable(f"'{WORDS}' {WORDS} {LONG}")


def test_lists_of_names_in_hints_are_short():
    names = [f"{'column' * 30}{i:02}" for i in range(40)]
    assert len(have_hint("x", names)) < 800
    assert "and 37 more" in have_hint("x", names)
    assert have_hint("x", ["b", "a"]) == "Columns: a, b."


def test_the_first_twenty_problems_are_shown_and_all_are_kept():
    problems = Problems()
    for number in range(2_000):
        problems.add(f"problem {number}")
        problems.add(f"problem {number}")
    with pytest.raises(InvalidPipeline) as caught:
        problems.check()
    assert len(caught.value.problems) == 2_000
    *shown, last = str(caught.value).split("\n\n")
    assert shown == [f"problem {number}" for number in range(20)]
    assert last == "… and 1,980 more problems"
    assert str(InvalidPipeline([Problem("a")] * 21)).endswith("… and 1 more problem")


def test_thousands_of_mistakes_are_found(tmp_path):
    (tmp_path / "t.csv").write_text("x,s\n1,a\n")
    lines = "\n".join(f"  s{i}: {{from: t, steps: [filter: wrong{i} > 1]}}" for i in range(300))
    with pytest.raises(InvalidPipeline) as caught:
        ge.loads(f"{HEAD}stages:\n{lines}\n", tmp_path).plan()
    assert len(caught.value.problems) == 300
    assert caught.value.problems[0].hint.startswith("Columns: s, x.")
    assert "unknown column 'wrong299'" in caught.value.problems[-1].message
