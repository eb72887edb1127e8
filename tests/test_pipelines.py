"""The shipped pipelines on their real data."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from gpuetl.testing import Tolerance, assert_tables_equal

PIPELINES = Path(__file__).parents[1] / "pipelines"
STAGES = ("flown", "rotations", "carrier_months", "top_routes")


def run(name: str, **options):
    pipeline = ge.load(PIPELINES / f"{name}.yaml")
    pipeline.spec = replace(pipeline.spec, sinks={})  # what the sinks write is what the stages hold
    return pipeline.run(keep=STAGES if name == "flights" else None, options=ge.RunOptions(**options))


@pytest.fixture(scope="module")
def oracle():
    return run("flights", optimize=False)


def test_hello_gives_the_ten_busiest_routes():
    routes = run("hello")["routes"].to_arrow()
    assert routes.slice(0, 2).select(["origin", "dest", "flights"]).to_pylist() == [
        {"origin": "JFK", "dest": "LAX", "flights": 11196},
        {"origin": "LGA", "dest": "ATL", "flights": 10082},
    ]
    assert routes.num_rows == 10


def test_the_readmes_yaml_and_python_are_the_same_pipeline(tmp_path, monkeypatch):
    readme = (PIPELINES.parent / "README.md").read_text()
    yaml, python = (re.search(f"```{kind}\n(.*?)```", readme, re.DOTALL)[1] for kind in ("yaml", "python"))
    monkeypatch.chdir(PIPELINES.parent)
    names: dict[str, object] = {}
    exec(python.partition("run = p.run()")[0], names)
    built = names["p"]
    assert built.fingerprint == ge.loads(yaml, root=PIPELINES).fingerprint
    assert built.fingerprint == ge.load(PIPELINES / "hello.yaml").fingerprint


def test_a_pipeline_of_a_thousand_steps_runs(tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "one.parquet")
    table = ge.Pipeline("long", root=tmp_path).read_parquet("one", "one.parquet")
    for _ in range(500):
        table = table.with_columns(x=ge.col("x") + 1).filter(ge.col("x") > 0)
    run = table.stage("sum").pipeline.run()
    assert run["sum"].to_arrow().to_pydict() == {"x": [501]}


def test_flights_keeps_every_flight_that_took_off(oracle):
    flown = oracle["flown"].to_arrow()
    assert flown.num_rows == 328_521
    assert pc.sum(flown["distance"]).as_py() == 344_477_462


def test_great_circle_agrees_with_the_published_distance(oracle):
    flown = oracle["flown"].to_arrow()
    error = pc.abs(pc.subtract(pc.divide(flown["km"], 1.609344), pc.cast(flown["distance"], pa.float64())))
    assert pc.quantile(error, 0.99)[0].as_py() < 15  # miles


@pytest.mark.parametrize("rows", [1 << 24, 40_000])
def test_flights_is_the_same_optimized_and_in_partitions(oracle, rows):
    got = run("flights", partition_rows=rows)
    for name in STAGES[1:]:
        ordered = name != "rotations"
        assert_tables_equal(
            got[name].to_arrow(), oracle[name].to_arrow(), ordered, tolerance=Tolerance(1e-9), what=name
        )
