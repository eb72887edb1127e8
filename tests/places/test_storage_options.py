"""Options of object stores in pipelines: on every engine, with nothing in the environment, and never shown."""

import io
import json
import logging
import os
import pickle
import subprocess
import sys
import traceback
from dataclasses import replace

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from command import environment_without_coverage, gpuetl
from gpuetl import GpuetlError, InvalidPipeline, Pipeline, RunFailed, RunOptions, col
from gpuetl.messages import SECRET_NAMES, without_secrets
from gpuetl.places.objects.clients import client_of
from gpuetl.places.registry import path_of
from gpuetl.places.storage import OPTIONS, Storage, is_secret, option_name
from tables import table

ROWS = pa.table({"x": pa.array([1, 2, 3, 4], pa.int64()), "s": ["a", None, "c", "d"]})
SECRETS = {
    "access_key_id": "key-id-of-the-lake-5f1c",
    "secret_access_key": "very-secret-key-of-the-lake-77aa",
    "session_token": "token-that-nobody-sees-91b2",
}


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)


@pytest.fixture
def options(s3_endpoint):
    return {"endpoint_url": s3_endpoint, "aws_region": "us-east-1", **SECRETS}


@pytest.fixture
def lake(s3, bucket_name):
    for number in range(2):
        written = io.BytesIO()
        pq.write_table(ROWS.slice(2 * number, 2), written, row_group_size=1)
        obstore.put(s3, f"in/parquet/{number}.parquet", written.getvalue())
    obstore.put(s3, "in/csv/0.csv", b"x,s\n1,a\n2,\n3,c\n4,d\n")
    return f"s3://{bucket_name}"


def source(pipeline, form, path, **keys):
    read = pipeline.read_parquet if form == "parquet" else pipeline.read_csv
    return read("t", path, schema={"x": "int64", "s": "string"}, **keys)


def written_rows(s3, prefix):
    paths = [one["path"] for one in obstore.list(s3, prefix).collect() if one["path"].endswith(".parquet")]
    return pa.concat_tables([pq.read_table(io.BytesIO(bytes(obstore.get(s3, path).bytes()))) for path in paths])


@pytest.mark.part(8)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_rows_are_read_and_written_by_options_alone(lake, s3, options, pipeline, engine, form):
    rows = source(pipeline, form, f"{lake}/in/{form}", storage_options=options).filter(col("x") > 1)
    rows.stage("rows").write_parquet("out", f"{lake}/out/{form}", mode="overwrite", storage_options=options)
    done = pipeline.run(engine=engine, keep="rows", options=RunOptions(partition_rows=1))
    assert sorted(done["rows"].to_arrow()["x"].to_pylist()) == [2, 3, 4]
    assert sorted(written_rows(s3, f"out/{form}")["x"].to_pylist()) == [2, 3, 4]


@pytest.mark.parametrize("engine_name", ["dask"])
def test_workers_in_processes_of_their_own_get_the_options(lake, s3, options, pipeline, engine_name, tmp_path):
    """A worker has no credentials in its environment, and none in the log of a task that fails."""
    rows = source(pipeline, "parquet", f"{lake}/in/parquet", storage_options=options)
    rows.stage("rows").write_parquet("out", f"{lake}/out/rows", mode="overwrite", storage_options=options)
    text = pipeline_text(lake, options["endpoint_url"])
    (tmp_path / "p.yaml").write_text(text)
    command = [
        sys.executable,
        "-m",
        "gpuetl",
        "run",
        str(tmp_path / "p.yaml"),
        "--engine",
        engine_name,
        "--workers",
        "2",
    ]
    environment = {**environment_without_coverage(), **variables()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    shows_no_secret(done.stdout, done.stderr)
    assert sorted(written_rows(s3, "out/yaml")["x"].to_pylist()) == [2, 3, 4]


def variables():
    return {f"LAKE_{name.upper()}": value for name, value in SECRETS.items()}


def pipeline_text(lake, endpoint, **secrets):
    given = {name: secrets.get(name, f"{{env: LAKE_{name.upper()}}}") for name in SECRETS}
    options = ", ".join(f"{name}: {value}" for name, value in given.items())
    return f"""\
gpuetl: 1
name: lake
storage:
  lake: {{endpoint: "{endpoint}", region: us-east-1, {options}}}
sources:
  t: {{parquet: "{lake}/in/parquet", storage: lake}}
stages:
  rows: {{from: t, steps: [filter: x > 1]}}
sinks:
  out: {{from: rows, parquet: "{lake}/out/yaml", mode: overwrite, storage: lake}}
"""


def shows_no_secret(*texts):
    for text in texts:
        for name, value in SECRETS.items():
            assert value not in text, name


COMMANDS = {
    "run": ["--engine", "pandas", "--steps", "--measure-memory", "--report", "report.json", "--trace", "trace.json"],
    "run html": ["--engine", "pandas", "--report", "report.html"],
    "plan": ["--engine", "pandas"],
    "plan rung": ["--rung", "end"],
    "validate": [],
    "validate json": ["--json"],
    "verify": ["--engine", "pandas", "--json"],
    "test": ["--from-run", "rows", "--engine", "pandas"],
}


@pytest.mark.part(3)
@pytest.mark.parametrize("form", ["literal", "env", "parameter"])
@pytest.mark.parametrize("store", ["sound", "no bucket", "no host"])
def test_no_command_shows_a_secret(lake, options, tmp_path, monkeypatch, form, store):
    for name, value in variables().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    secrets = {"literal": SECRETS, "env": {}, "parameter": {name: f"${name}" for name in SECRETS}}[form]
    endpoint = "http://127.0.0.1:9" if store == "no host" else options["endpoint_url"]
    text = pipeline_text("s3://there-is-none" if store == "no bucket" else lake, endpoint, **secrets)
    given = []
    if form == "parameter":
        declared = "".join(f"  {name}: {{type: string, required: true}}\n" for name in SECRETS)
        text = text.replace("storage:\n", f"params:\n{declared}storage:\n", 1)
        given = [part for name, value in SECRETS.items() for part in ("-p", f"{name}={value}")]
    (tmp_path / "p.yaml").write_text(text)
    if store == "no host":
        monkeypatch.setattr("gpuetl.places.objects.clients.RETRIES", {"max_retries": 0})
    for command, arguments in COMMANDS.items():
        done = gpuetl(command.split()[0], "p.yaml", *arguments, *given)
        assert bool(done.exit_code) == (store != "sound"), (command, done.output)
        shows_no_secret(done.output)
    (tmp_path / "p.yaml").unlink()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            shows_no_secret(file.read_bytes().decode("utf-8", "replace"))


def test_no_message_of_a_wrong_file_shows_a_secret(lake, options):
    text = pipeline_text(lake, options["endpoint_url"], **SECRETS)
    wrong = {
        "option": text.replace("region:", "regoin:"),
        "twice": text.replace("region: us-east-1", f"region: us-east-1, session_token: {SECRETS['session_token']}"),
        "other store": text.replace("region: us-east-1", "account_name: shop"),
        "no YAML": text.replace("us-east-1", "us-east-1: x: y"),
        "tab": text.replace("  lake:", "\tlake:"),
        "bracket": text.replace("}\nsources", "\nsources"),
        "list": text.replace("region: us-east-1", "region: [us-east-1]"),
        "anchor": text.replace("session_token: ", "session_token: &a "),
        "value": text.replace("secret_access_key: ", "secret_access_key: ${env.X}"),
        "misspelt": text.replace("secret_access_key: ", "secret_acess_key: "),
        "other word": text.replace("secret_access_key: ", "pass: "),
        "list of one": text.replace(SECRETS["secret_access_key"], f"[{SECRETS['secret_access_key']}]"),
        "line": text.replace("secret_access_key: ", "\n      secret_access_key:\n        - "),
    }
    for what, file in wrong.items():
        assert file != text, what
        with pytest.raises(InvalidPipeline) as error:
            ge.loads(file).plan()
        shows_no_secret(str(error.value), repr(error.value), json.dumps([p.to_dict() for p in error.value.problems]))


@pytest.mark.parametrize("name", ["secret_access_key", "secret_acess_key", "pass", "sas_token"])
@pytest.mark.parametrize("form", ["{0}: {1}", "{0}: '{1}'", "{0}: [{1}]", "{0}: ['{1}', 2]", "'{0}': {1}"])
def test_no_line_shows_a_short_secret(name, form):
    """Values of fewer than 8 characters are not replaced in other texts, where they would match by chance."""
    option = form.format(name, "sesame")
    text = pipeline_text("s3://shop", "http://x").replace(
        "region: us-east-1", f"region: us-east-1, {option}, regoin: x"
    )
    with pytest.raises(InvalidPipeline) as error:
        ge.loads(text).plan()
    assert "unknown option" in str(error.value)
    assert "sesame" not in str(error.value)


@pytest.mark.parametrize("form", ["{{x: {}}}", "{{x: [{}]}}", "[{}, {{y: {}}}]"])
def test_no_line_shows_short_secrets_of_a_map_or_of_several_misspelt_options(form):
    wrong = f"secret_acess_key: {form.format('sesame', 'sesame')}, acess_key_id: open, skip_signature: maybe"
    text = pipeline_text("s3://shop", "http://x").replace("region: us-east-1", f"region: us-east-1, {wrong}")
    with pytest.raises(InvalidPipeline) as error:
        ge.loads(text).plan()
    assert [problem.message.split(": ")[-1] for problem in error.value.problems] == [
        "unknown option 'secret_acess_key' of a store",
        "unknown option 'acess_key_id' of a store",
        "skip_signature takes true or false, got 'maybe'",
    ]
    assert "sesame" not in str(error.value)
    assert "open" not in str(error.value)


@pytest.mark.parametrize("name", ["skip_signature", "request_payer", "virtual_hosted_style_request"])
@pytest.mark.parametrize(("written", "value"), [("true", "true"), ("'True'", "true"), ("1", "true"), ("no", "false")])
def test_options_that_are_true_or_false(name, written, value):
    text = (
        "gpuetl: 1\nname: p\nsources:\n  s: {parquet: 's3://shop/t', schema: {x: int64}, storage_options: {OPTION}}\n"
    )
    text += "sinks:\n  out: {from: s, parquet: out}\n"
    path = ge.loads(text.replace("OPTION", f"{name}: {written}")).plan(files=False).sources["s"].dataset.path
    assert dict(path.storage.options) == {name: value}


@pytest.mark.parametrize("given", ["parameter", "variable"])
def test_a_value_that_is_neither_true_nor_false_is_an_error_wherever_it_comes_from(given, monkeypatch):
    monkeypatch.setenv("SKIP", "maybe")
    value = {"parameter": "$skip", "variable": "{env: SKIP}"}[given]
    text = pipeline_text("s3://shop", "http://x").replace("region: us-east-1", f"skip_signature: {value}")
    text = text.replace("storage:\n", "params:\n  skip: {type: string, default: maybe}\nstorage:\n", 1)
    with pytest.raises(InvalidPipeline, match="skip_signature takes true or false, got 'maybe'"):
        ge.loads(text).plan(files=False)


def test_no_object_shows_a_secret(lake, options, pipeline, caplog):
    caplog.set_level(logging.DEBUG)
    rows = source(pipeline, "parquet", f"{lake}/in/parquet", storage_options=options)
    rows.stage("rows").write_parquet("out", f"{lake}/out", mode="overwrite", storage_options=options)
    plan = pipeline.plan()
    done = pipeline.run(engine="pandas")
    shown = [repr(one) for one in (pipeline, pipeline.spec, rows, plan, done, done.report, plan.sinks, plan.sources)]
    shows_no_secret(*shown, pipeline.explain(engine="pandas"), str(done.report.to_dict()), caplog.text)
    path = replace(path_of(lake, None), storage=Storage.of(SECRETS))
    shows_no_secret(repr(path), str(path), repr(client_of(path)))
    assert pickle.loads(pickle.dumps(path)) == path


def test_a_script_that_fails_does_not_show_its_secrets(tmp_path):
    """Python shows the line that failed."""
    key = SECRETS["secret_access_key"]
    (tmp_path / "script.py").write_text(
        "import gpuetl\n"
        "p = gpuetl.Pipeline('p')\n"
        f"p.read_parquet('t', 's3://shop/t', storage_options={{'secret_access_key': '{key}', 'regoin': 'x'}})\n"
    )
    command = [sys.executable, str(tmp_path / "script.py")]
    done = subprocess.run(
        command, env=environment_without_coverage(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "unknown option 'regoin' of a store" in done.stderr
    shows_no_secret(done.stderr, done.stdout)


@pytest.mark.parametrize("changed", list(SECRETS))
def test_fingerprints_do_not_depend_on_credentials(options, changed):
    def fingerprint(**others):
        pipeline = Pipeline("p")
        rows = source(pipeline, "parquet", "s3://shop/t", storage_options={**options, **others})
        rows.stage("rows").write_parquet("out", "s3://shop/out", mode="append", storage_options={**options, **others})
        plan = pipeline.plan(files=False)
        return plan.fingerprint, plan.sinks["out"].target.mark

    assert fingerprint() == fingerprint(**{changed: "another-one"})
    assert fingerprint() != fingerprint(endpoint_url="https://elsewhere.example.com")


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("s3://shop/out", "s3://shop/out/day", "writes inside the path of sink 'one'"),
        ("s3://shop/out/day", "s3://shop/out", "has a path that holds that of sink 'one'"),
        ("s3://shop/out", "s3://shop/out/day/t.parquet", "writes inside the path of sink 'one'"),
        ("s3://shop/out", "s3://shop/out", "writes the same path as sink 'one'"),
        ("s3://shop/out", "s3://shop/outer", ""),
    ],
)
@pytest.mark.parametrize("mode", ["overwrite", "append"])
def test_a_sink_inside_of_another_one_in_a_store_is_an_error(options, first, second, message, mode):
    pipeline = Pipeline("p")
    rows = pipeline.from_frame("t", table({"x": "int64"}, (1,)))
    rows.write_parquet("one", first, mode=mode, storage_options=options)
    rows.write_parquet("two", second, mode=mode, storage_options={**options, "access_key_id": "another-one"})
    if not message:
        pipeline.plan(files=False)
        return
    with pytest.raises(InvalidPipeline, match=message):
        pipeline.plan(files=False)


def test_rows_of_two_endpoints_are_different_places(options):
    def pipeline(endpoint):
        made = Pipeline("p")
        rows = source(made, "parquet", "s3://shop/t", storage_options=options)
        rows.stage("rows").write_parquet("out", "s3://shop/t", mode="overwrite", storage_options={"endpoint": endpoint})
        return made

    pipeline("https://elsewhere.example.com").plan(files=False)
    for same in (options["endpoint_url"], f"{options['endpoint_url']}/"):
        with pytest.raises(InvalidPipeline, match="writes over source 't'"):
            pipeline(same).plan(files=False)


def test_the_endpoint_of_the_environment_is_a_place_too(options, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", options["endpoint_url"])
    made = Pipeline("p")
    rows = source(made, "parquet", "s3://shop/t", storage_options=options)
    rows.stage("rows").write_parquet("out", "s3://shop/t", mode="overwrite")
    with pytest.raises(InvalidPipeline, match="writes over source 't'"):
        made.plan(files=False)


def test_options_come_before_the_environment(lake, options, pipeline, monkeypatch):
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9" if name == "AWS_ENDPOINT_URL" else "of-another-user")
    source(pipeline, "parquet", f"{lake}/in/parquet", storage_options=options).stage("rows")
    assert pipeline.run(engine="pandas")["rows"].to_arrow().num_rows == 4


def test_a_profile_that_is_not_there_is_an_error(lake, options, pipeline):
    source(pipeline, "parquet", f"{lake}/in/parquet", storage_options={"profile": "none-of-mine"}).stage("rows")
    with pytest.raises(InvalidPipeline, match=r"cannot use AWS profiles: .*none-of-mine"):
        pipeline.run(engine="pandas")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("127.0.0.1:9000", "is no URL that begins with https:// or http://"),
        ("https://ann:hunter-two@host", "has a user, a password or a query, which may be secret"),
    ],
)
def test_a_wrong_endpoint_of_the_environment_is_refused(pipeline, monkeypatch, url, problem):
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    source(pipeline, "parquet", "s3://shop/in").stage("rows")
    with pytest.raises(GpuetlError) as failed:
        pipeline.run(engine="pandas", keep="rows")
    assert f"the endpoint of s3://shop {problem}" in str(failed.value)
    assert "hunter" not in str(failed.value)


def test_every_secret_option_is_hidden_in_lines():
    assert {name for name, option in OPTIONS.items() if option.secret} <= set(SECRET_NAMES)
    for name in SECRET_NAMES:
        assert is_secret(option_name(name))
        for line in (f"{name}: abc", f'"{name}": "abc"', f"{{x: 1, {name}: abc, y: 2}}", f"f({name}='abc', y=2)"):
            assert "abc" not in without_secrets(line)
            assert len(without_secrets(line)) == len(line)
    assert (
        without_secrets("access_key_id: {env: ABC}, session_token: $abc")
        == "access_key_id: {env: ABC}, session_token: $abc"
    )


def test_a_task_that_fails_on_a_worker_logs_no_secret(lake, s3, options, tmp_path):
    """A worker writes the arguments of a failed task to its log."""
    obstore.put(s3, "in/parquet/bad.csv", b"x\n1\ntwo\n")
    text = pipeline_text(lake, options["endpoint_url"]).replace(
        f'parquet: "{lake}/in/parquet"', f'csv: "{lake}/in/parquet/bad.csv", schema: {{x: int64}}'
    )
    (tmp_path / "p.yaml").write_text(text)
    command = [sys.executable, "-m", "gpuetl", "run", "p.yaml", "--engine", "dask", "--workers", "2"]
    command += ["--report", "report.html", "--trace", "trace.json"]
    environment = {**environment_without_coverage(), **variables(), "DASK_LOGGING__DISTRIBUTED": "debug"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert "two" in done.stderr
    shows_no_secret(done.stdout, done.stderr)
    for name in ("report.html", "trace.json"):
        shows_no_secret((tmp_path / name).read_text())


def test_notebooks_show_no_secret_of_a_failed_run(lake, options, pipeline):
    """IPython's and Python's tracebacks of what the library raised have no values of options either."""
    path = f"{lake}/in/none.parquet"
    source(pipeline, "parquet", path, storage_options=options).stage("rows")
    with pytest.raises(RunFailed) as failed:
        pipeline.run(engine="pandas")
    shows_no_secret(*traceback.format_exception(failed.value), *failed.value._render_traceback_())
    assert f"{path} does not exist" in str(failed.value)


def test_sinks_of_one_bucket_with_different_credentials(lake, s3, options, pipeline):
    rows = source(pipeline, "parquet", f"{lake}/in/parquet", storage_options=options)
    others = {name: value for name, value in options.items() if name != "session_token"}
    for name, given in {"a": options, "b": others}.items():
        rows.stage(name).write_parquet(name, f"{lake}/out/{name}", mode="overwrite", storage_options=given)
    for _ in range(2):
        pipeline.run(engine="pandas")
        assert [written_rows(s3, f"out/{name}").num_rows for name in "ab"] == [4, 4]


def test_a_sink_over_the_folder_of_its_pipeline_in_a_store(options, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", options["endpoint_url"])
    made = Pipeline("p", root="s3://shop/pipelines")
    made.from_frame("t", ROWS).write_parquet("out", "s3://shop/pipelines", mode="overwrite", storage_options=options)
    with pytest.raises(InvalidPipeline, match="writes over the pipeline's own folder"):
        made.plan()


@pytest.mark.part(3)
def test_every_server_takes_its_options_alone(store_server, pipeline, engine):
    """There is nothing in the environment."""
    bucket = store_server.new_bucket()
    store, path = store_server.client(bucket), f"{store_server.scheme}://{bucket}"
    obstore.put(store, "in/0.csv", b"x,s\n1,a\n2,\n3,c\n4,d\n")
    options = dict(store_server.options)
    pipeline.storage("lake", **options)
    rows = source(pipeline, "csv", f"{path}/in", storage="lake")
    rows.stage("rows").write_parquet("out", f"{path}/out/rows", mode="overwrite", storage="lake")
    pipeline.run(engine=engine)
    assert sorted(written_rows(store, "out/rows")["x"].to_pylist()) == [1, 2, 3, 4]


@pytest.mark.parametrize("store_server", ["azurite"], indirect=True)
def test_a_wrong_key_is_refused_without_its_value(store_server, pipeline):
    wrong = "d3Jvbmcta2V5LW9mLW5vYm9keQ=="
    options = {**store_server.options, "account_key": wrong}
    source(pipeline, "parquet", f"az://{store_server.new_bucket()}/in", storage_options=options).stage("rows")
    with pytest.raises(GpuetlError, match=r"Check the credentials|access is denied|secret key is wrong") as failed:
        pipeline.run(engine="pandas")
    assert wrong not in "".join(traceback.format_exception(failed.value))
