"""OpenLineage events of runs: received over HTTP on loopback, and checked by OpenLineage's own JSON Schemas."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath
from uuid import UUID

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from referencing import Registry, Resource

from command import gpuetl
from gpuetl import ContractBroken, InvalidPipeline, Pipeline, RunFailed, RunOptions, Telemetry, load
from gpuetl.places.paths import StorePath
from gpuetl.places.storage import Storage
from gpuetl.run.observability.dataset_names import name_of_path
from receivers import receiver

pytest.importorskip("openlineage.client")

TEXT = """\
gpuetl: 1
name: daily
description: What shops sold.
sources:
  sales: {csv: sales/*.csv, schema: {id: int64, shop: string, amount: float64}}
  shops: {parquet: shops.parquet}
stages:
  sold:
    from: sales
    steps:
      - filter: amount > 1
      - join: {with: shops, on: [shop]}
      - aggregate: {by: [city], columns: {total: sum(amount * 2), n: count(*)}}
      - sort: [city]
    expect:
      - {not_null: [city]}
      - {name: enough, that: total > 4, on_fail: warn}
sinks: {out: {from: sold, parquet: out, mode: overwrite}}
"""
SPEC = Path(__file__).parent / "openlineage_spec"


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    for name in os.environ:
        if name.startswith("OPENLINEAGE"):
            monkeypatch.delenv(name)
    yield
    for name in list(os.environ):  # the client sets some
        if name.startswith("OPENLINEAGE"):
            del os.environ[name]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "1.csv").write_text("id,shop,amount\n1,a,2.5\n2,b,1.5\n3,a,0.5\n")
    pq.write_table(pa.table({"shop": ["a", "b"], "city": ["Oslo", "Rome"]}), tmp_path / "shops.parquet")
    return path


def registry():
    contents = [json.loads(path.read_text()) for path in SPEC.glob("*.json")]
    return Registry().with_resources([(one["$id"], Resource.from_contents(one)) for one in contents])


def check(event):
    """Check an event, and each facet that it has, by their schemas."""
    schemas = registry()

    def valid(data, url):
        jsonschema.Draft202012Validator(
            {"$ref": url}, registry=schemas, format_checker=jsonschema.FormatChecker()
        ).validate(data)

    valid(event, event["schemaURL"])
    places = [event["run"]["facets"], event["job"]["facets"]]
    for dataset in (*event["inputs"], *event["outputs"]):
        places += [dataset.get(name) or {} for name in ("facets", "inputFacets", "outputFacets")]
    checked = 0
    for name, facet in ((name, facet) for facets in places for name, facet in facets.items()):
        if facet["_producer"].startswith("https://pypi.org/project/gpuetl/"):
            schema = facet["_schemaURL"].split("/#")[0].split("#")[0]
            wrapped = json.loads((SPEC / schema.rsplit("/", 1)[1]).read_text())
            assert name in wrapped["properties"], name
            valid(facet, facet["_schemaURL"])
            checked += 1
    return checked


def events_of(server):
    events = [json.loads(body) for body in server.bodies("/api/v1/lineage")]
    for event in events:
        check(event)
    return events


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_a_run_that_succeeds(file, tmp_path, monkeypatch, engine):
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "shop")
        report = load(file).run(engine=engine).report
        start, complete = events_of(server)
    assert len(report.warnings) == 1
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert (start["job"]["namespace"], start["job"]["name"]) == ("shop", "daily")
    assert start["job"]["facets"]["documentation"]["description"] == "What shops sold."
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert UUID(start["run"]["runId"]).version == 7
    assert start["eventTime"] < complete["eventTime"]
    tags = {one["key"]: one["value"] for one in complete["run"]["facets"]["tags"]["tags"]}
    assert (tags["gpuetl.run_id"], tags["gpuetl.engine"]) == (report.run_id, engine)
    inputs = {(one["namespace"], one["name"]): one for one in complete["inputs"]}
    assert set(inputs) == {("file", f"{tmp_path}/sales"), ("file", f"{tmp_path}/shops.parquet")}
    sales = inputs["file", f"{tmp_path}/sales"]
    assert [(one["name"], one["type"]) for one in sales["facets"]["schema"]["fields"]] == [
        ("id", "int64"), ("shop", "string"), ("amount", "float64"),
    ]  # fmt: skip
    assert sales["inputFacets"]["inputStatistics"]["rowCount"] == 3
    assert sales["facets"]["dataSource"]["uri"] == f"file://{tmp_path}/sales"
    (out,) = complete["outputs"]
    assert (out["namespace"], out["name"]) == ("file", f"{tmp_path}/out")
    size = sum(path.stat().st_size for path in (tmp_path / "out").glob("*.parquet"))
    statistics = out["outputFacets"]["outputStatistics"]
    assert (statistics["rowCount"], statistics["size"], statistics["fileCount"]) == (2, size, 1)
    assert "outputStatistics" not in (start["outputs"][0].get("outputFacets") or {})
    assert start["outputs"][0]["facets"]["columnLineage"]["fields"] == out["facets"]["columnLineage"]["fields"]


def plain(fields, folder):
    """Return input fields as text: `sales.amount DIRECT AGGREGATION`."""
    return [
        f"{one['name'].removeprefix(f'{folder}/')}.{one['field']} {how['type']} {how['subtype']}{' masked' * how['masking']}"
        for one in fields
        for how in one["transformations"]
    ]


def test_column_lineage(file, tmp_path, monkeypatch):
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        load(file).run(engine="pandas")
        complete = events_of(server)[-1]
    facet = complete["outputs"][0]["facets"]["columnLineage"]
    assert {name: plain(one["inputFields"], tmp_path) for name, one in facet["fields"].items()} == {
        "city": ["shops.parquet.city DIRECT IDENTITY"],
        "total": ["sales.amount DIRECT AGGREGATION"],
        "n": [],
    }
    assert plain(facet["dataset"], tmp_path) == [
        "sales.amount INDIRECT FILTER",
        "sales.shop INDIRECT JOIN",
        "shops.parquet.city INDIRECT GROUP_BY",
        "shops.parquet.city INDIRECT SORT",
        "shops.parquet.shop INDIRECT JOIN",
    ]


def test_expectations(file, tmp_path, monkeypatch):
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        load(file).run(engine="pandas")
        complete = events_of(server)[-1]
    found = {
        one["name"].rsplit("/", 1)[1]: [
            (rule["assertion"], rule["name"], rule["success"], rule.get("column"), rule["severity"], rule["actual"])
            for rule in one["inputFacets"]["dataQualityAssertions"]["assertions"]
        ]
        for one in complete["inputs"]
    }
    assert found == {
        "sales": [("not_null", "not_null(city)", True, None, "error", "0"), ("expectation", "enough", False, None, "warn", "1")],
        "shops.parquet": [
            ("not_null", "not_null(city)", True, "city", "error", "0"), ("expectation", "enough", False, None, "warn", "1"),
        ],
    }  # fmt: skip
    assert [(one["name"], one["status"]) for one in complete["run"]["facets"]["test"]["tests"]] == [
        ("not_null(city)", "pass"), ("enough", "fail"),
    ]  # fmt: skip


def test_a_run_that_fails(file, tmp_path, monkeypatch):
    file.write_text(TEXT.replace("sum(amount * 2)", "sum(CAST(amount * 200 AS int8))"))
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        with pytest.raises(RunFailed):
            load(file).run(engine="pandas")
        start, failed = events_of(server)
    assert failed["eventType"] == "FAIL"
    error = failed["run"]["facets"]["errorMessage"]
    assert error["programmingLanguage"] == "Python"
    assert "stage 'sold', step 3: column 'total'" in error["message"]
    assert error["message"].endswith("no sink has changed")
    assert "outputStatistics" not in (failed["outputs"][0].get("outputFacets") or {})
    assert start["run"]["runId"] == failed["run"]["runId"]


def test_expectations_that_fail(file, monkeypatch):
    file.write_text(TEXT.replace("on_fail: warn", "on_fail: fail"))
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        with pytest.raises(ContractBroken):
            load(file).run(engine="pandas")
        _, failed = events_of(server)
    assert failed["eventType"] == "FAIL"
    assert [one["status"] for one in failed["run"]["facets"]["test"]["tests"]] == ["pass", "fail"]


def test_a_mistake_in_the_pipeline_starts_and_fails(file, monkeypatch):
    file.write_text(TEXT.replace("amount > 1", "nowhere > 1"))
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        with pytest.raises(InvalidPipeline):
            load(file).run(engine="pandas")
        events = events_of(server)
    assert [(one["eventType"], one["inputs"], one["outputs"]) for one in events] == [
        ("START", [], []),
        ("FAIL", [], []),
    ]


def test_an_interrupted_run_is_aborted(file, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        with pytest.raises(KeyboardInterrupt):
            load(file).run(engine="pandas", progress=interrupt)
        assert [one["eventType"] for one in events_of(server)] == ["START", "ABORT"]


def test_secrets_are_not_sent(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", "verysecretplace")
    (tmp_path / "verysecretplace").mkdir()
    file.write_text(TEXT.replace("parquet: out,", "parquet: '${env.PLACE}/out',"))
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        load(file).run(engine="pandas")
        text = json.dumps(events_of(server))
    assert "verysecretplace" not in text
    assert "${env.PLACE}/out" in text


def test_the_parent_run_of_the_environment(file, monkeypatch):
    parent = "01941f29-7c00-7087-8906-40e512c257bd"
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        monkeypatch.setenv("OPENLINEAGE_PARENT_ID", f"airflow/dags/daily/{parent}")
        load(file).run(engine="pandas")
        facet = events_of(server)[0]["run"]["facets"]["parent"]
    assert (facet["job"]["namespace"], facet["job"]["name"], facet["run"]["runId"]) == ("airflow/dags", "daily", parent)


def test_events_to_a_file_that_openlineage_yml_names(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "openlineage.yml").write_text("transport: {type: file, log_file_path: events.jsonl, append: true}\n")
    done = gpuetl("run", file, "--engine", "pandas", "--no-report")
    assert done.exit_code == 0, done.output
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [one["eventType"] for one in events] == ["START", "COMPLETE"]


def test_rows_in_memory(monkeypatch, tmp_path):
    pipeline = Pipeline("small", root=tmp_path)
    pipeline.from_frame("rows", pa.table({"x": [1, 2]})).write_parquet("out", "out.parquet", mode="overwrite")
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        pipeline.run(engine="pandas")
        complete = events_of(server)[-1]
    assert [(one["namespace"], one["name"]) for one in complete["inputs"]] == [("memory", "small.rows")]


@pytest.mark.parametrize(("status", "delay_s"), [(400, 0.0), (200, 30.0)])
def test_a_receiver_that_fails_or_hangs_is_a_warning_after_a_limited_time(file, monkeypatch, status, delay_s):
    with receiver(status, delay_s) as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        start = time.monotonic()
        run = load(file).run(engine="pandas")
        took = time.monotonic() - start
    assert run.report.warnings[-1].startswith("OpenLineage: events not sent")
    assert run.report.status == "done"
    assert took < 8


def test_a_receiver_that_is_down_is_a_warning_and_stderr_is_clean(file):
    environment = {**os.environ, "OPENLINEAGE_URL": "http://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-m", "gpuetl", "run", file, "--engine", "pandas", "--no-report"],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0
    assert "warning: OpenLineage: events not sent" in done.stdout
    assert done.stderr == ""


def test_switches(file, monkeypatch):
    done = gpuetl("run", file, "--engine", "pandas", "--no-report", "--openlineage")
    assert (done.exit_code, done.stderr.splitlines()[0]) == (2, "OpenLineage has no receiver")
    with receiver() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.url)
        load(file).run(engine="pandas", options=RunOptions(telemetry=Telemetry(openlineage=False)))
        monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
        load(file).run(engine="pandas")
        assert server.requests == []


def test_a_missing_library(file, monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("gpuetl.run.observability.openlineage_events.find_spec", lambda name: None)
    done = gpuetl("run", file, "--engine", "pandas", "--no-report", "--openlineage")
    assert (done.exit_code, done.stderr.splitlines()[1]) == (2, "Install it with: pip install 'gpuetl[openlineage]'")
    assert "needs a library that is not installed" in load(file).run(engine="pandas").report.warnings[-1]


AZURE = Storage.of({"account_name": "Shop"})


@pytest.mark.parametrize(
    ("path", "namespace", "name"),
    [
        (Path("/data/sales/2026.csv"), "file", "/data/sales/2026.csv"),
        (Path("/nowhere/day=*/x.csv"), "file", "/nowhere"),
        (StorePath("s3", PurePosixPath("lake/sales/a/*.parquet")), "s3://lake", "sales/a"),
        (StorePath("gs", PurePosixPath("lake/sales")), "gs://lake", "sales"),
        (StorePath("s3", PurePosixPath("lake")), "s3://lake", "/"),
        (StorePath("az", PurePosixPath("lake/sales"), AZURE), "abfss://lake@shop.dfs.core.windows.net", "sales"),
        (StorePath("https", PurePosixPath("example.com/a/b.csv")), "https://example.com", "a/b.csv"),
    ],
)
def test_names_of_datasets(path, namespace, name, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    assert name_of_path(path) == (namespace, name)
