"""Options of object stores in the language: how they are read, bound, refused and written."""

import pytest

import gpuetl as ge
from gpuetl import InvalidPipeline, Pipeline
from gpuetl.places.storage import option_name

OPTIONS = {
    "endpoint": "https://s3.example.com",
    "region": "eu-central-1",
    "access_key_id": {"env": "LAKE_ID"},
    "secret_access_key": {"env": "LAKE_SECRET"},
    "skip_signature": False,
}
BOUND = {
    "endpoint": "https://s3.example.com",
    "region": "eu-central-1",
    "access_key_id": "the-id",
    "secret_access_key": "the-secret",
    "skip_signature": "false",
}


@pytest.fixture(autouse=True)
def lake(monkeypatch):
    monkeypatch.setenv("LAKE_ID", "the-id")
    monkeypatch.setenv("LAKE_SECRET", "the-secret")


def text(source, sections="", sink='parquet: "s3://shop/out"'):
    return f"""\
gpuetl: 1
name: shop
{sections}
sources:
  t: {{{source}, schema: {{x: int64}}}}
sinks:
  out: {{from: t, {sink}}}
"""


def options_of(plan):
    return dict(plan.sources["t"].dataset.path.storage.options)


def problems_of(pipeline, **params):
    with pytest.raises(InvalidPipeline) as error:
        pipeline.plan(params, files=False)
    return str(error.value)


def test_options_of_a_source_and_of_a_sink():
    given = "storage_options: {endpoint_url: 'https://s3.example.com', aws_region: eu-central-1}"
    plan = ge.loads(text(f'parquet: "s3://shop/t", {given}', sink=f'parquet: "s3://shop/out", {given}')).plan(
        files=False
    )
    expected = {"endpoint": "https://s3.example.com", "region": "eu-central-1"}
    assert options_of(plan) == expected
    assert dict(plan.sinks["out"].target.path.storage.options) == expected


def test_storage_that_is_shared():
    sections = """\
params: {region: {type: string, default: eu-central-1}}
storage:
  lake: {endpoint: "https://s3.example.com", region: $region, access_key_id: {env: LAKE_ID}, secret_access_key: {env: LAKE_SECRET}, skip_signature: false}
"""
    pipeline = ge.loads(text('parquet: "s3://shop/t", storage: lake', sections))
    assert options_of(pipeline.plan(files=False)) == BOUND
    assert options_of(pipeline.plan({"region": "us-east-1"}, files=False)) == {**BOUND, "region": "us-east-1"}


def test_python_declares_the_same():
    pipeline = Pipeline("shop")
    region = pipeline.param("region", "string", "eu-central-1")
    pipeline.storage("lake", **{**OPTIONS, "region": region})
    pipeline.read_parquet("t", "s3://shop/t", schema={"x": "int64"}, storage="lake").write_parquet(
        "out", "s3://shop/out", storage_options={"region": "$region"}
    )
    plan = pipeline.plan(files=False)
    assert options_of(plan) == BOUND
    assert dict(plan.sinks["out"].target.path.storage.options) == {"region": "eu-central-1"}
    again = ge.loads(pipeline.to_yaml())
    assert again.spec == pipeline.spec
    assert options_of(again.plan(files=False)) == BOUND


def test_options_are_written_as_they_are_given():
    pipeline = Pipeline("shop")
    pipeline.storage("lake", **OPTIONS)
    pipeline.read_parquet("t", "s3://shop/t", storage_options={"region": "$region", "skip_signature": True})
    assert "lake:" in pipeline.to_yaml()
    assert (
        pipeline.to_yaml()
        == """\
gpuetl: 1
name: shop
storage:
  lake:
    access_key_id:
      env: LAKE_ID
    endpoint: https://s3.example.com
    region: eu-central-1
    secret_access_key:
      env: LAKE_SECRET
    skip_signature: false
sources:
  t:
    parquet: s3://shop/t
    storage_options:
      region: $region
      skip_signature: true
"""
    )


@pytest.mark.parametrize("where", ["storage", "source", "sink", "parameter"])
def test_a_secret_is_not_written(where):
    pipeline = Pipeline("shop")
    table = pipeline.read_parquet("u", "s3://shop/t")
    secret = {"secret_access_key": "hunter-two-hunter"}
    if where == "storage":
        pipeline.storage("lake", **secret)
    elif where == "source":
        pipeline.read_parquet("t", "s3://shop/t", storage_options=secret)
    elif where == "sink":
        table.write_parquet("out", "s3://shop/out", storage_options=secret)
    else:
        key = pipeline.param("key", "string", "hunter-two-hunter")
        pipeline.storage("lake", secret_access_key=key)
    with pytest.raises(InvalidPipeline, match=r"secret.*\nW|secret.*\nM") as error:
        pipeline.to_yaml()
    assert "hunter" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "{regoin: x}",
            "4:49: source 't': storage_options: unknown option 'regoin' of a store\n.*\n.*\nDid you mean 'region'?",
        ),
        ("{account_name: x}", "s3:// has no option account_name\n.*\n.*\nOptions of s3://: endpoint, region, profile,"),
        (
            "{region: x, aws_region: y}",
            "'aws_region' is the option region, which is given twice\n.*\n.*\nTake one out.",
        ),
        ("{region: [x]}", "region takes a string, number or boolean, got a list"),
        ("{region: null}", "region takes a string, number or boolean, got nothing"),
        ("{region: ''}", "region takes a string, number or boolean, got an empty string"),
        ("{region: {var: X}}", "region takes a value or {env: NAME}, got another map"),
        ("{region: '${env.REGION}'}", "region has a ${…}, which stands in paths only"),
        (
            "{region: {env: NOT_SET}}",
            "region: the environment variable NOT_SET is not set\n.*\n.*\nSet it: export NOT_SET=…",
        ),
        ("{region: $nothing}", "region: unknown parameter 'nothing'"),
        (
            "{endpoint: 'minio:9000'}",
            "endpoint is no URL that begins with https:// or http://\n.*\n.*\nWrite a URL such as https://minio",
        ),
        ("{endpoint: 's3.example.com'}", "endpoint is no URL that begins with"),
        ("{endpoint: 'https://'}", "endpoint is no URL that begins with"),
        ("{endpoint: 'http://host:port'}", "endpoint is no URL that begins with"),
        ("{}", "takes a map of options of a store, got an empty one"),
        ("lake", "takes a map of options of a store, got text"),
    ],
)
def test_options_that_are_wrong(options, message):
    import re

    pattern = "\n".join(part if part == ".*" else re.escape(part) for part in message.split("\n"))
    found = problems_of(ge.loads(text(f'parquet: "s3://shop/t", storage_options: {options}').replace("\n\n", "\n")))
    assert re.search(pattern, found), found


@pytest.mark.parametrize("url", ["https://ann:hunter-two@host", "hunter-two@host", "https://host?sig=hunter-two"])
def test_an_endpoint_with_a_secret_is_refused_and_not_shown(url):
    written = text(f'parquet: "s3://shop/t", storage_options: {{endpoint: "{url}"}}').replace("\n\n", "\n")
    found = problems_of(ge.loads(written))
    assert "endpoint has a user, a password or a query, which may be secret" in found
    assert "hunter" not in found


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("parquet: in, storage_options: {region: x}", "in is a path of this machine, which has no storage"),
        ('parquet: "s3://shop/t", storage: lake, storage_options: {region: x}', "has storage and storage_options"),
        ('parquet: "s3://shop/t", storage: lak', "unknown storage 'lak'\n"),
        ('parquet: "https://example.com/t.parquet", storage: lake', "https:// has no option region"),
        ('parquet: "gs://shop/t", storage: lake', "storage 'lake': gs:// has no option region"),
    ],
)
def test_storage_that_does_not_fit(source, message):
    assert message in problems_of(ge.loads(text(source, "storage: {lake: {region: x}}")))


def test_a_profile_that_cannot_be_read_is_one_mistake():
    found = problems_of(ge.loads(text('parquet: "s3://shop/t", storage: lake', "storage: {lake: {regoin: x}}")))
    assert "storage 'lake': unknown option 'regoin' of a store" in found
    assert found.count("storage") == 2


def test_a_mistake_of_a_profile_is_told_once():
    pipeline = Pipeline("shop")
    pipeline.storage("lake", region={"env": "NOT_SET"})
    for name in "abc":
        pipeline.read_parquet(name, f"s3://shop/{name}", storage="lake")
    assert problems_of(pipeline).count("NOT_SET is not set") == 1


def test_a_required_parameter_leaves_files_unchecked():
    sections = "params: {region: {type: string, required: true}}"
    pipeline = ge.loads(text('parquet: "s3://shop/t", storage_options: {region: $region}', sections))
    assert pipeline.validate().not_checked == ("files of source 't', whose storage needs a value for a parameter",)
    assert "parameter 'region' (string) has no value" in problems_of(pipeline)
    assert options_of(pipeline.plan({"region": "x"}, files=False)) == {"region": "x"}
    assert "region: parameter 'region' has no value" in problems_of(pipeline, region="")


def test_tests_need_no_credentials(monkeypatch):
    monkeypatch.delenv("LAKE_SECRET")
    sections = """\
storage: {lake: {region: x, access_key_id: {env: LAKE_ID}, secret_access_key: {env: LAKE_SECRET}}}
tests:
  - {name: rows, given: {t: [{x: 1}]}, expect: {t: [{x: 1}]}}
"""
    pipeline = ge.loads(
        text('parquet: "s3://shop/t", storage: lake', sections, 'parquet: "s3://shop/out", storage: lake')
    )
    assert "LAKE_SECRET is not set" in problems_of(pipeline)
    assert pipeline.test(engine="pandas").passed


def test_rows_of_a_test_are_not_in_the_store_of_the_source(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n1\n")
    sections = "tests: [{name: rows, given: {t: {csv: rows.csv}}, expect: {t: [{x: 1}]}}]"
    source = 'csv: "s3://shop/t.csv", storage_options: {region: x}'
    assert ge.loads(text(source, sections), tmp_path).test(engine="pandas").passed


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("region", "region"),
        ("AWS_REGION", "region"),
        ("aws_default_region", "region"),
        ("endpoint_url", "endpoint"),
        ("google_service_account", "service_account"),
        ("azure_storage_account_key", "account_key"),
        ("azure_storage_sas_key", "sas_token"),
        ("token", "bearer_token"),
        ("regoin", None),
        ("bucket", None),
    ],
)
def test_names_of_other_tools(written, name):
    assert option_name(written) == name
