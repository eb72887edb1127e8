"""Plugins: the example package, installed by pip, on every engine; and packages that are wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

import generate_plugin_schema

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugin"
SOURCE = ROOT / "src"


def install(package, target):
    """Install a package as pip does, without asking an index for anything."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", target, package]
    return subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of packages with the example."""
    pytest.importorskip("hatchling", reason="builds the example package")
    copy = tmp_path_factory.mktemp("package")
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and "out" not in path.parts and "__pycache__" not in path.parts:
            target = copy / path.relative_to(EXAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    folder = tmp_path_factory.mktemp("site")
    install(copy, folder)
    return folder


def package(site, name, version="1.0", module="", **groups):
    """Write a package as pip leaves it: a module, and the entry points of its metadata."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    text = "".join(f"[gpuetl.{group}]\n{line}\n" for group, line in groups.items())
    (info / "entry_points.txt").write_text(text)
    (site / f"{name.replace('-', '_')}.py").write_text(module)


def gpuetl(*arguments, sites=(), cwd=None):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SOURCE, *sites))), "GPUETL_PROFILE": ""}
    command = [sys.executable, "-m", "gpuetl", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment, cwd=cwd)


def in_python(code, sites, cwd):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SOURCE, *sites)))}
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, env=environment, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    for name in ("pipeline.yaml", "sales.fixed"):
        (tmp_path / name).write_text((EXAMPLE / name).read_text())
    return tmp_path


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_the_example_runs(site, folder, engine):
    options = ["--workers", "1"] if engine == "dask" else []
    done = gpuetl("run", "pipeline.yaml", "--engine", engine, "-q", *options, sites=[site], cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    best = sorted((folder / "out/best.csv").read_text().splitlines()[1:])
    assert best == [
        '"New York",5.00,3,"GB29NWBK60161331926819",4',
        '"Paris",10.00,1,"FR7630006000011234567890189",8',
    ]
    mean = (folder / "out/mean.csv").read_text().splitlines()
    assert mean == ['"mean_amount"', "6.25"]
    assert sorted((folder / "out/names.fixed").read_text().splitlines()) == [
        "New York GB29NWBK60161331926819",
        "Paris    FR7630006000011234567890189",
        "city     account",
    ]


def test_the_engines_agree_and_the_pipeline_is_written_and_read_again(site, folder):
    code = """
import gpuetl as ge
pipeline = ge.load("pipeline.yaml")
print(pipeline.verify(engine="pandas").same)
print(ge.loads(pipeline.to_yaml()).spec == pipeline.spec)
"""
    assert in_python(code, [site], folder) == "True\nTrue\n"


def test_the_kernels_of_a_gpu_take_the_same_steps(site, folder):
    """The GPU engine's plan has gpuetl's own operations alone."""
    done = gpuetl("plan", "pipeline.yaml", "--rung", "end", sites=[site], cwd=folder)
    assert "Window top_number = row_number()" in done.stdout
    assert "top" not in done.stdout.replace("top_number", "")


def test_rows_that_break_a_check_are_reported(site, folder):
    text = (folder / "sales.fixed").read_text().replace("FR76", "FR7x")
    (folder / "sales.fixed").write_text(text)
    done = gpuetl("run", "pipeline.yaml", "--engine", "pandas", "-q", sites=[site], cwd=folder)
    assert done.returncode == 4
    assert "iban(account)" in done.stderr


def test_python_takes_a_step_of_a_plugin(site, folder):
    code = """
import gpuetl as ge
from gpuetl_example.steps import Top
pipeline = ge.Pipeline("p")
t = pipeline.from_frame("t", __import__("pyarrow").table({"k": [1, 1, 2], "x": [1, 5, 2]}))
n = pipeline.param("n", "int64", 1)
t.step(Top(n, ("k",), ("x desc",))).select("k", "x").stage("best")
print(sorted(map(tuple, (row.values() for row in pipeline.run(engine="pandas", keep="best")["best"].to_arrow().to_pylist()))))
"""
    assert in_python(code, [site], folder) == "[(1, 5), (2, 2)]\n"


def test_a_parameter_stands_in_a_key_of_a_plugin(site, folder):
    text = (folder / "pipeline.yaml").read_text()
    text = text.replace("rows: 1", "rows: $n").replace("sources:", "params: {n: {type: int64, default: 2}}\nsources:")
    (folder / "pipeline.yaml").write_text(text)
    done = gpuetl("run", "pipeline.yaml", "--engine", "pandas", "-q", sites=[site], cwd=folder)
    assert (done.returncode, len((folder / "out/best.csv").read_text().splitlines())) == (0, 4)


def test_doctor_lists_plugins(site, folder):
    done = gpuetl("doctor", sites=[site], cwd=folder)
    lines = [line.split() for line in done.stdout.split("plugins\n")[1].splitlines()]
    assert lines[:5] == [
        ["step", "top", "gpuetl-example", "0.1.0"],
        ["function", "net", "gpuetl-example", "0.1.0"],
        ["function", "weighted_mean", "gpuetl-example", "0.1.0"],
        ["format", "fixed_width", "gpuetl-example", "0.1.0"],
        ["check", "iban", "gpuetl-example", "0.1.0"],
    ]


def test_the_schema_for_editors_has_plugins(site, folder):
    schema = json.loads(gpuetl("schema", "--pipeline", sites=[site], cwd=folder).stdout)
    data = YAML(typ="safe", pure=True).load((folder / "pipeline.yaml").read_text())
    assert list(jsonschema.Draft7Validator(schema).iter_errors(data)) == []
    data["stages"]["priced"]["steps"][2]["top"]["rows"] = "many"
    assert len(list(jsonschema.Draft7Validator(schema).iter_errors(data))) == 1


def test_the_schema_next_to_the_example_is_up_to_date(site, folder):
    text = (EXAMPLE / "pipeline.schema.json").read_text(encoding="utf-8")
    assert text == generate_plugin_schema.schema_text(), "run make docs"
    assert text == gpuetl("schema", "--pipeline", sites=[site], cwd=folder).stdout


def test_the_schema_next_to_the_example_knows_its_words():
    schema = json.loads((EXAMPLE / "pipeline.schema.json").read_text(encoding="utf-8"))
    data = YAML(typ="safe", pure=True).load((EXAMPLE / "pipeline.yaml").read_text(encoding="utf-8"))
    assert list(jsonschema.Draft7Validator(schema).iter_errors(data)) == []


def test_a_mistake_in_a_call_points_at_it(site, folder):
    text = (folder / "pipeline.yaml").read_text()
    (folder / "pipeline.yaml").write_text(text.replace("net(CAST(amount AS float64), 0.25)", "net(amount)"))
    assert gpuetl("validate", "pipeline.yaml", sites=[site], cwd=folder).stderr == (
        "pipeline.yaml:14:37: stage 'priced', step 2: net got 1 argument  [GE1104]\n"
        '    - with_columns: {net_amount: "net(amount)"}\n'
        "                                  ^^^\n"
        "It is net(price, rate).\n"
    )
    (folder / "pipeline.yaml").write_text(text.replace("net(CAST(amount AS float64), 0.25)", "net(city, 0.25)"))
    found = gpuetl("validate", "pipeline.yaml", sites=[site], cwd=folder).stderr.splitlines()
    assert found[0].startswith("pipeline.yaml:14:37: stage 'priced', step 2: ")
    assert found[2].strip() == "^^^"


def test_a_wrong_word_lists_those_of_plugins(site, folder):
    text = (folder / "pipeline.yaml").read_text()
    (folder / "pipeline.yaml").write_text(text.replace("- top:", "- topp:"))
    found = gpuetl("validate", "pipeline.yaml", sites=[site], cwd=folder).stderr
    assert "unknown step 'topp'" in found
    assert "fit, apply, top. Did you mean 'top'?" in found


# Packages that are wrong.

STEP = """
from gpuetl.plugins import *
from typing import ClassVar
@dataclass(frozen=True)
class Twice(MacroStep):
    "Twice."
    verb: ClassVar[str] = "twice"
    main: ClassVar[str] = "column"
    column: str = key(NAME, doc="a column")
    def steps(self):
        return STEPS
"""
PIPELINE = """\
gpuetl: 1
name: p
sources:
  t: {csv: t.csv, schema: {x: int64}}
stages:
  s: {from: t, steps: [twice: x, with_columns: {y: f(x)}], expect: [small: x]}
sinks:
  o: {from: s, csv: o.csv, mode: overwrite}
"""


def problem_of(tmp_path, text=PIPELINE, **packages):
    site = tmp_path / "site"
    for name, keys in packages.items():
        package(site, name.replace("_", "-"), **keys)
    (tmp_path / "t.csv").write_text("x\n1\n")
    (tmp_path / "p.yaml").write_text(text)
    done = gpuetl("validate", "p.yaml", sites=[site], cwd=tmp_path)
    assert done.returncode == 2, done
    return done.stderr


ONE_STEP = PIPELINE.replace(", with_columns: {y: f(x)}], expect: [small: x]", "]")


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            "import nothing_like_it",
            "PLUGIN cannot be imported: ModuleNotFoundError: No module named 'nothing_like_it'  [GE1040]",
        ),
        ("Twice = 3", "PLUGIN is not a class that derives from MacroStep  [GE1042]"),
        (STEP.replace('"twice"', '"trice"'), "PLUGIN has the verb 'trice'  [GE1042]"),
        (STEP.replace("STEPS", "[{'filter': 'x >'}]"), "stage 's', step 1: PLUGIN gives a step that is wrong: "),
        (
            STEP.replace("STEPS", "[{'fliter': 'x > 1'}]"),
            "PLUGIN gives {'fliter': 'x > 1'}, which is no step of gpuetl  [GE1043]",
        ),
        (STEP.replace("STEPS", "[{'filter': 'z > 1'}]"), "stage 's', step 1: unknown column 'z'  [GE1003]"),
        (STEP.replace("STEPS", "1 / 0"), "PLUGIN failed: ZeroDivisionError: division by zero  [GE1043]"),
    ],
)
def test_a_wrong_step_is_named_with_its_package(tmp_path, module, message):
    found = problem_of(tmp_path, ONE_STEP, bad_one={"module": module, "steps": "twice = bad_one:Twice"})
    lines = found.splitlines()
    assert lines[0].startswith("p.yaml:6:")
    assert message.replace("PLUGIN", "step 'twice' of package bad-one 1.0") in lines[0]
    assert "twice" in lines[1]


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("MacroFunction('f', 'x', 'x +')", "has an expression that cannot be read"),
        ("MacroFunction('f', 'x', 'x + y')", "names 'y', which is none of its arguments"),
        ("MacroFunction('f', 'x', 'x + $y')", "names the parameter '$y', which only pipelines have"),
        ("MacroFunction('f', 'x', 'g(x)')", "calls 'g', which is no function of gpuetl"),
        ("MacroFunction('g', 'x', 'x')", "calls itself 'g'"),
        ("len", "is not a MacroFunction, but builtin_function_or_method"),
    ],
)
def test_a_wrong_function_is_named_with_its_package(tmp_path, made, message):
    text = PIPELINE.replace("twice: x, ", "").replace(", expect: [small: x]", "")
    module = f"from gpuetl.plugins import MacroFunction\nf = {made}\n"
    found = problem_of(tmp_path, text, bad_one={"module": module, "functions": "f = bad_one:f"})
    assert f"function 'f' of package bad-one 1.0 {message}" in found


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("return f'{column} <'", "check 'small' of package bad-one 1.0 gives 'x <': "),
        ("return column", "check 'small' of package bad-one 1.0 gives 'x', which is no condition"),
        ("raise ValueError(column)", "check 'small' of package bad-one 1.0 failed: ValueError: x"),
        ("return f'{column} < zz'", "unknown column 'zz'"),
    ],
)
def test_a_wrong_check_is_reported_at_its_column(tmp_path, condition, message):
    text = PIPELINE.replace("twice: x, with_columns: {y: f(x)}", "limit: 1")
    module = f"""
from gpuetl.plugins import *
from typing import ClassVar
@dataclass(frozen=True, kw_only=True)
class Small(Check):
    verb: ClassVar[str] = "small"
    columns: tuple[str, ...] = key(SOME_NAMES, name="small", doc="columns")
    def condition(self, column):
        {condition}
"""
    found = problem_of(tmp_path, text, bad_one={"module": module, "checks": "small = bad_one:Small"})
    assert message in found
    assert found.startswith("p.yaml:6:")


def test_a_word_of_two_packages_is_an_error(tmp_path):
    module = STEP.replace("STEPS", "[]")
    one, two = ({"module": module, "steps": f"twice = {name}:Twice"} for name in ("one", "two"))
    assert "one and two both have a step 'twice'  [GE1041]\n" in problem_of(tmp_path, ONE_STEP, one=one, two=two)


def test_a_broken_package_harms_no_pipeline_that_does_not_use_it(tmp_path):
    package(tmp_path / "site", "bad", module="1 / 0", steps="twice = bad:Twice", formats="odd = bad:Odd")
    (tmp_path / "t.csv").write_text("x\n1\n")
    (tmp_path / "p.yaml").write_text(ONE_STEP.replace("twice: x", "limit: 1"))
    assert gpuetl("validate", "p.yaml", sites=[tmp_path / "site"], cwd=tmp_path).returncode == 0
    doctor = gpuetl("doctor", sites=[tmp_path / "site"], cwd=tmp_path)
    assert "step 'twice' of package bad 1.0 cannot be imported: ZeroDivisionError: division by zero" in doctor.stdout


def test_a_word_of_gpuetl_is_never_that_of_a_plugin(tmp_path):
    package(tmp_path / "site", "greedy", module="1 / 0", steps="limit = greedy:Limit")
    (tmp_path / "t.csv").write_text("x\n1\n")
    (tmp_path / "p.yaml").write_text(ONE_STEP.replace("twice: x", "limit: 1"))
    assert gpuetl("validate", "p.yaml", sites=[tmp_path / "site"], cwd=tmp_path).returncode == 0
    doctor = gpuetl("doctor", sites=[tmp_path / "site"], cwd=tmp_path)
    assert "step 'limit' of package greedy 1.0 is never used: gpuetl has a step of this name" in doctor.stdout


def test_no_package_is_looked_at_where_all_words_are_gpuetls_own(tmp_path):
    (tmp_path / "t.csv").write_text("x\n1\n")
    (tmp_path / "p.yaml").write_text(ONE_STEP.replace("twice: x", "limit: 1"))
    code = """
import importlib.metadata
def refuse(**keys):
    raise AssertionError(keys)
importlib.metadata.entry_points = refuse
import gpuetl
gpuetl.load("p.yaml").run(engine="pandas")
"""
    in_python(code, [], tmp_path)
