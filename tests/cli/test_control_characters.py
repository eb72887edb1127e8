"""Control characters of names, paths and values: shown as escapes, never sent to a terminal or into a report."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import InvalidPipeline, loads
from gpuetl.messages import one_line, printable

RED = "\x1b[31mred"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What no output has; tabs and line ends are what tables and messages are made of."""
PIPELINE = """\
gpuetl: 1
name: "p\\e[31m"
description: "d\\e[31m"
sources: {t: {parquet: data}}
stages:
  s:
    from: t
    steps: [STEP]
RULES
sinks: {o: {from: s, parquet: "out\\e[1m\\n", mode: overwrite}}
"""
RULE = "    expect: [{that: x < 2, on_fail: fail}]"
VALUES = [RED, "line\none\x00", "tab\t\u202eabc\r\x9b31m"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Write the pipeline and its data, and return what calls a command on it."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    columns = {"x": [1, 2, 3], "s": VALUES, f"c{RED}": [1, 2, 3], "[bold]m[/nope]": [1, 2, 3], ":smile:": ["[/x]"] * 3}
    pq.write_table(pa.table(columns), "data/a.parquet")

    def command(name, *more, step="{filter: x > 0}", rules=""):
        Path("p.yaml").write_text(PIPELINE.replace("STEP", step).replace("RULES\n", rules and f"{rules}\n"))
        done = gpuetl(name, "p.yaml", *more)
        assert not RAW.search(done.output), done.output
        return done

    return command


def test_each_control_character_is_an_escape():
    assert printable("a\x1b[1m\nb\tc\r\x00\x7f\x9b\u2028\u202e\ud800\udcffé😀") == (
        "a\\x1b[1m\nb\\tc\\r\\x00\\x7f\\x9b\\u2028\\u202e\\ud800\\udcffé😀"
    )
    assert one_line("a\nb\r\n") == "a\\nb\\r\\n"


def test_a_report_on_the_terminal_has_names_and_values_as_they_are_written(run):
    done = run("run", "--engine", "pandas")
    assert done.exit_code == 0
    assert "warning" not in done.output
    assert "c\\x1b[31mred" in done.stdout
    assert "[bold]m[/nope]" in done.stdout
    assert ":smile:" in done.stdout
    assert "[/x]" in done.stdout
    assert "\\x1b[31mred" in done.stdout
    assert "line\\none\\x00" in done.stdout
    assert "tab\\t\\u202eabc\\r\\x9b31m" in done.stdout
    assert "out\\x1b[1m\\n" in done.stdout


def test_errors_show_escapes(run):
    done = run("run", "--engine", "pandas", step="{with_columns: {y: CAST(s AS int64)}}")
    assert done.exit_code == 1
    assert "has no result, for \\x1b[31mred: not a valid int64" in done.stderr
    assert "Columns: :smile:, [bold]m[/nope], c\\x1b[31mred, s, x" in run("plan", step="{filter: nope > 0}").stderr


def test_rows_that_break_a_rule_are_on_one_line_each(run):
    done = run("run", "--engine", "pandas", rules=RULE)
    assert done.exit_code == 4
    assert [line.split()[:2] for line in done.stderr.splitlines()[-3:]] == [
        ["x", "s"], ["2", "line\\none\\x00"], ["3", "tab\\t\\u202eabc\\r\\x9b31m"]
    ]  # fmt: skip


def test_plans_and_verdicts_show_escapes(run):
    step = '{with_columns: {"n\\e[1m\\nw": s}}'
    assert "Project n\\x1b[1m\\nw = s" in run("plan", step=step).stdout
    assert "n\\x1b[1m\\nw" in run("plan", "--rung", "end", step=step).stdout
    assert run("verify", "--engine", "pandas", step=step).exit_code == 0
    assert run("validate", step=step).exit_code == 0


def test_a_file_of_a_source_cannot_write_lines_of_its_own(run):
    Path("data/b\nerror: all is lost\x1b[1m.parquet").write_bytes(b"junk")
    done = run("run", "--engine", "pandas")
    assert done.exit_code == 1
    assert "data/b\\nerror: all is lost\\x1b[1m.parquet is not a Parquet file" in done.stderr


def test_a_name_that_is_not_utf8_is_shown(run):
    Path(os.fsdecode(b"data/b\xff.parquet")).write_bytes(b"junk")
    assert "data/b\\udcff.parquet is not a Parquet file" in run("validate").stderr


def test_reports_in_files_have_escapes(run):
    assert run("run", "--engine", "pandas", "--report", "r.html", "--trace", "t.json", rules=RULE).exit_code == 4
    page = Path("r.html").read_text()
    assert not RAW.search(page)
    assert "line\\none\\x00" in page
    assert "<h1>p\\x1b[31m</h1>" in page
    json.loads(Path("t.json").read_text())
    assert run("run", "--engine", "pandas", "--report", "r.json").exit_code == 0
    report = json.loads(Path("r.json").read_text())
    assert report["pipeline"] == "p\x1b[31m"
    assert report["sinks"][0]["path"].endswith("out\x1b[1m\n")


def test_a_report_in_json_has_no_half_characters(run):
    """Such an escape is no character, and other programs than Python refuse the file."""
    run("validate", rules=RULE)
    file = os.fsdecode(b"p\xff.yaml")
    Path(file).write_text(Path("p.yaml").read_text().replace("fail}", "warn}"))
    assert gpuetl("run", file, "--engine", "pandas", "--report", "r.json").exit_code == 0
    assert json.loads(Path("r.json").read_text())["checks"][0]["place"] == "p\\udcff.yaml:9:21"


def test_junit_has_escapes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text(
        "gpuetl: 1\nname: p\n"
        "sources: {t: {csv: t.csv, schema: {s: string}}}\nstages: {s: {from: t, steps: [{filter: s is not null}]}}\n"
        'tests: [{name: "one\\e[1m", given: {t: [{s: "a\\e[31m\\0"}]}, expect: {s: [{s: "b\\e\\n"}]}}]\n'
    )
    done = gpuetl("test", "p.yaml", "--engine", "pandas", "--junit", "j.xml")
    assert done.exit_code == 5
    assert not RAW.search(done.output)
    case = ElementTree.parse("j.xml").find("testsuite/testcase")
    assert case.get("name") == "one\\x1b[1m"
    assert "a\\x1b[31m\\x00" in case.find("failure").text
    assert "�" not in case.find("failure").text


def test_errors_of_the_library_have_escapes():
    with pytest.raises(InvalidPipeline) as error:
        loads('gpuetl: 1\nname: p\nsources: {t: {parquet: x}}\nstages: {"s\\e[1m\\n": {from: t, steps: []}}\n').plan()
    assert not RAW.search(str(error.value))
    assert "'s\\x1b[1m\\n' is not a valid name of a stage" in str(error.value)


def test_wrong_arguments_have_escapes(tmp_path):
    done = gpuetl("run", tmp_path / "no\x1b[31m.yaml", "--engine", "\x1b[31mx", "--memory", "\x1b[31m")
    assert done.exit_code == 2
    assert not RAW.search(done.output)


def test_colours_of_our_own_reach_a_terminal(tmp_path):
    """A pseudo-terminal gets the yellow of warnings, and no colour of the data."""
    Path(tmp_path / "t.csv").write_text("x,s\n1,\x1b[35mred\n")
    (tmp_path / "p.yaml").write_text(
        "gpuetl: 1\nname: p\nsources: {t: {csv: t.csv, schema: {x: int64, s: string}}}\n"
        "stages: {s: {from: t, steps: [{filter: x > 0}], expect: [{that: x > 1, on_fail: warn}]}}\n"
        "sinks: {o: {from: s, parquet: o.parquet, mode: overwrite}}\n"
    )
    script = (
        "import pty, os, sys\n"
        "os.environ.update(TERM='xterm-256color')\n"
        "sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.executable, '-m', 'gpuetl', 'run', 'p.yaml',"
        " '--engine', 'pandas'])))\n"
    )
    folders = os.pathsep.join(str(Path(__file__).parents[2] / name) for name in ("src", "tests"))
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": folders},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert b"\x1b[33m" in done.stdout  # the yellow of what a rule warns of
    assert b"\\x1b[35mred" in done.stdout
    assert b"\x1b[35m" not in done.stdout
