"""The JSON Schema of the language: it takes all pipelines, refuses wrong ones, and editors complete and explain by it."""

import json
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest
from ruamel.yaml import YAML

from command import gpuetl
from gpuetl.error_codes import PAGES
from gpuetl.spec.expect.rules import RULES
from gpuetl.spec.fields import keys_of
from gpuetl.spec.format_keys import options_of
from gpuetl.spec.json_schema import FILE, schema_text
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.spec.steps import STEPS
from servers.language_server import language_server

ROOT = Path(__file__).parents[2]
LINE = "# yaml-language-server: $schema="
SCHEMA = json.loads(FILE.read_text(encoding="utf-8"))
HEAD = """\
gpuetl: 1
name: p
sources:
  sales: {csv: sales.csv, delimiter: ";", schema: {id: int64, amount: "decimal(12,2)"}}
stages:
  clean:
    from: sales
    steps:
      - STEP
sinks:
  out: {from: clean, parquet: out.parquet, mode: overwrite}
"""


def files():
    found = [path for folder in ("pipelines", "tests") for path in (ROOT / folder).rglob("*.yaml")]
    return [path for path in found if "node_modules" not in path.parts and "gpuetl: 1" in path.read_text()]


def problems(text):
    data = YAML(typ="safe", pure=True).load(text)
    return [error.message for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(data)]


def test_the_file_is_up_to_date():
    assert FILE.read_text(encoding="utf-8") == schema_text(), "run make docs"
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_pipelines_of_the_repository_are_valid(path):
    assert problems(path.read_text(encoding="utf-8")) == []


PAGES_OF_FILES = [page for page in PAGES.values() if page.fixed and page.kind in ("steps", "pipeline")]


@pytest.mark.parametrize("page", PAGES_OF_FILES, ids=lambda page: page.code)
def test_examples_that_run_are_valid(page):
    assert problems(page.whole(page.fixed)) == []


@pytest.mark.parametrize(
    "step",
    [
        "limit: $n", "limit: 10", "sample: 0.1", "sample: {fraction: $f, by: a}", "distinct: {}", "distinct:",
        "distinct: [a, b]", "join: {with: sales, on: {a: b}, how: left}", "join: {with: sales, on: a, how: $how}",
        "filter: true", "select: [a]", "select: {a: 1, b: null}", "drop: a", "sort: [a desc]", "fill_null: {a: 0}",
        "union: {with: [a, b], missing: null}", "union: sales", "explode: a", "fill_gaps: {on: t, every: 5 minutes, by: k}", "fill_gaps: {on: t, every: 5, start: $low, before: 9}",
        "aggregate: {by: a, columns: {n: count(*)}}", "kernel: {body: y = x;, inputs: x, outputs: {y: int64}, reference: k.py:f}",
        "kernel: {python: k.py:f, inputs: x, outputs: {y: int64}, timeout: 30s, frame: arrow}",
    ],
)  # fmt: skip
def test_right_steps_are_valid(step):
    assert problems(HEAD.replace("STEP", step)) == []


@pytest.mark.parametrize(
    "step",
    [
        "limt: 10", "limit: ten", "limit: -1", "limit: [1]", "sample: 2", "sample: {fractoin: 0.1}", "distinct: {on: a, keep: last}",
        "join: {on: a}", "join: {with: sales, how: lft}", "{limit: 1, filter: a}", "limit", "{}", "filter: {a: 1}",
        "aggregate: {by: a}", "union: {with: a, missing: zero}", "explode: {column: a, keep_empty: 3}", "fill_gaps: {on: t}", "fill_gaps: {on: t, every: [5]}", "fill_null: {}",
        "kernel: {body: y = x;, inputs: x, outputs: {y: int64}}",
    ],
)  # fmt: skip
def test_wrong_steps_are_not_valid(step):
    assert problems(HEAD.replace("STEP", step))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("gpuetl: 1", "gpuetl: 2"),
        ("gpuetl: 1\n", ""),
        ("sources:", "source:"),
        ("csv: sales.csv", "cvs: sales.csv"),
        ("csv: sales.csv", "parquet: sales.parquet"),
        ('delimiter: ";"', "delimiter: ;;"),
        ('delimiter: ";"', "delimeter: ';'"),
        ("  sales: {", "  1sales: {"),
        ("    from: sales\n", ""),
        ("mode: overwrite", "mode: overwrit"),
        ("{from: clean, ", "{"),
        ("name: p", "name: p\nparams: {n: {default: 1}}"),
        ("name: p", "name: p\nstorage: {lake: {regoin: x}}"),
        ("name: p", "name: p\nprofiles: {dev: {engin: x}}"),
        ("name: p", "name: p\ndefaults: {sinks: {mod: x}}"),
        ("name: p", "name: p\ninclude: [{stages: [x]}]"),
        ("name: p", "name: p\ntests: [{given: {}}]"),
    ],
)
def test_wrong_sections_are_not_valid(old, new):
    assert old in HEAD
    assert problems(HEAD.replace("STEP", "limit: 1").replace(old, new))


@pytest.mark.parametrize(
    "section",
    [
        "include: shared.yaml",
        "include: [a.yaml, {file: b.yaml, stages: [clean]}]",
        "defaults: {sources: {nulls: ['', NA]}, sinks: {mode: overwrite, compression: zstd(3)}, expect: {on_fail: warn}}",
        "params: {n: {type: int64, required: true}, l: {type: 'list<string>', default: [a]}}",
        "storage: {lake: {region: $r, aws_access_key_id: {env: KEY}, skip_signature: true}}",
        "profiles: {dev: {engine: pandas, memory: 2GB, params: {n: 1}, storage: {lake: {region: x}}}}",
        "tests: [{name: t, params: {n: 1}, given: {sales: [{id: 1}]}, expect: {clean: {columns: [id], rows: [[1]], ordered: true}}}]",
        "tests: [{name: t, given: {sales: {parquet: a.parquet}}, expect_failure: unique}]",
    ],
)
def test_right_sections_are_valid(section):
    assert problems(HEAD.replace("STEP", "limit: 1").replace("name: p", f"name: p\n{section}")) == []


@pytest.mark.parametrize(
    ("rule", "valid"),
    [
        ("not_null: [a]", True), ("in: {a: [1, 2]}", True), ("in: {a: $l}", True), ("rows: {min: $n}", True), ("range: {a: [$l, null]}", True),
        ("{that: a < 1, on_fail: warn, max_fraction: 0.1, name: x}", True), ("references: {a: b.c}", True),
        ("not_nul: [a]", False), ("{on_fail: warn}", False), ("rows: {mn: 1}", False), ("range: {a: [1]}", False),
        ("{unique: a, on_fail: stop}", False), ("{unique: a, max_fraction: 2}", False),
    ],
)  # fmt: skip
def test_rules(rule, valid):
    text = HEAD.replace("      - STEP\n", f"      - limit: 1\n    expect:\n      - {rule}\n")
    assert (problems(text) == []) == valid


def test_every_key_has_documentation():
    classes = [SourceSpec, SinkSpec, *STEPS.values(), *RULES.values()]
    without = [
        f"{cls.__name__}.{name}" for cls in classes for name, field in keys_of(cls).items() if not field.metadata["doc"]
    ]
    assert without == [], "give each key a doc"
    assert all(field.metadata["doc"] for field in keys_of(options_of(SourceSpec, "csv")).values())


def test_the_command_prints_the_schema_and_its_path():
    assert json.loads(gpuetl("schema", "--pipeline").stdout) == SCHEMA
    assert json.loads(Path(gpuetl("schema", "--pipeline-path").stdout.strip()).read_text()) == SCHEMA
    assert "give FILE, --pipeline, --pipeline-path or --manifest" in gpuetl("schema").stderr


@pytest.mark.parametrize("path", sorted((ROOT / "pipelines").glob("*.yaml")), ids=lambda path: path.name)
def test_every_example_names_the_schema_for_editors(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith(LINE)
    assert (path.parent / first.removeprefix(LINE)).resolve() == FILE


# What an editor shows: the real language server, which reads the schema from the path in the file.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("editor")


@pytest.fixture(scope="module")
def editor(folder):
    with language_server(folder) as server:
        yield server


def with_line(text):
    return f"{LINE}{FILE}\n{dedent(text)}"


def edited(step):
    return with_line(HEAD.replace("STEP", step))


def test_an_editor_completes_steps(editor, folder):
    offered = editor.completions(folder / "a.yaml", edited("|"))
    assert offered.keys() == STEPS.keys()
    assert offered["limit"].startswith("Keep the first rows")


def test_an_editor_completes_keys_and_values(editor, folder):
    keys = editor.completions(folder / "b.yaml", edited("join:\n          with: sales\n          |"))
    assert {"on", "how", "validate", "suffix", "nulls_equal"} <= keys.keys()
    assert "with" not in keys
    values = editor.completions(folder / "c.yaml", edited("join:\n          with: sales\n          how: |"))
    assert {"inner", "left", "right", "full", "semi", "anti", "cross"} <= values.keys()
    sections = editor.completions(folder / "d.yaml", with_line("gpuetl: 1\nname: p\n|"))
    assert {"sources", "stages", "sinks", "params", "profiles"} <= sections.keys()
    sinks = editor.completions(
        folder / "e.yaml", with_line("gpuetl: 1\nname: p\nsinks:\n  out:\n    csv: a.csv\n    |")
    )
    assert {"from", "mode", "partition_by"} <= sinks.keys()


def test_an_editor_explains_a_step_and_a_key(editor, folder):
    step = editor.hover(folder / "f.yaml", edited("jo|in: {with: sales, on: id}"))
    assert "Join" in step
    key = editor.hover(folder / "g.yaml", edited("join: {with: sales, on: id, valid|ate: many_to_one}"))
    assert "What to check of the keys" in key
    option = editor.hover(folder / "h.yaml", edited("limit: 1").replace("delim", "del|im"))
    assert "The character between two fields" in option


def test_an_editor_underlines_mistakes(editor, folder):
    assert editor.problems(folder / "i.yaml", edited("limit: 10")) == []
    ((line, message),) = editor.problems(folder / "j.yaml", edited("limt: 10"))
    assert (line, "limt" in message) == (10, True)
    ((line, message),) = editor.problems(
        folder / "k.yaml", edited("limit: 10").replace("mode: overwrite", "mode: overwrit")
    )
    assert (line, "overwrite" in message) == (12, True)
    found = editor.problems(folder / "l.yaml", edited("sample: {fraction: lots}"))
    assert [line for line, _ in found] == [10]


def test_an_editor_has_nothing_to_say_of_the_examples(editor):
    for path in sorted((ROOT / "pipelines").glob("*.yaml")):
        assert editor.problems(path, path.read_text(encoding="utf-8")) == [], path
