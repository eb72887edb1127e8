"""What paths of object stores name: hidden names, partitions, odd keys, prefixes, roots of buckets, many objects."""

import asyncio
from pathlib import Path

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, RunFailed
from gpuetl.places.file_state import DatasetError
from gpuetl.places.registry import filesystem_of, path_of
from servers.s3 import boto3_client

REFUSED = "a key has an empty part, '.', '..' or a control character, which gpuetl does not support"
CSV = b"x\n1\n"


@pytest.fixture
def bucket(store_server, store_bucket):
    """The bucket as users write it."""
    return f"{store_server.scheme}://{store_bucket}"


def put(store, *keys, data=CSV):
    for key in keys:
        obstore.put(store, key, data)


def listing(bucket, path, suffix=".csv"):
    whole = path_of(f"{bucket}/{path}", Path())
    return filesystem_of(whole).list_files(whole, suffix)


def names(paths, bucket):
    return [str(getattr(one, "path", one)).removeprefix(f"{bucket}/") for one in paths]


def test_hidden_names_are_left_out(store, bucket):
    put(store, "t/a.csv", "t/_b.csv", "t/.c.csv", "t/.d/e.csv", "t/_f/g.csv", "t/_h=1/i.csv", "t/j/k.csv", "t/l.txt")
    found = listing(bucket, "t")
    assert names(found.files, bucket) == ["t/_h=1/i.csv", "t/a.csv", "t/j/k.csv"]
    assert names(found.others, bucket) == ["t/l.txt"]
    assert found.is_folder


def test_prefixes_are_folders(store, bucket):
    """`t` names no object of `t2/`."""
    put(store, "t/a.csv", "t2/b.csv", "t.csv")
    assert names(listing(bucket, "t").files, bucket) == ["t/a.csv"]
    assert names(listing(bucket, "t/").files, bucket) == ["t/a.csv"]
    assert names(listing(bucket, "t.csv").files, bucket) == ["t.csv"]
    assert listing(bucket, "u").files == ()
    assert not listing(bucket, "u").is_folder


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("t/*.csv", ["t/a.csv"]),
        ("t/*/*.csv", ["t/j/k.csv"]),
        ("t/**/*.csv", ["t/a.csv", "t/j/k.csv", "t/j/m/n.csv"]),
        ("t/_*.csv", ["t/_b.csv"]),
        ("t/[ab].csv", ["t/a.csv"]),
        ("t/?/k.csv", ["t/j/k.csv"]),
        ("**/k.csv", ["t/j/k.csv"]),
        ("*/a.csv", ["t/a.csv"]),
        ("t/*.none", []),
    ],
)
def test_globs_match_as_local_ones(store, bucket, pattern, expected, tmp_path):
    keys = ("t/a.csv", "t/_b.csv", "t/j/k.csv", "t/j/m/n.csv", "t/.d/e.csv", "o.txt")
    put(store, *keys)
    found = listing(bucket, pattern)
    assert names(found.files, bucket) == expected
    assert found.is_glob
    for key in keys:
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(CSV)
    assert names(listing(tmp_path, pattern).files, tmp_path) == expected


def test_folders_that_a_glob_matches_are_named(store, bucket):
    put(store, "t/day=1/a.csv", "t/day=2/b.csv")
    assert names(listing(bucket, "t/day=*").folders, bucket) == ["t/day=1", "t/day=2"]


ODD = [
    "a b",
    "a%20b",
    "%",
    "100% sure",
    "ü",
    "日本",
    "a+b",
    "a&b",
    "a=b",
    "a#b",
    "a;b",
    "it's",
    'a"b',
    "a:b",
    "~",
    "(1)",
    "a,b",
    "a@b",
    "$x",
    "!",
]


@pytest.mark.part(8)
@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_read(store, bucket, name):
    put(store, f"t/{name}/{name}.csv", data=b"x\n1\n2\n")
    for path in (f"t/{name}", f"t/{name}/{name}.csv", "t", "t/*/*.csv"):
        (found,) = listing(bucket, path).files
        assert str(found.path) == f"{bucket}/t/{name}/{name}.csv"
    file = filesystem_of(found.path).open(found.path, found.state)
    assert file.read_bytes() == b"x\n1\n2\n"


def test_marks_of_folders_are_no_files(s3_server, bucket_name, s3, s3_environment):
    """Consoles of clouds make empty objects that end with a slash, which obstore cannot write."""
    bucket = f"s3://{bucket_name}"
    with boto3_client(s3_server.options) as client:
        client.put_object(Bucket=bucket_name, Key="t/", Body=b"")
        client.put_object(Bucket=bucket_name, Key="u/", Body=b"")
    put(s3, "t/a.csv")
    assert names(listing(bucket, "t").files, bucket) == ["t/a.csv"]
    assert names(listing(bucket, "").files, bucket) == ["t/a.csv"]
    assert listing(bucket, "u").files == listing(bucket, "u").others == ()
    assert listing(bucket, "t").others == ()


@pytest.mark.parametrize("key", ["t//b.csv", "t/./b.csv", "t/../b.csv"])
def test_keys_that_are_no_paths_are_refused(s3_server, bucket_name, s3, s3_environment, key):
    with boto3_client(s3_server.options) as client:
        client.put_object(Bucket=bucket_name, Key=key, Body=CSV)
    put(s3, "t/a.csv")
    with pytest.raises(DatasetError) as caught:
        listing(f"s3://{bucket_name}", "t")
    assert str(caught.value) == f"cannot list s3://{bucket_name}/t: {REFUSED}: {key}"


def test_more_objects_than_a_page(store, store_server, bucket):
    if store_server.name == "s3rver":
        pytest.skip("s3rver answers the request for a second page with 500")

    async def put_all():
        await asyncio.gather(*(obstore.put_async(store, f"t/{number:03}.csv", CSV) for number in range(203)))

    asyncio.run(put_all())
    found = listing(bucket, "t")
    assert len(found.files) == 203
    assert names(found.files[-1:], bucket) == ["t/202.csv"]
    assert len(listing(bucket, "t/1*.csv").files) == 100


def test_the_root_of_a_bucket_is_a_source_and_no_sink(store, bucket, tmp_path):
    put(store, "a.csv", "t/b.csv", ".hidden/c.csv")
    pipeline = Pipeline("test", root=tmp_path)
    pipeline.read_csv("t", bucket, schema={"x": "int64"}).stage("rows")
    assert pipeline.run(engine="pandas", keep=["rows"])["rows"].to_arrow().to_pydict() == {"x": [1, 1]}
    (tmp_path / "in.csv").write_bytes(CSV)
    other = Pipeline("other", root=tmp_path)
    other.read_csv("u", "in.csv", schema={"x": "int64"}).write_csv("out", bucket, mode="overwrite")
    with pytest.raises(RunFailed) as caught:
        other.run(engine="pandas")
    assert f"sink 'out': a sink cannot be a whole bucket.  Add a name: {bucket}/out" in str(caught.value)
    assert names(listing(bucket, "").files, bucket) == ["a.csv", "t/b.csv"]


VALUES = ["a b", "a/b", "ü", "%", "%2F", "a=b", None, "", ".", "..", "_x", ".y", "a+b", "日本", "a\\b", "x" * 200]


@pytest.mark.part(4)
def test_values_of_partitions_come_back(store, bucket, store_server, tmp_path):
    if store_server.name == "s3rver":
        pytest.skip("s3rver does not find the source of a copy whose key has '='")
    table = pa.table({"p": pa.array(VALUES, pa.string()), "x": range(len(VALUES))})
    pq.write_table(table, tmp_path / "in.parquet")
    for form in ("parquet", "csv"):
        pipeline = Pipeline("test", root=tmp_path)
        rows = pipeline.read_parquet("t", "in.parquet")
        write = rows.write_parquet if form == "parquet" else rows.write_csv
        write("out", f"{bucket}/out/{form}", partition_by=["p"], mode="replace_partitions")
        for _ in range(2):
            pipeline.run(engine="pandas")
        again = Pipeline("again", root=tmp_path)
        read = again.read_parquet if form == "parquet" else again.read_csv
        read("t", f"{bucket}/out/{form}", schema={"x": "int64"}, partitions={"p": "string"}).sort("x").stage("rows")
        found = again.run(engine="pandas", keep=["rows"])["rows"].to_arrow()
        assert found.select(["p", "x"]).to_pydict() == table.to_pydict()
