"""Every run leaves a manifest in the state folder of its pipeline, failed ones first of all."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import environment_without_coverage, gpuetl
from conftest import ON_CPU
from gpuetl import InvalidPipeline, Pipeline, col, load
from gpuetl.report.inputs import MOST_NAMED
from gpuetl.report.manifest_schema import FILE, manifest_schema, schema_text
from gpuetl.report.manifests import MOST_MANIFESTS, StartedRun, forget_oldest, read_run, read_runs
from gpuetl.report.run_report import RunReport
from gpuetl.state.files import LocalFiles

ROOT = Path(__file__).parents[2]
TEXT = """\
gpuetl: 1
name: small
params: {least: {type: int64, default: 0}}
profiles:
  dev: {params: {least: 1}}
sources: {rows: {parquet: rows}}
stages:
  kept:
    from: rows
    steps:
      - filter: x >= $least
      - with_columns: {y: CAST(x AS int8)}
    expect:
      - unique: [x]
sinks: {out: {from: kept, parquet: out.parquet, mode: overwrite}}
"""


@pytest.fixture
def file(tmp_path):
    """A pipeline, and rows for which it runs."""
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    write_rows(tmp_path, [1, 2])
    return path


def write_rows(folder, *files):
    """Write the files of the source."""
    (folder / "rows").mkdir(exist_ok=True)
    for number, rows in enumerate(files):
        pq.write_table(pa.table({"x": pa.array(rows, pa.int64())}), folder / "rows" / f"{number}.parquet")


def manifests(folder, name="p"):
    """Return the manifests of a pipeline's runs, checked by the schema, the oldest first."""
    found = sorted((folder / ".gpuetl" / name / "runs").glob("*.json"))
    data = [json.loads(path.read_text()) for path in found]
    for one in data:
        check_schema(one)
    return sorted(data, key=lambda one: one["started"])


def check_schema(data):
    """Check a manifest by the schema, and that it has no field that the schema does not name."""
    jsonschema.Draft202012Validator(closed(manifest_schema())).validate(data)


def closed(schema):
    """Return a schema whose objects have no more fields than it names."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return inner | ({"additionalProperties": False} if isinstance(inner.get("properties"), dict) else {})


def test_the_published_schema_is_made_of_the_report():
    assert FILE.read_text(encoding="utf-8") == schema_text(), "run make docs"
    jsonschema.Draft202012Validator.check_schema(manifest_schema())
    assert gpuetl("schema", "--manifest").stdout == schema_text()


def test_every_field_of_the_report_is_in_the_schema():
    fields = RunReport.__dataclass_fields__.keys() - {"head"}
    assert fields <= manifest_schema()["properties"].keys()


@pytest.mark.parametrize("engine", ["pandas", "dask", ON_CPU])
def test_a_run_leaves_what_it_read_wrote_and_took(file, tmp_path, engine):
    workers = ["--workers", 1] if engine == "dask" else []
    done = gpuetl("run", file, "--engine", engine, *workers, "--profile", "dev", "--partition-rows", 100)
    assert done.exit_code == 0, done.stderr
    (data,) = manifests(tmp_path)
    assert {key: data[key] for key in ("status", "pipeline", "engine", "profile", "exit_code", "error", "problems")} == {
        "status": "done", "pipeline": "small", "engine": engine, "profile": "dev", "exit_code": 0, "error": "",
        "problems": [],
    }  # fmt: skip
    assert data["params"] == {"least": "1"}
    assert data["options"]["partition_rows"] == "100"
    assert data["pipeline_text"] == [{"name": str(file), "text": TEXT}]
    assert data["fingerprint"]
    (source,) = data["inputs"]
    path = tmp_path / "rows" / "0.parquet"
    assert (source["name"], source["format"], source["files"], source["bytes"]) == (
        "rows", "parquet", 1, path.stat().st_size,
    )  # fmt: skip
    (named,) = source["first"]
    assert (named["path"], named["size"]) == (str(path), path.stat().st_size)
    assert [(sink["name"], sink["rows"], sink["files"]) for sink in data["sinks"]] == [("out", 2, 1)]
    (stage,) = [one for one in data["stages"] if one["kind"] == "stage"]
    assert [(step["verb"], step["rows_out"]) for step in stage["steps"]] == [("filter", 2), ("with_columns", 2)]
    assert [(check["rule"], check["verdict"]) for check in data["checks"]] == [("unique(x)", "passed")]
    assert data["environment"]["host"]
    assert data["ended_at"] >= data["started_at"]
    assert data["manifest"].endswith(f"{data['run_id']}.json")


def test_a_run_that_fails_says_where(file, tmp_path):
    write_rows(tmp_path, [1, 300])
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 1
    (data,) = manifests(tmp_path)
    assert (data["status"], data["exit_code"], data["failure"]["code"]) == ("failed", 1, "GE2002")
    (problem,) = data["problems"]
    assert (problem["code"], problem["file"], problem["line"], problem["column"]) == ("GE2002", str(file), 12, 27)
    assert "300" in problem["message"] + problem["row"]
    assert problem["hint"]
    assert data["inputs"][0]["files"] == 1


def test_a_run_whose_contract_fails_has_the_rules(file, tmp_path):
    write_rows(tmp_path, [1, 1])
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 4
    (data,) = manifests(tmp_path)
    assert (data["status"], data["exit_code"]) == ("failed its expectations", 4)
    (problem,) = data["problems"]
    assert (problem["code"], problem["within"], problem["line"]) == ("GE1601", "stage 'kept'", 14)
    assert problem["message"].startswith("rule 'unique(x)': 2 of 2 rows")
    assert problem["row"] == "x=1  y=1"


def test_a_pipeline_that_does_not_bind_leaves_a_manifest(file, tmp_path):
    file.write_text(TEXT.replace("x >= $least", "xx >= $most"))
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 2
    (data,) = manifests(tmp_path)
    assert (data["status"], data["failure"]["kind"], data["exit_code"]) == ("failed", "invalid", 2)
    assert {one["code"] for one in data["problems"]} == {"GE1003", "GE1021"}
    assert data["stages"] == []


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        ("gpuetl: 1\n a: [", [], "GE1001"),
        (TEXT, ["--engine", "abacus"], "GE3003"),
        (TEXT, ["--profile", "none"], "GE1030"),
        (TEXT, ["--engine", "pandas", "--workers", 2], "GE3004"),
    ],
)
def test_a_run_that_is_refused_leaves_a_manifest(file, tmp_path, text, arguments, code):
    file.write_text(text)
    assert gpuetl("run", file, *arguments).exit_code == 2
    (data,) = manifests(tmp_path)
    assert (data["status"], data["failure"]["kind"], data["exit_code"]) == ("failed", "invalid", 2)
    assert data["problems"][0]["code"] == code
    assert data["pipeline_text"] == [{"name": str(file), "text": text}]


def test_a_file_that_cannot_be_read_leaves_none(tmp_path):
    assert gpuetl("run", tmp_path / "none.yaml").exit_code == 2
    assert list(tmp_path.iterdir()) == []


ENDED = """\
import os, signal, sys
from gpuetl.cli import execute
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.errors import OutOfMemory

class Ended(PandasBackend):
    def run(self, operation, *frames):
        {how}

import gpuetl.run.pipeline_run as pipeline_run
pipeline_run.load_driver_backend = lambda name: Ended()
execute(sys.argv[1:])
"""


def process(folder, how, *arguments):
    """Start a run that ends in some way."""
    script = folder / "ended.py"
    script.write_text(ENDED.format(how=how))
    environment = {**environment_without_coverage(), "PYTHONPATH": str(ROOT / "src")}
    line = [sys.executable, script, "run", "p.yaml", "--engine", "pandas", *arguments]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment)


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("how", "code", "status", "kind"),
    [
        ("os.kill(os.getpid(), signal.SIGTERM)", 143, "interrupted", "interrupted"),
        ("os.kill(os.getpid(), signal.SIGINT)", 130, "interrupted", "interrupted"),
        ("raise MemoryError('no room')", 1, "failed", "out of memory"),
        ("raise ZeroDivisionError('a bug')", 1, "failed", "error"),
    ],
)
def test_whatever_ends_a_run_leaves_a_manifest(file, tmp_path, how, code, status, kind):
    done = process(tmp_path, how)
    _, errors = done.communicate()
    assert done.returncode == code, errors.decode()
    (data,) = manifests(tmp_path)
    assert (data["status"], data["failure"]["kind"], data["exit_code"]) == (status, kind, code)
    assert len(data["problems"]) == 1


def test_a_killed_run_is_running_and_then_lost(file, tmp_path):
    """SIGKILL leaves what the run wrote when it began."""
    done = process(tmp_path, "open('begun', 'w'); import time; time.sleep(60)")
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists():
        assert done.poll() is None, done.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    files = LocalFiles(tmp_path / ".gpuetl" / "p")
    (run,) = read_runs(files)
    assert (run.status, run.manifest) == ("running", None)
    assert (run.started.pipeline, run.started.engine, run.started.pid) == ("small", "pandas", done.pid)
    assert " running " in gpuetl("runs", file).stdout
    done.send_signal(signal.SIGKILL)
    done.communicate()
    (run,) = read_runs(files)
    assert run.status == "lost"
    shown = gpuetl("runs", file, "--failed").stdout
    assert " lost " in shown
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 0
    assert [one.status for one in read_runs(files)] == ["done", "lost"]


def test_another_process_of_the_same_number_is_not_the_run():
    here = StartedRun.here("r", "small", "pandas", 0.0)
    assert here.status == "running"
    assert StartedRun(**{**vars(here), "process_start": here.process_start - 1}).status == "lost"
    assert StartedRun(**{**vars(here), "pid": 1 << 30}).status == "lost"
    assert StartedRun(**{**vars(here), "boot": "another"}).status == "lost"
    assert StartedRun(**{**vars(here), "boot": "another", "host": "another"}).status == "elsewhere"
    assert StartedRun(**{**vars(here), "namespace": "pid:[1]"}).status == "elsewhere"


def test_a_folder_that_cannot_be_written_is_a_warning(file, tmp_path):
    (tmp_path / ".gpuetl").write_text("a file")
    warning = (
        f"warning: the run leaves no manifest: cannot write to the state folder {tmp_path}/.gpuetl/p: Not a directory"
    )
    done = gpuetl("run", file, "--engine", "pandas")
    assert done.exit_code == 0
    assert " ".join(warning.split()) in " ".join(done.output.split())
    assert done.output.count("leaves no manifest") == 1
    write_rows(tmp_path, [300])
    failed = gpuetl("run", file, "--engine", "pandas")
    assert failed.exit_code == 1
    assert warning in failed.stderr
    assert "has no result" in failed.stderr


def test_in_a_sandbox_nothing_is_written_outside(file, tmp_path):
    (tmp_path / "inside").mkdir()
    file.write_text(TEXT.replace("parquet: rows", "parquet: inside/rows").replace("out.parquet", "inside/out.parquet"))
    write_rows(tmp_path / "inside", [1])
    done = gpuetl("run", file, "--engine", "pandas", "--sandbox", tmp_path / "inside")
    assert done.exit_code == 0, done.stderr
    assert "the run leaves no manifest" in done.output
    assert "outside of the sandbox" in done.output
    assert not (tmp_path / ".gpuetl").exists()


def test_the_state_folder_of_the_pipeline_is_taken(file, tmp_path):
    file.write_text(TEXT + "state: memory/${params.least}\n")
    assert gpuetl("run", file, "--engine", "pandas", "-p", "least=1").exit_code == 0
    assert len(list((tmp_path / "memory" / "1" / "runs").iterdir())) == 1
    assert not (tmp_path / ".gpuetl").exists()


def test_python_leaves_a_manifest_where_a_state_folder_is_set(file, tmp_path):
    load(file).run(engine="pandas")
    assert not (tmp_path / ".gpuetl").exists()
    p = Pipeline("built", root=tmp_path, state=tmp_path / "memory")
    p.read_parquet("rows", "rows").filter(col("x") > 1).stage("kept").write_parquet(
        "out", "built.parquet", mode="overwrite"
    )
    report = p.run(engine="pandas").report
    assert report.manifest == f"{tmp_path}/memory/runs/{report.run_id}.json"
    data = json.loads(Path(report.manifest).read_text())
    check_schema(data)
    (text,) = data["pipeline_text"]
    assert "filter: x > 1" in text["text"]


def test_python_writes_the_text_of_a_pipeline_only_where_somebody_reads_it(file, tmp_path, monkeypatch):
    def refuse(data):
        raise AssertionError("written")

    p = Pipeline("built", root=tmp_path)
    kept = p.read_parquet("rows", "rows").filter(col("x") > 1).stage("kept")
    kept.write_parquet("out", "built.parquet", mode="overwrite")
    with monkeypatch.context() as patch:
        patch.setattr("gpuetl.spec.write.yaml_text", refuse)
        report = p.run(engine="pandas").report
    (text,) = report.to_dict()["pipeline_text"]
    assert "filter: x > 1" in text["text"]
    assert report.pipeline_text[0].text == text["text"]


def test_python_names_what_failed(file, tmp_path):
    (tmp_path / "memory").write_text("a file")
    p = load(file)
    p.spec = load_with_state(file, "memory").spec
    assert "leaves no manifest" in p.run(engine="pandas").report.warnings[0]
    file.write_text(TEXT.replace("x >= $least", "xx >= 1") + "state: memory2\n")
    with pytest.raises(InvalidPipeline) as caught:
        load(file).run(engine="pandas")
    assert Path(caught.value.report.manifest).is_file()


def load_with_state(file, path):
    """Return the pipeline with a state folder."""
    file.write_text(TEXT + f"state: {path}\n")
    return load(file)


def test_tests_verify_and_rows_of_tables_leave_none(file, tmp_path):
    file.write_text(
        TEXT + "tests: [{name: t, given: {rows: [{x: 1}]}, expect: {kept: [{x: 1, y: 1}]}}]\nstate: memory\n"
    )
    assert gpuetl("test", file, "--engine", "pandas").exit_code == 0
    assert gpuetl("verify", file, "--engine", "pandas").exit_code == 0
    assert gpuetl("show", file, "kept", "--engine", "pandas").exit_code == 0
    assert not (tmp_path / "memory").exists()


def test_files_that_are_included_are_in_the_manifest(file, tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "sources.yaml").write_text("gpuetl: 1\nname: s\nsources: {rows: {parquet: ../rows}}\n")
    file.write_text(TEXT.replace("sources: {rows: {parquet: rows}}", "include: shared/sources.yaml"))
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 0
    (data,) = manifests(tmp_path)
    names = [one["name"] for one in data["pipeline_text"]]
    assert names == [str(file), str(tmp_path / "shared" / "sources.yaml")]
    assert "parquet: ../rows" in data["pipeline_text"][1]["text"]


def test_secrets_are_not_in_the_manifest(file, tmp_path, monkeypatch):
    monkeypatch.setenv("OUT_FOLDER", "secret-folder-name")
    (tmp_path / "secret-folder-name").mkdir()
    text = TEXT.replace("out.parquet", '"${env.OUT_FOLDER}/out.parquet"')
    text += "storage: {lake: {secret_access_key: 'hunter2hunter2', endpoint: 'https://x.example'}}\n"
    file.write_text(text)
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 0
    (data,) = manifests(tmp_path)
    written = json.dumps(data)
    assert "secret-folder-name" not in written
    assert "hunter2" not in written
    assert "${env.OUT_FOLDER}/out.parquet" in data["sinks"][0]["path"]


def test_many_files_have_a_count_and_a_digest(file, tmp_path):
    write_rows(tmp_path, *([number] for number in range(MOST_NAMED + 5)))
    file.write_text(TEXT.replace("      - with_columns: {y: CAST(x AS int8)}\n", ""))
    for _ in range(2):
        assert gpuetl("run", file, "--engine", "pandas").exit_code == 0
    first, second = (one["inputs"][0] for one in manifests(tmp_path))
    assert (first["files"], len(first["first"])) == (MOST_NAMED + 5, MOST_NAMED)
    assert first["digest"] == second["digest"]
    os.utime(tmp_path / "rows" / "9.parquet")
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 0
    assert manifests(tmp_path)[-1]["inputs"][0]["digest"] != first["digest"]


def test_values_from_a_file_are_as_written(file, tmp_path):
    file.write_text(TEXT.replace("params: {", 'params: {days: {type: "list<date>", default: null}, '))
    (tmp_path / "values.yaml").write_text("least: 1\ndays: [2026-01-01, 2026-01-02]\n")
    done = gpuetl("run", file, "--engine", "pandas", "--params-file", tmp_path / "values.yaml", "--json")
    assert json.loads(done.stdout)["params"] == {"days": '["2026-01-01", "2026-01-02"]', "least": "1"}


def test_rows_in_memory_have_no_files():
    p = Pipeline("frames")
    p.from_frame("rows", pa.table({"x": [1]})).filter(col("x") > 0).stage("kept")
    (source,) = p.run(engine="pandas").report.inputs
    assert (source.format, source.path, source.files) == ("memory", "", 0)


def test_the_oldest_manifests_are_removed(tmp_path):
    files = LocalFiles(tmp_path)
    for number in range(8):
        files.write(f"runs/20260101T00000{number}-x.json", b"{}")
    files.write("runs/20260101T000001-lost.started.json", b"{}")
    files.write("runs/20260101T000009-new.started.json", b"{}")
    forget_oldest(files, most=5)
    assert files.names("runs") == [
        *(f"runs/20260101T00000{number}-x.json" for number in range(3, 8)),
        "runs/20260101T000009-new.started.json",
    ]
    assert MOST_MANIFESTS == 1000


def test_a_damaged_manifest_is_unreadable(tmp_path):
    files = LocalFiles(tmp_path)
    files.write("runs/a.json", b'{"status": "don')
    files.write("runs/b.started.json", b"[]")
    assert [read_run(files, one).status for one in ("a", "b", "c")] == ["unreadable"] * 3
