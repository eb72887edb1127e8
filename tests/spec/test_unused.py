"""Sources, stages and parameters that nothing uses are warned of."""

import pytest

from command import gpuetl
from gpuetl import Pipeline, col, loads
from tables import table

TEXT = """\
gpuetl: 1
name: p
params:
  day: {type: date, default: 2026-11-01}
  scale: {type: float64, default: 2.0}
  least: {type: int64, default: 0}
  left: {type: int64, default: 0}
sources:
  rows: {csv: "${params.day}/rows.csv", schema: {x: int64, y: float64}}
  more: {csv: more.csv, schema: {x: int64}}
stages:
  kept: {from: rows, steps: [{filter: x >= $least}, {kernel: {body: z = y * scale;, inputs: y, outputs: {z: float64}, args: {scale: $scale}, reference: k.py:z}}]}
  inner: {from: kept, steps: [{limit: 5}]}
  side: {from: inner, steps: [{limit: 1}]}
sinks:
  out: {from: kept, parquet: out}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "2026-11-01").mkdir()
    (tmp_path / "2026-11-01/rows.csv").write_text("x,y\n1,0.5\n")
    (tmp_path / "more.csv").write_text("x\n1\n")
    (tmp_path / "k.py").write_text("def z(y, scale):\n    return {'z': y * scale}\n")
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    return path


def test_each_is_reported_once_with_its_place_and_what_to_do(file):
    messages = [str(problem).splitlines() for problem in loads(TEXT, file.parent).plan().unused]
    assert [(lines[0], lines[-1]) for lines in messages] == [
        (
            "pipeline.yaml:10:3: source 'more': no stage and no sink reads it",
            "Remove it, or read it in a stage.",
        ),
        (
            "pipeline.yaml:14:3: stage 'side': no sink and no other stage reads it: "
            "a run that only writes sinks does not compute it",
            "Add a sink that reads it, or remove it.",
        ),
        (
            "pipeline.yaml:7:3: parameter 'left': nothing uses it",
            "Remove it, or use it: $left in an expression, ${params.left} in a path.",
        ),
    ]


@pytest.mark.parametrize("command", [["validate"], ["plan", "--engine", "pandas"]])
def test_commands_print_them(file, command):
    done = gpuetl(command[0], file, *command[1:])
    assert done.exit_code == 0, done.output
    assert "source 'more': no stage and no sink reads it" in done.stderr
    assert "stage 'side'" in done.stderr
    assert "parameter 'left'" in done.stderr


def test_the_command_s_run_has_them_in_its_report_and_one_in_python_has_not(file):
    done = gpuetl("run", file, "--engine", "pandas")
    assert "stage 'side': no sink" in done.stdout
    dry = gpuetl("run", file, "--engine", "pandas", "--no-write")
    assert "warning" not in dry.stdout
    assert loads(TEXT.replace("parquet: out", "parquet: out2"), file.parent).run(engine="pandas").report.warnings == ()


def test_a_parameter_of_a_run_key_is_used(file):
    text = TEXT.replace("parquet: out", "parquet: out, mode: append, run_key: left")
    assert not [problem for problem in loads(text, file.parent).plan().unused if "left" in problem.within]


def test_without_sinks_the_last_stages_are_the_result(source, pipeline):
    source(table({"x": "int64"})).filter(col("x") > 1).stage("s")
    assert pipeline.plan().unused == ()
    assert Pipeline("empty").plan().unused == ()
    pipeline.param("least", "int64")
    pipeline.table("s").write_parquet("out", "out")
    assert [str(problem) for problem in pipeline.plan().unused] == [
        "parameter 'least': nothing uses it\nRemove it, or use it: $least in an expression, ${params.least} in a path."
    ]
