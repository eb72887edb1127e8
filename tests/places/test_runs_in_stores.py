"""Manifests of runs in object stores: pipelines there, and pipelines here whose state is there."""

import json

import obstore
import pyarrow as pa
import pyarrow.parquet as pq

from command import gpuetl

TEXT = """\
gpuetl: 1
name: small
sources: {{rows: {{csv: {rows}, schema: {{x: int64}}}}}}
sinks: {{out: {{from: rows, parquet: {out}, mode: overwrite}}}}
"""


def test_a_pipeline_in_a_store_has_its_runs_there(s3, s3_environment, bucket_name):
    obstore.put(s3, "rows.csv", b"x\n1\n2\n")
    obstore.put(s3, "p.yaml", TEXT.format(rows="rows.csv", out="out.parquet").encode())
    file = f"s3://{bucket_name}/p.yaml"
    done = gpuetl("run", file, "--engine", "pandas", "--json")
    assert done.exit_code == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["manifest"] == f"s3://{bucket_name}/.gpuetl/p/runs/{data['run_id']}.json"
    assert json.loads(bytes(obstore.get(s3, f".gpuetl/p/runs/{data['run_id']}.json").bytes())) == data
    (source,) = data["inputs"]
    assert source["first"][0]["e_tag"]
    listed = gpuetl("runs", file)
    assert f"small: 1 run in s3://{bucket_name}/.gpuetl/p" in listed.stdout
    assert "status:     done, exit code 0" in gpuetl("runs", file, "last").stdout
    names = [one["path"] for page in obstore.list(s3, ".gpuetl/") for one in page]
    assert names == [f".gpuetl/p/runs/{data['run_id']}.json"]


def test_a_pipeline_here_may_have_its_state_in_a_store(s3, s3_environment, bucket_name, tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "rows.parquet")
    text = TEXT.format(rows="rows.csv", out="out.parquet") + f"state: s3://{bucket_name}/memory\n"
    (tmp_path / "rows.csv").write_text("x\n1\n")
    (tmp_path / "p.yaml").write_text(text)
    assert gpuetl("run", tmp_path / "p.yaml", "--engine", "pandas").exit_code == 0
    (tmp_path / "rows.csv").write_text("x\none\n")
    assert gpuetl("run", tmp_path / "p.yaml", "--engine", "pandas").exit_code == 1
    runs = json.loads(gpuetl("runs", tmp_path / "p.yaml", "--json").stdout)["pipelines"][0]["runs"]
    assert [one["status"] for one in runs] == ["failed", "done"]
    assert not (tmp_path / ".gpuetl").exists()


def test_a_store_that_is_not_there_is_a_warning(s3_environment, tmp_path):
    (tmp_path / "rows.csv").write_text("x\n1\n")
    (tmp_path / "p.yaml").write_text(TEXT.format(rows="rows.csv", out="out.parquet") + "state: s3://no-such-bucket/x\n")
    done = gpuetl("run", tmp_path / "p.yaml", "--engine", "pandas")
    assert done.exit_code == 0, done.stderr
    assert "the run leaves no manifest: cannot write to the state folder s3://no-such-bucket/x" in done.output
    listed = gpuetl("runs", tmp_path / "p.yaml")
    assert listed.exit_code == 1
    assert "cannot read the runs in s3://no-such-bucket/x" in listed.stderr
