"""profiles, --params-file and .env: what differs between places where a pipeline runs."""

import os
import subprocess
import sys
from decimal import Decimal

import pytest

import gpuetl as ge
from command import gpuetl
from gpuetl import InvalidPipeline, RunOptions, in_sandbox
from gpuetl.spec.files.environment import read_variables

TEXT = """\
gpuetl: 1
name: p
params:
  least: {type: int64, default: 1}
  regions: {type: list<string>, default: [EU, US, AS]}
  share: {type: "decimal(20,18)", default: "0.5"}
storage:
  lake: {region: eu-central-1}
profiles:
  dev:
    engine: pandas
    memory: 2GB
    partition_rows: 100
    params: {least: 2, regions: [US]}
  prod:
    engine: dask
    workers: 3
    worker_memory: 4GB
    storage:
      lake: {region: us-east-1, skip_signature: true}
sources:
  sales: {csv: "${env.DATA_FOLDER:-data}/sales.csv", schema: {region: string, x: int64}}
stages:
  clean:
    from: sales
    steps:
      - filter: x >= $least AND region IN $regions
sinks:
  out: {from: clean, csv: out.csv, mode: overwrite}
"""
ROWS = "region,x\nEU,1\nUS,2\nAS,3\n"


@pytest.fixture(autouse=True)
def no_profile(monkeypatch):
    monkeypatch.delenv("GPUETL_PROFILE", raising=False)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sales.csv").write_text(ROWS)
    (tmp_path / "p.yaml").write_text(TEXT)
    return tmp_path


def loaded(folder, profile=None):
    return ge.load(folder / "p.yaml", profile=profile)


def regions(pipeline, **params):
    rows = pipeline.run(params, engine="pandas", keep="clean")["clean"].to_arrow()
    return rows["region"].to_pylist()


@pytest.mark.parametrize(
    ("profile", "params", "rows"),
    [
        (None, {}, ["EU", "US", "AS"]),
        ("dev", {}, ["US"]),
        ("dev", {"regions": ["AS"]}, ["AS"]),
        ("prod", {}, ["EU", "US", "AS"]),
    ],
)
def test_values_of_a_profile_are_defaults(folder, profile, params, rows):
    assert regions(loaded(folder, profile), **params) == rows


def test_a_profile_names_the_engine_and_options_of_a_run(folder):
    dev = loaded(folder, "dev")
    assert (dev.engine_for("auto"), dev.engine_for("dask")) == ("pandas", "dask")
    assert dev.options_for(None, "auto") == RunOptions(memory=2 * 10**9, partition_rows=100)
    assert dev.options_for(RunOptions(memory=7), "auto").memory == 7
    run = dev.run(keep="clean")
    assert run.report.engine == "pandas"
    assert dev.table("clean").head(5).to_arrow()["region"].to_pylist() == ["US"]
    prod = loaded(folder, "prod")
    cluster = prod.options_for(None, "auto").cluster
    assert (prod.engine_for(), cluster.workers, cluster.worker_memory) == ("dask", 3, 4 * 10**9)
    assert prod.options_for(None, "pandas") == RunOptions()


def test_storage_of_a_profile_replaces_that_of_the_same_name(folder):
    text = TEXT.replace('csv: "${env.DATA_FOLDER:-data}/sales.csv"', "csv: 's3://shop/sales.csv', storage: lake")
    (folder / "p.yaml").write_text(text)

    def options(profile):
        plan = loaded(folder, profile).plan(files=False)
        return dict(plan.sources["sales"].dataset.path.storage.options)

    assert options(None) == {"region": "eu-central-1"}
    assert options("prod") == {"region": "us-east-1", "skip_signature": "true"}


def test_the_environment_names_a_profile_for_pipelines_that_have_some(folder, monkeypatch):
    monkeypatch.setenv("GPUETL_PROFILE", "dev")
    assert regions(loaded(folder)) == ["US"]
    assert regions(loaded(folder, "prod")) == ["EU", "US", "AS"]
    (folder / "p.yaml").write_text(TEXT[: TEXT.index("profiles:")] + TEXT[TEXT.index("sources:") :])
    assert regions(loaded(folder)) == ["EU", "US", "AS"]


def test_an_unknown_profile_is_an_error(folder, monkeypatch):
    with pytest.raises(InvalidPipeline) as caught:
        loaded(folder, "pord")
    assert str(caught.value) == "unknown profile 'pord'\nProfiles: dev, prod. Did you mean 'prod'?"
    monkeypatch.setenv("GPUETL_PROFILE", "test")
    with pytest.raises(InvalidPipeline, match=r"unknown profile 'test' \(of GPUETL_PROFILE\)"):
        loaded(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{least: 2,", "{lest: 2,", "p.yaml:14:14: profile 'dev': unknown parameter 'lest'"),
        ("{least: 2,", "{least: x,", "p.yaml:14:21: profile 'dev': parameter 'least': 'x' is not a valid int64"),
        ("memory: 2GB", "memory: much", "p.yaml:12:13: profile 'dev': memory: takes a size such as 8GB"),
        ("workers: 3", "worker: 3", "p.yaml:17:5: profile 'prod': unknown key 'worker'"),
        ("workers: 3", "workers: 0", "p.yaml:17:14: profile 'prod': workers: takes a whole number from 1, got 0"),
        (
            "region: us-east-1",
            "regoin: us-east-1",
            "p.yaml:20:14: profile 'prod', storage 'lake': unknown option 'regoin'",
        ),
    ],
)
def test_all_profiles_are_checked_whichever_is_chosen(folder, old, new, message):
    (folder / "p.yaml").write_text(TEXT.replace(old, new))
    with pytest.raises(InvalidPipeline) as caught:
        loaded(folder).plan()
    assert str(caught.value).replace(f"{folder}/", "").startswith(message)


def test_profiles_are_written_and_read_again(folder):
    pipeline = loaded(folder)
    assert ge.loads(pipeline.to_yaml(), folder).spec == pipeline.spec


def test_commands_take_a_profile(folder):
    done = gpuetl("run", folder / "p.yaml", "--profile", "dev")
    assert "engine: pandas" in done.output
    assert (folder / "out.csv").read_text() == '"region","x"\n"US",2\n'
    assert gpuetl("validate", folder / "p.yaml", "--profile", "prd").stderr == (
        "unknown profile 'prd'  [GE1030]\nProfiles: dev, prod. Did you mean 'prod'?\n"
    ).replace("  [GE1030]", "")


# --params-file


def test_a_file_has_values_with_their_types(folder):
    (folder / "v.yaml").write_text("least: 1\nregions: [AS, EU]\nshare: 0.123456789012345678\n")
    done = gpuetl("run", folder / "p.yaml", "--engine", "pandas", "-q", "--params-file", folder / "v.yaml")
    assert (done.exit_code, (folder / "out.csv").read_text()) == (0, '"region","x"\n"EU",1\n"AS",3\n')
    (folder / "p.yaml").write_text(
        TEXT.replace("- filter: x >= $least AND region IN $regions", "- select: {y: $share}")
    )
    gpuetl("run", folder / "p.yaml", "--engine", "pandas", "-q", "--params-file", folder / "v.yaml")
    assert Decimal((folder / "out.csv").read_text().split("\n")[1]) == Decimal("0.123456789012345678")


def test_p_comes_before_a_file_and_a_later_file_before_an_earlier_one(folder):
    (folder / "a.yaml").write_text("least: 1\nregions: [EU]\n")
    (folder / "b.json").write_text('{"regions": ["US", "AS"]}')
    files = ("--params-file", folder / "a.yaml", "--params-file", folder / "b.json")
    gpuetl("run", folder / "p.yaml", "--engine", "pandas", "-q", *files, "-p", "least=3")
    assert (folder / "out.csv").read_text() == '"region","x"\n"AS",3\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("leest: 1\n", "v.yaml:1:8: unknown parameter 'leest'"),
        ("least: 1\nregions: EU\n", "v.yaml:2:10: parameter 'regions': 'EU' is not a valid list<string>"),
        ("- least\n", "v.yaml:1:1: values of parameters are a map of names to values, got a list"),
        ("least: [\n", "v.yaml:1:8: the file ends in the middle of a list or map"),
        (None, "cannot read v.yaml: No such file or directory"),
    ],
)
def test_a_wrong_file_is_an_error_at_its_place(folder, text, message, monkeypatch):
    monkeypatch.chdir(folder)
    if text is not None:
        (folder / "v.yaml").write_text(text)
    done = gpuetl("run", "p.yaml", "--engine", "pandas", "-q", "--params-file", "v.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(message)


# .env


def test_variables_of_a_file_are_read_and_the_environment_comes_first(folder, monkeypatch):
    (folder / ".env").write_text("DATA_FOLDER=other\n")
    (folder / "other").mkdir()
    (folder / "other/sales.csv").write_text("region,x\nEU,7\n")
    monkeypatch.delenv("DATA_FOLDER", raising=False)
    assert regions(loaded(folder)) == ["EU"]
    assert "DATA_FOLDER" not in os.environ
    monkeypatch.setenv("DATA_FOLDER", "data")
    assert regions(loaded(folder)) == ["EU", "US", "AS"]


def test_options_of_stores_take_variables_of_the_file_and_no_message_shows_them(folder, monkeypatch):
    monkeypatch.delenv("SECRET", raising=False)
    (folder / ".env").write_text("SECRET=hunter2hunter2\n")
    lake = "lake: {region: eu-central-1, secret_access_key: {env: SECRET}, access_key_id: x}"
    source = "parquet: 's3://shop/sales', storage: lake, schema: {hunter2hunter2: string}"
    text = TEXT.replace("lake: {region: eu-central-1}", lake).replace(
        'csv: "${env.DATA_FOLDER:-data}/sales.csv", schema: {region: string, x: int64}', source
    )
    (folder / "p.yaml").write_text(text)
    plan = loaded(folder).plan
    with pytest.raises(InvalidPipeline) as caught:
        plan(files=False)
    assert "hunter2hunter2" not in str(caught.value)
    assert "unknown column 'x'" in str(caught.value)


def test_a_profile_may_be_named_there(folder):
    (folder / ".env").write_text("GPUETL_PROFILE=dev\n")
    assert regions(loaded(folder)) == ["US"]


def test_a_sandbox_does_not_read_the_file(folder):
    (folder / ".env").write_text("this is no variable\n")
    with in_sandbox(folder):
        loaded(folder)
    with pytest.raises(InvalidPipeline, match=r"\.env:1: is not NAME=value"):
        loaded(folder)


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("A=1\n\n# no\n  B = two words # rest\nexport C=c#d\n", {"A": "1", "B": "two words", "C": "c#d"}),
        ('A=\'$x # y\'\nB="a\\nb \\"q\\" \\$"  # c\n', {"A": "$x # y", "B": 'a\nb "q" $'}),
        ("\ufeffA=\nB=''\n".lstrip("\ufeff"), {"A": "", "B": ""}),
        ("A=x=y\r\nB=1\r\n", {"A": "x=y", "B": "1"}),
    ],
)
def test_lines_are_read(text, variables):
    assert read_variables(text, ".env") == variables


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A=1\nsecret words\n", ".env:2: is not NAME=value"),
        ("A='secret\n", ".env:1: the quotes of A do not end the line"),
        ("A='secret' b\n", ".env:1: the quotes of A do not end the line"),
        ("A=1\nA=2\n", ".env:2: sets A a second time"),
        ("A-B=1\n", ".env:1: is not NAME=value"),
    ],
)
def test_other_lines_are_errors_that_do_not_show_them(text, message):
    with pytest.raises(InvalidPipeline) as caught:
        read_variables(text, ".env")
    assert str(caught.value).startswith(message)
    assert "secret" not in str(caught.value)


def test_the_command_reads_all_of_them(folder):
    """As a process of its own, whose environment is that of the tests."""
    (folder / ".env").write_text("DATA_FOLDER=data\nGPUETL_PROFILE=dev\n")
    (folder / "v.yaml").write_text("least: 3\n")
    command = [sys.executable, "-m", "gpuetl", "run", "p.yaml", "-q", "--params-file", "v.yaml", "-p", "regions=[AS]"]
    subprocess.run(command, cwd=folder, check=True)
    assert (folder / "out.csv").read_text() == '"region","x"\n"AS",3\n'
