"""Options of object stores in pipelines: on every engine, with nothing in the environment, and never shown."""

import io
import os

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import col

ROWS = pa.table({"x": pa.array([1, 2, 3, 4], pa.int64()), "s": ["a", None, "c", "d"]})
SECRET = "very-secret-key-of-the-lake"
TOKEN = "token-that-nobody-sees"


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)


@pytest.fixture
def options(s3_endpoint):
    return {
        "endpoint_url": s3_endpoint,
        "aws_region": "us-east-1",
        "access_key_id": "gpuetl-key-id-of-the-lake",
        "secret_access_key": SECRET,
        "session_token": TOKEN,
    }


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


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_rows_are_read_and_written_by_options_alone(lake, s3, options, pipeline, engine, form):
    rows = source(pipeline, form, f"{lake}/in/{form}", storage_options=options).filter(col("x") > 1)
    rows.stage("rows").write_parquet("out", f"{lake}/out/{form}", mode="overwrite", storage_options=options)
    done = pipeline.run(engine=engine, keep="rows")
    assert sorted(done["rows"].to_arrow()["x"].to_pylist()) == [2, 3, 4]
    written = [one["path"] for one in obstore.list(s3, f"out/{form}").collect() if one["path"].endswith(".parquet")]
    found = [pq.read_table(io.BytesIO(bytes(obstore.get(s3, path).bytes()))) for path in written]
    assert sorted(pa.concat_tables(found)["x"].to_pylist()) == [2, 3, 4]
