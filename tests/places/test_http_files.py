"""Files of HTTP servers: with and without ranges, ETags, HEAD and lengths; redirects and refusals."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clusters import needs_this_process
from gpuetl import InvalidPipeline, RunFailed, expr
from gpuetl.formats.dataset import Dataset
from gpuetl.places.file_state import DatasetError
from gpuetl.places.objects import clients
from gpuetl.places.open_file import opened
from gpuetl.places.registry import path_of
from messages import without_place
from servers.http_files import http_files, write_certificate
from servers.processes import free_port

ROWS = pa.table({"x": [1, 2, 3, 4], "s": ["a", None, "c, d", "e"]}, pa.schema({"x": pa.int64(), "s": pa.string()}))
TYPES = {"x": "int64", "s": "string"}
NAME = "a b=ü%.csv"
URL = "a%20b=%C3%BC%25.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def host(folder, tmp_path_factory):
    with http_files(folder, tmp_path_factory.mktemp("log") / "http.log") as host:
        yield host


@pytest.fixture(autouse=True)
def files(folder):
    """Written anew for each test, with another time."""
    for old in folder.iterdir():
        old.unlink()
    (folder / NAME).write_bytes(b'x,s\n1,a\n2,\n3,"c, d"\n4,e\n')
    pq.write_table(ROWS, folder / "a.parquet", row_group_size=1)
    (folder / "empty.csv").write_bytes(b"")


def read(pipeline, url):
    name = pipeline.unused_name("t")
    source = pipeline.read_parquet if url.endswith(".parquet") else pipeline.read_csv
    return source(name, url, schema=dict(TYPES))


@pytest.mark.part(2)
@pytest.mark.parametrize("name", ["a.parquet", URL])
@pytest.mark.parametrize("kind", ["plain", "no-ranges", "no-state", "bare", "weak", "no-head", "no-length", "moved"])
def test_files_are_read_from_any_server(pipeline, host, check, engine, kind, name):
    check(read(pipeline, f"http://{host}/{kind}/{name}").select("x", "s"), ROWS)


@pytest.mark.parametrize("kind", ["plain", "no-ranges", "bare"])
def test_large_files_are_read_in_ranges_or_whole(pipeline, host, folder, kind):
    rows = pa.table({"x": pa.array(range(200_000), pa.int64())})
    pq.write_table(rows, folder / "large.parquet", row_group_size=50_000, compression="none")
    pipeline.read_parquet("t", f"http://{host}/{kind}/large.parquet").aggregate(n=expr("sum(x)")).stage("sum")
    result = pipeline.run(engine="pandas", keep=["sum"])
    assert result["sum"].to_arrow().to_pylist() == [{"n": 19_999_900_000}]
    note = f"http://{host}/{kind}/large.parquet was read whole: its server sends no ranges of files"
    assert (note in result.report.notes) == (kind != "plain")


def test_files_are_read_encrypted(pipeline, folder, tmp_path, monkeypatch, check, engine, layout):
    needs_this_process(engine, "environment")
    certificate = tmp_path / "certificate.pem"
    write_certificate(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with http_files(folder, tmp_path / "https.log", certificate) as host:
        check(read(pipeline, f"https://{host}/plain/a.parquet").select("x", "s"), ROWS)


def problem_of(pipeline, url):
    read(pipeline, url).stage("rows")
    with pytest.raises((InvalidPipeline, RunFailed)) as caught:
        pipeline.run(engine="pandas", keep=["rows"])
    return without_place(str(caught.value))


REFUSALS = {
    "private/a.csv": "cannot look at {}: the store asks for credentials.  Set them in the environment, or in storage_options",
    "forbidden/a.csv": "cannot look at {}: access is denied.  Check the credentials and the rights of their user",
    "plain/none.csv": "{} does not exist",
    "moved/none.csv": "{} does not exist",
    "plain/*.csv": "{} is a glob, and HTTP servers have no lists of files",
    "no-head/empty.csv": "{}: empty; a CSV file begins with a line of column names",
    "endless/a.csv": "cannot look at {}: the server does not report the length of the file (Content-Length).  Download it and read the copy",
}


@pytest.mark.parametrize("path", REFUSALS)
def test_what_cannot_be_read_is_named(pipeline, host, folder, path):
    (folder / "a.csv").write_bytes(b"x,s\n1,a\n")
    url = f"http://{host}/{path}"
    assert REFUSALS[path].format(url) in problem_of(pipeline, url)


def test_a_host_that_is_not_there_is_named(pipeline, monkeypatch):
    monkeypatch.setitem(clients.RETRIES, "max_retries", 0)
    url = f"http://127.0.0.1:{free_port()}/a.csv"
    assert f"cannot look at {url}: the host refuses the connection.  Check the endpoint" in problem_of(pipeline, url)


@pytest.mark.parametrize("kind", ["plain", "no-ranges", "no-state", "bare", "weak", "no-head", "no-length"])
def test_a_file_that_changed_since_the_plan_ends_the_run(pipeline, host, folder, kind):
    (folder / "a.csv").write_bytes(b"x,s\n1,a\n")
    dataset = Dataset("t", "csv", path_of(f"http://{host}/{kind}/a.csv", pipeline.root))
    path, state = dataset.files[0].path, dataset.files[0].state
    (folder / "a.csv").write_bytes(b"x,s\n1,a\n2,b\n")
    with pytest.raises(DatasetError, match="changed during the run"), opened(path, state) as file:
        file.read_bytes()
