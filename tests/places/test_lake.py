"""`pipelines/lake.yaml` on a loopback S3 server: the same files as on local disk, on every engine."""

import io
from datetime import date
from pathlib import Path

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from clusters import needs_this_process
from gpuetl.options import RunOptions

ROOT = Path(__file__).parents[2]
LAKE = ROOT / "data/lake"
FILES = sorted(path for folder in ("orders", "lines") for path in (LAKE / folder).iterdir())


@pytest.fixture
def lake(s3, s3_environment, bucket_name):
    """The files of the shop in a bucket, which gives its path."""
    for path in FILES:
        obstore.put(s3, f"shop/{path.relative_to(LAKE)}", path.read_bytes())
    return f"s3://{bucket_name}"


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The files that a run on local disk writes, by their paths, without the run's id."""
    out = tmp_path_factory.mktemp("lake")
    run(engine="pandas", lake=str(LAKE), out=str(out))
    found = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.parquet")}
    return by_place(found)


def run(engine, lake, out, **options):
    pipeline = ge.load(ROOT / "pipelines/lake.yaml")
    return pipeline.run({"lake": lake, "out": out}, engine=engine, options=RunOptions(**options))


def by_place(files):
    """Return the rows of the files in each folder, and of the file beside them, in the order of the files' names."""
    places = {}
    for name in sorted(files):
        place = name.rpartition("/")[0] or name
        places.setdefault(place, []).append(pq.read_table(io.BytesIO(files[name])))
    return {place: pa.concat_tables(tables) for place, tables in places.items()}


def test_the_orders_are_those_that_the_script_makes(tmp_path):
    """So the folder can be made anew."""
    names = {}
    exec(compile((LAKE / "make.py").read_text(), "make.py", "exec"), names)
    names["main"](tmp_path)
    assert {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*.*")} == {
        str(path.relative_to(LAKE)): path.read_bytes() for path in FILES
    }


def test_a_run_on_local_disk(local):
    assert [place for place in local if "=" in place] == [f"items/day=2026-01-0{day}" for day in range(1, 8)]
    sales = local["sales.parquet"]
    assert sales.num_rows == 35
    assert sales.slice(0, 2).to_pylist() == [
        {"day": date(2026, 1, 1), "country": "AT", "items": 38, "cents": 322130, "customers": 9},
        {"day": date(2026, 1, 1), "country": "DE", "items": 53, "cents": 584710, "customers": 11},
    ]
    assert local["items/day=2026-01-01"].column_names == [
        "order_id", "country", "city", "customer_id", "sku", "quantity", "cents",
    ]  # fmt: skip


@pytest.mark.part(5)
@pytest.mark.parametrize("options", [{}, {"partition_rows": 40}], ids=["one partition", "40 rows a partition"])
def test_a_run_on_an_object_store_writes_the_same(lake, s3, local, engine, options):
    """Twice: the second run replaces what the first one wrote."""
    needs_this_process(engine, "environment")
    for _ in range(2):
        report = run(engine, f"{lake}/shop", f"{lake}/sales", **options).report
        assert {sink.path for sink in report.sinks} == {f"{lake}/sales/items", f"{lake}/sales/sales.parquet"}
    keys = [one["path"] for one in obstore.list(s3, "sales").collect()]
    files = {key.removeprefix("sales/"): bytes(obstore.get(s3, key).bytes()) for key in keys if "/." not in key}
    found = by_place(files)
    assert found == local
