"""The shipped pipelines on their real data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
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
