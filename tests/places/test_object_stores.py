"""Sources and sinks on object stores: the same rows as on local disk, on every engine and every server."""

import io

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clusters import needs_this_process
from gpuetl import Pipeline, RunFailed
from gpuetl.formats.dataset import Dataset
from gpuetl.places.file_state import DatasetError
from gpuetl.places.objects.ranges import Range, requests_of
from gpuetl.places.open_file import opened
from gpuetl.places.registry import filesystem_of, path_of

ROWS = pa.table({"x": [1, 2, 3, 4], "s": ["a", None, "c, d", "e"]}, pa.schema({"x": pa.int64(), "s": pa.string()}))


def put_table(store, key, table, **options):
    written = io.BytesIO()
    pq.write_table(table, written, **options)
    obstore.put(store, key, written.getvalue())


@pytest.fixture
def lake(store, store_server, store_bucket):
    for number, rows in enumerate([ROWS.slice(0, 2), ROWS.slice(2)]):
        put_table(store, f"in/parquet/day={number}/a.parquet", rows, row_group_size=1)
    obstore.put(store, "in/csv/day=0/a.csv", b"x,s\n1,a\n2,\n")
    obstore.put(store, "in/csv/day=1/a.csv", b'x,s\n3,"c, d"\n4,e\n')
    obstore.put(store, "in/csv/_SUCCESS", b"")
    return f"{store_server.scheme}://{store_bucket}"


TYPES = {"x": "int64", "s": "string"}
SOURCES = {
    "a folder": "in/{0}",
    "a partition": "in/{0}/day=1",
    "a glob": "in/{0}/*/*.{0}",
    "any depth": "in/**/*.{0}",
    "one object": "in/{0}/day=0/a.{0}",
}
EXPECTED = {"a partition": [3, 4], "one object": [1, 2]}


@pytest.mark.part(12)
@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("named", SOURCES)
def test_objects_are_read(lake, pipeline, check, engine, form, named):
    needs_this_process(engine, "environment")
    wanted = EXPECTED.get(named, [1, 2, 3, 4])
    expected = ROWS.filter(pa.array([x in wanted for x in range(1, 5)]))
    check(source(pipeline, form, f"{lake}/{SOURCES[named].format(form)}").select("x", "s"), expected)


def source(pipeline, form, path, **keys):
    read = pipeline.read_parquet if form == "parquet" else pipeline.read_csv
    return read("t", path, schema=dict(TYPES), **keys)


@pytest.mark.part(12)
@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("mode", ["overwrite", "append", "replace_partitions"])
def test_sinks_are_written(lake, store, store_server, pipeline, engine, form, mode):
    """Twice, and read back by the next run."""
    needs_this_process(engine, "environment")
    if mode == "replace_partitions" and store_server.name == "s3rver":
        pytest.skip("s3rver does not find the source of a copy whose key has '='")
    steps = source(pipeline, "parquet", f"{lake}/in/parquet")
    write = steps.write_parquet if form == "parquet" else steps.write_csv
    keys = {"partition_by": ["x"]} if mode == "replace_partitions" else {}
    write("out", f"{lake}/out/rows", mode=mode, **keys)
    for _ in range(2):
        pipeline.run(engine=engine)
    again = Pipeline("again", root=pipeline.root)
    read = again.read_parquet if form == "parquet" else again.read_csv
    types = {"schema": {"s": "string"}, "partitions": {"x": "int64"}} if keys else {"schema": dict(TYPES)}
    read("t", f"{lake}/out/rows", **types).select("x", "s").sort("x").stage("rows")
    found = again.run(engine=engine, keep=["rows"])["rows"].to_arrow()
    assert found.column("x").to_pylist() == ([1, 1, 2, 2, 3, 3, 4, 4] if mode == "append" else [1, 2, 3, 4])
    assert [one["path"] for one in obstore.list(store, "out/.gpuetl-runs").collect()] == []


def test_one_object_is_replaced(lake, store, pipeline, engine):
    needs_this_process(engine, "environment")
    rows = source(pipeline, "parquet", f"{lake}/in/parquet").sort("x")
    rows.write_csv("out", f"{lake}/out/rows.csv", mode="overwrite")
    for _ in range(2):
        pipeline.run(engine=engine)
        assert bytes(obstore.get(store, "out/rows.csv").bytes()) == b'"x","s"\n1,"a"\n2,\n3,"c, d"\n4,"e"\n'


def test_an_object_that_changed_since_the_plan_ends_the_run(lake, store, pipeline):
    dataset = Dataset("t", "parquet", path_of(f"{lake}/in/parquet", pipeline.root))
    path, state = dataset.files[0].path, dataset.files[0].state
    file = filesystem_of(path).open(path)
    put_table(store, "in/parquet/day=0/a.parquet", pa.concat_tables([ROWS] * 1000), compression="none")
    with pytest.raises(DatasetError, match="changed during the run: it has another ETag"):
        file.read_at(0, 10)
    with pytest.raises(DatasetError, match="changed during the run"), opened(path, state) as file:
        file.read_at(0, 10)
    obstore.delete(store, "in/parquet/day=0/a.parquet")
    with pytest.raises(DatasetError, match="was deleted or moved during the run"), opened(path, state) as file:
        file.read_at(0, 10)


def test_numbers_in_names_are_no_status_of_the_server(lake, pipeline):
    source(pipeline, "csv", f"{lake}/in/403/500.csv").stage("rows")
    with pytest.raises(RunFailed, match=r"in/403/500\.csv does not exist"):
        pipeline.run(engine="pandas")
    with pytest.raises(FileNotFoundError, match="there is no such object"):
        filesystem_of(path := path_of(f"{lake}/in/403/500.csv", pipeline.root)).open(path)


@pytest.mark.parametrize(
    ("ranges", "requests"),
    [
        ([], []),
        ([(5, 5)], []),
        ([(0, 10), (10, 20)], [(0, 20)]),
        ([(0, 10), (5, 20)], [(0, 20)]),
        ([(100, 200), (0, 10)], [(0, 10), (100, 200)]),
        ([(0, 1000), (1010, 2000)], [(0, 2000)]),
        ([(0, 1000), (1200, 2000)], [(0, 1000), (1200, 2000)]),
        ([(0, 5 << 20), (5 << 20, 10 << 20)], [(0, 5 << 20), (5 << 20, 10 << 20)]),
        ([(0, 4 << 20), (4 << 20, 8 << 20)], [(0, 8 << 20)]),
        ([(0, 20 << 20)], [(0, 6990506), (6990506, 13981013), (13981013, 20 << 20)]),
    ],
)
def test_ranges_are_read_by_few_requests_and_few_bytes_more(ranges, requests):
    found = requests_of(Range(*one) for one in ranges)
    assert [(one.start, one.end) for one in found] == requests
