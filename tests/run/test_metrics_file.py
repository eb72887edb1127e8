"""The file of metrics: read by Prometheus' own parser, and scraped from a server."""

from __future__ import annotations

import sys
import threading
import urllib.request
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import ContractBroken, InvalidPipeline, RunFailed, RunOptions, Telemetry, in_sandbox, load

parser = pytest.importorskip("prometheus_client.parser")

TEXT = """\
gpuetl: 1
name: daily
sources: {rows: {parquet: rows.parquet}}
stages:
  kept:
    from: rows
    steps:
      - filter: x > 1
      - with_columns: {y: CAST(x AS int8)}
    expect:
      - {name: small, that: x < 100, on_fail: warn}
sinks: {out: {from: kept, parquet: out.parquet, mode: overwrite}}
"""
LABELS = ("pipeline", "engine", "kind", "stage", "rule", "phase")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    pq.write_table(pa.table({"x": [1, 2, 3, 120]}), tmp_path / "rows.parquet")
    return path


def samples_of(text):
    """Return values by name and labels, without what is measured."""
    return {
        (
            sample.name.removeprefix("gpuetl_run_"),
            *(sample.labels[name] for name in LABELS if name in sample.labels),
        ): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def metrics(path):
    return samples_of(path.read_text())


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_a_run_that_succeeds(file, tmp_path, engine):
    out = tmp_path / "daily.prom"
    workers = ["--workers", 1] if engine == "dask" else []
    done = gpuetl("run", file, "--engine", engine, *workers, "--metrics", out, "--no-report")
    assert done.exit_code == 0, done.output
    found = metrics(out)
    size = (tmp_path / "out.parquet").stat().st_size
    counted = {
        key: value
        for key, value in found.items()
        if not key[0].endswith(("seconds", "info", "peak_bytes")) and "source" not in key
    }
    assert counted == {
        ("success", "daily", engine): 1,
        ("rows", "daily", engine, "stage", "kept"): 3,
        ("rows", "daily", engine, "sink", "out"): 3,
        ("bytes", "daily", engine, "sink", "out"): size,
        ("failed_expectations", "daily", engine): 0,
        ("expectation_broken_rows", "daily", engine, "kept", "small"): 1,
        ("warnings", "daily", engine): 1,
    }
    assert found["rows", "daily", engine, "source", "rows"] == 4
    assert 0 < found["bytes", "daily", engine, "source", "rows"] <= (tmp_path / "rows.parquet").stat().st_size
    assert found["stage_seconds", "daily", engine, "stage", "kept"] > 0
    assert found["phase_seconds", "daily", engine, "commit"] > 0
    assert found["last_success_timestamp_seconds", "daily"] == found["end_timestamp_seconds", "daily", engine]
    assert found["duration_seconds", "daily", engine] > 0


def test_a_run_that_fails_keeps_the_time_of_the_last_success(file, tmp_path):
    out = tmp_path / "daily.prom"
    options = RunOptions(telemetry=Telemetry(metrics_file=str(out)))
    pq.write_table(pa.table({"x": [2, 300]}), tmp_path / "rows.parquet")
    with pytest.raises(RunFailed):
        load(file).run(engine="pandas", options=options)
    assert metrics(out)["success", "daily", "pandas"] == 0
    assert ("last_success_timestamp_seconds", "daily") not in metrics(out)
    pq.write_table(pa.table({"x": [2, 30]}), tmp_path / "rows.parquet")
    load(file).run(engine="pandas", options=options)
    succeeded = metrics(out)["last_success_timestamp_seconds", "daily"]
    pq.write_table(pa.table({"x": [2, 300]}), tmp_path / "rows.parquet")
    for _ in range(2):
        with pytest.raises(RunFailed) as failed:
            load(file).run(engine="pandas", options=options)
        assert failed.value.report.warnings == ()
        found = metrics(out)
        assert found["success", "daily", "pandas"] == 0
        assert found["last_success_timestamp_seconds", "daily"] == succeeded
        assert found["end_timestamp_seconds", "daily", "pandas"] > succeeded
        assert ("rows", "daily", "pandas", "sink", "out") not in found


def test_expectations_that_fail(file, tmp_path):
    file.write_text(TEXT.replace("on_fail: warn", "on_fail: fail") + "telemetry: {metrics_file: daily.prom}\n")
    with pytest.raises(ContractBroken):
        load(file).run(engine="pandas")
    found = metrics(tmp_path / "daily.prom")
    assert found["failed_expectations", "daily", "pandas"] == 1
    assert found["expectation_broken_rows", "daily", "pandas", "kept", "small"] == 1
    assert found["success", "daily", "pandas"] == 0


def test_a_mistake_in_the_pipeline_is_a_run_that_failed(file, tmp_path):
    file.write_text(TEXT.replace("x > 1", "nowhere > 1"))
    out = tmp_path / "daily.prom"
    assert gpuetl("run", file, "--engine", "pandas", "--metrics", out, "--no-report").exit_code == 2
    assert metrics(out)["success", "daily", "pandas"] == 0


def test_it_is_scraped_from_a_server(file, tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    gpuetl("run", file, "--engine", "pandas", "--metrics", folder / "daily.prom", "--no-report")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/daily.prom") as answer:
            text = answer.read().decode()
        server.shutdown()
        thread.join()
    assert samples_of(text)["success", "daily", "pandas"] == 1
    assert [path.name for path in folder.iterdir()] == ["daily.prom"]


def test_odd_names_are_escaped(file, tmp_path):
    file.write_text(TEXT.replace("name: small", 'name: "a \\"b\\" \\\\ c"'))
    out = tmp_path / "daily.prom"
    gpuetl("run", file, "--engine", "pandas", "--metrics", out, "--no-report")
    assert metrics(out)["expectation_broken_rows", "daily", "pandas", "kept", 'a "b" \\ c'] == 1


def test_the_file_of_another_pipeline_is_a_warning(file, tmp_path):
    out = tmp_path / "shared.prom"
    options = RunOptions(telemetry=Telemetry(metrics_file=str(out)))
    load(file).run(engine="pandas", options=options)
    file.write_text(TEXT.replace("name: daily", "name: hourly"))
    run = load(file).run(engine="pandas", options=options)
    assert run.report.warnings[-1] == (
        f"{out} had metrics of pipeline 'daily', which are gone: each pipeline needs a file of its own"
    )
    out.write_text("no metrics, {[\n")
    assert "was no file of metrics" in load(file).run(engine="pandas", options=options).report.warnings[-1]


def test_a_file_that_cannot_be_written_is_a_warning(file):
    run = load(file).run(engine="pandas", options=RunOptions(telemetry=Telemetry(metrics_file="/dev/full")))
    assert run.report.warnings[-1] == "cannot write metrics to /dev/full: No space left on device"
    run = load(file).run(engine="pandas", options=RunOptions(telemetry=Telemetry(metrics_file="/nowhere/x.prom")))
    assert run.report.warnings[-1] == "cannot write metrics to /nowhere/x.prom: No such file or directory"


def test_a_run_that_fails_says_what_was_not_written(file, tmp_path):
    pq.write_table(pa.table({"x": [2, 300]}), tmp_path / "rows.parquet")
    done = gpuetl("run", file, "--engine", "pandas", "--metrics", "/dev/full", "--no-report")
    assert done.exit_code == 1
    first, second, *_ = done.stderr.splitlines()
    assert first == "warning: cannot write metrics to /dev/full: No space left on device"
    assert second.startswith("error: ")


def test_a_profile_counts_before_the_pipeline_and_options_before_both(file, tmp_path):
    file.write_text(
        TEXT
        + "telemetry: {metrics_file: own.prom}\nprofiles: {prod: {telemetry: {metrics_file: prod.prom}}, dev: {}}\n"
    )
    load(file).run(engine="pandas")
    load(file, profile="prod").run(engine="pandas")
    load(file, profile="dev").run(
        engine="pandas", options=RunOptions(telemetry=Telemetry(metrics_file=str(tmp_path / "given.prom")))
    )
    assert sorted(path.name for path in tmp_path.glob("*.prom")) == ["given.prom", "own.prom", "prod.prom"]
    again = load(file).to_yaml()
    assert "telemetry:\n  metrics_file: own.prom\n" in again
    assert "metrics_file: prod.prom" in again


def test_it_stays_in_the_sandbox(file, tmp_path):
    file.write_text(TEXT + f"telemetry: {{metrics_file: {tmp_path.parent}/own.prom}}\n")
    with in_sandbox(tmp_path), pytest.raises(InvalidPipeline, match=r"own\.prom is outside of the sandbox"):
        load(file).run(engine="pandas")
    assert not (tmp_path.parent / "own.prom").exists()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{otel: maybe}", "13:19: telemetry: otel: takes true or false"),
        ("{metrics: x}", "13:13: telemetry: unknown key 'metrics'"),
        (
            "{metrics_file: 's3://x/y'}",
            "13:27: telemetry: metrics_file: takes the path of a local file, without parameters",
        ),
        ("[otel]", "13:12: telemetry: takes a map, got a list"),
    ],
)
def test_mistakes(file, value, message):
    file.write_text(TEXT + f"telemetry: {value}\n")
    with pytest.raises(InvalidPipeline) as wrong:
        load(file).run(engine="pandas")
    assert message in str(wrong.value)


def test_without_the_library_it_says_what_to_install(file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "gpuetl.run.observability.prometheus_file", raising=False)
    done = gpuetl("run", file, "--engine", "pandas", "--metrics", tmp_path / "x.prom", "--no-report")
    assert done.exit_code == 2
    assert "pip install 'gpuetl[prometheus]'" in done.stderr
    assert not (tmp_path / "out.parquet").exists()
