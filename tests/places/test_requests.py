"""How many requests sources on object stores make, and how many bytes they ask for: no byte twice."""

import gzip
import io
import threading

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, expr
from gpuetl.places.objects.kept_reads import KeptReads
from gpuetl.places.objects.object_file import BUFFER_BYTES
from gpuetl.places.reading_ahead import AHEAD_BYTES, BATCHES_AHEAD, results_ahead
from servers.faults import Fault, faulty
from servers.s3 import KEYS, s3_server


@pytest.fixture
def proxy(s3_endpoint, s3, monkeypatch):
    """A proxy that counts the requests to the bucket behind it."""
    with faulty(s3_endpoint) as (proxy, endpoint):
        for name, value in s3_server("proxy", endpoint, KEYS).environment.items():
            monkeypatch.setenv(name, value)
        yield proxy


def parquet(rows, **options):
    written = io.BytesIO()
    table = pa.table({name: pa.array(range(rows), pa.int64()) for name in "xyz"})
    pq.write_table(table, written, compression="none", use_dictionary=False, **options)
    return written.getvalue()


def total(read, path, **keys):
    pipeline = Pipeline("p")
    getattr(pipeline, read)("t", path, **keys).aggregate(n=expr("sum(x)")).stage("s")
    return pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow().to_pylist()[0]["n"]


def test_a_small_object_is_asked_for_once(proxy, s3, bucket_name):
    for number in range(40):
        obstore.put(s3, f"in/{number:02}.parquet", parquet(10))
    assert total("read_parquet", f"s3://{bucket_name}/in") == 40 * 45
    assert proxy.requests_of(".parquet") == ["GET"] * 40
    assert total("read_parquet", f"s3://{bucket_name}/in") == 40 * 45
    assert proxy.requests_of(".parquet") == ["GET"] * 40


def test_small_objects_are_asked_for_at_the_same_time(proxy, s3, bucket_name):
    for number in range(20):
        obstore.put(s3, f"in/{number:02}.parquet", parquet(10))
    proxy.add(Fault("GET", r"\.parquet", delay_s=0.05))
    total("read_parquet", f"s3://{bucket_name}/in")
    assert proxy.most_at_once > 4


def test_column_chunks_are_asked_for_once(proxy, s3, bucket_name):
    data = parquet(400_000, row_group_size=50_000)  # 8 row groups of 3 chunks of 400 kB
    obstore.put(s3, "in/a.parquet", data)
    assert total("read_parquet", f"s3://{bucket_name}/in") == sum(range(400_000))
    chunks = pq.read_metadata(io.BytesIO(data))
    needed = sum(chunks.row_group(group).column(0).total_compressed_size for group in range(8))
    assert needed < proxy.bytes_of(".parquet") <= needed + (64 << 10)
    assert len(proxy.requests_of(".parquet")) == 1 + 8  # the end of the file, and a chunk of each row group


LINES = [f"{number},text {number}" for number in range(400_000)]
CSV = ("x,s\n" + "\n".join(LINES)).encode()
JSON = "\n".join(f'{{"x": {number}, "s": "text {number}"}}' for number in range(200_000)).encode()
TYPES = {"x": "int64", "s": "string"}


@pytest.mark.part(4)
@pytest.mark.parametrize("schema", [TYPES, "infer"], ids=["schema", "inferred"])
@pytest.mark.parametrize("form", ["plain", "gzip", "quotes"])
def test_csv_is_asked_for_once(proxy, s3, bucket_name, form, schema):
    text = {"plain": CSV, "quotes": CSV.replace(b"text", b'"te"').replace(b'"te"', b"te")}.get(form, CSV)
    data = gzip.compress(text, 0) if form == "gzip" else text
    name = "a.csv.gz" if form == "gzip" else "a.csv"
    obstore.put(s3, name, data)
    assert total("read_csv", f"s3://{bucket_name}/{name}", schema=schema) == sum(range(400_000))
    assert len(data) <= proxy.bytes_of(name) <= len(data) + 1000
    assert proxy.requests_of(name).count("GET") < 12


def test_a_csv_file_of_one_piece_is_asked_for_once(proxy, s3, bucket_name):
    data = CSV[: 2 << 20].rpartition(b"\n")[0]
    obstore.put(s3, "a.csv", data)
    total("read_csv", f"s3://{bucket_name}/a.csv", schema=TYPES)
    assert proxy.bytes_of("a.csv") == len(data)
    assert proxy.requests_of("a.csv").count("GET") == 2  # its beginning, which has the header, and the rest


def test_json_lines_are_asked_for_once(proxy, s3, bucket_name):
    obstore.put(s3, "a.jsonl", JSON)
    assert total("read_json", f"s3://{bucket_name}/a.jsonl") == sum(range(200_000))
    assert len(JSON) <= proxy.bytes_of("a.jsonl") <= len(JSON) + 1000


def test_a_changed_object_is_not_taken_from_what_was_kept(proxy, s3, bucket_name):
    for sign in (1, -1):
        rows = "\n".join(str(sign * number) for number in range(800_000))
        obstore.put(s3, "a.csv", f"x\n{rows}".encode())
        found = total("read_csv", f"s3://{bucket_name}/a.csv", schema={"x": "int64"})
        assert found == sign * sum(range(800_000))


# What is kept, and what is read ahead.


def test_kept_ranges_are_found_up_to_the_first_gap():
    reads = KeptReads(100)
    reads.keep("a", 10, b"0123456789")
    reads.keep("a", 30, b"xyz")
    reads.keep("a", 20, b"abcde")
    assert reads.find("a", 12, 14) == b"23"
    assert reads.find("a", 15, 40) == b"56789abcde"
    assert reads.find("a", 25, 40) == b""
    assert reads.find("a", 31, 40) == b"yz"
    assert reads.find("b", 10, 12) == b""
    reads.keep("a", 25, b"_____")
    assert reads.find("a", 10, 40) == b"0123456789abcde_____xyz"


def test_no_more_is_kept_than_allowed():
    reads = KeptReads(10)
    reads.keep("a", 0, b"aaaaaa")
    reads.keep("a", 6, b"bbbbbb")
    assert reads.find("a", 0, 12) == b"aaaaaa"
    reads.keep("c", 0, b"cccccc")
    assert (reads.find("a", 0, 12), reads.find("c", 0, 12)) == (b"", b"cccccc")


def test_results_come_in_order_and_errors_at_their_turn():
    def half(number):
        if number == 300:
            raise ValueError("odd")
        return number / 2

    results = results_ahead(half, range(1000), lambda _: 0)
    assert [next(results)() for _ in range(300)] == [number / 2 for number in range(300)]
    with pytest.raises(ValueError, match="odd"):
        next(results)()
    assert [result() for result in results] == [number / 2 for number in range(301, 1000)]


def test_few_bytes_are_read_ahead():
    begun, lock = list[int](), threading.Lock()

    def read(number):
        with lock:
            begun.append(number)
        return number

    results = results_ahead(read, range(100), lambda _: AHEAD_BYTES // 4)
    assert [next(results)() for _ in range(3)] == [0, 1, 2]
    assert len(begun) <= 3 + 4
    results.close()
    assert len(begun) <= 3 + 4 < BATCHES_AHEAD
    assert BUFFER_BYTES < AHEAD_BYTES
