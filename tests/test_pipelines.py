"""The shipped pipelines on their real data."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from gpuetl.testing import Tolerance, assert_tables_equal

PIPELINES = Path(__file__).parents[1] / "pipelines"
STAGES = ("flown", "flown.rejected", "rotations", "carrier_months", "top_routes")
TOUR = ("cancelled", "storm_hours", "words", "makers", "delays", "unfinished", "strained", "costs")
KEPT = {"flights": STAGES, "features": TOUR}
SPLITS = {
    "one partition": {},
    "40,000 rows a partition": {"partition_rows": 40_000},
    "40,000 rows a partition, no broadcast": {"partition_rows": 40_000, "broadcast_bytes": 0},
}


def run(name: str, engine: str = "auto", **options):
    pipeline = ge.load(PIPELINES / f"{name}.yaml")
    return pipeline.run(engine=engine, keep=KEPT.get(name), write=False, options=ge.RunOptions(**options))


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


def test_flights_keeps_every_flight_that_took_off_or_has_it_in_quarantine(oracle):
    flown, rejected = oracle["flown"].to_arrow(), oracle["flown.rejected"].to_arrow()
    assert (flown.num_rows, rejected.num_rows) == (328_517, 4)
    assert pc.sum(flown["distance"]).as_py() + pc.sum(rejected["distance"]).as_py() == 344_477_462
    assert pc.min(rejected["kmh"]).as_py() >= 1000
    assert set(rejected["_rule"].to_pylist()) <= {"plausible speed", "plausible speed, known aircraft"}


def test_flights_passes_its_own_tests():
    report = ge.load(PIPELINES / "flights.yaml").test()
    assert report.passed, report
    assert len(report.results) >= 6


def test_great_circle_agrees_with_the_published_distance(oracle):
    flown = oracle["flown"].to_arrow()
    error = pc.abs(pc.subtract(pc.divide(flown["km"], 1.609344), pc.cast(flown["distance"], pa.float64())))
    assert pc.quantile(error, 0.99)[0].as_py() < 15  # miles


@pytest.mark.part(8)
@pytest.mark.parametrize(("engine", "rows"), [("auto", 1 << 24), ("auto", 40_000), ("dask", 100_000)])
def test_flights_is_the_same_optimized_and_in_partitions(oracle, engine, rows, request):
    if engine == "dask":
        request.getfixturevalue("cluster")
    got = run("flights", engine, partition_rows=rows)
    for name in STAGES[2:]:
        ordered = name != "rotations"
        assert_tables_equal(
            got[name].to_arrow(), oracle[name].to_arrow(), ordered, tolerance=Tolerance(1e-9), what=name
        )


@pytest.fixture(scope="module", params=SPLITS.values(), ids=SPLITS)
def tour(request):
    """The stages of the tour as lists of rows, in every layout."""
    results = run("features", **request.param)
    return {name: results[name].to_arrow() for name in TOUR}


@pytest.fixture(scope="module")
def tour_as_written():
    """The stages of the tour, not optimized."""
    return run("features", optimize=False)


def values(rows: pa.Table, *names: str, first: int | None = None) -> list[tuple[object, ...]]:
    """Return the first rows as tuples of the named columns, or of all."""
    return [tuple(row.values()) for row in rows.select(names or rows.column_names).slice(0, first).to_pylist()]


def test_the_tour_is_the_same_optimized_and_in_partitions(tour, tour_as_written):
    """All its stages end in an order without ties."""
    for name in TOUR:
        expected = tour_as_written[name].to_arrow()
        assert_tables_equal(tour[name], expected, ordered=True, tolerance=Tolerance(1e-12), what=name)


def test_the_tour_counts_cancellations_that_no_storm_explains(tour):
    """An anti join on two keys, beside a source that filters itself."""
    assert values(tour["cancelled"]) == [("EWR", 3106, 11), ("JFK", 1715, 9), ("LGA", 3016, 13)]


def test_the_tour_puts_storms_and_traffic_together_on_new_york_s_clock(tour):
    """A union that fills in nulls: there are hours of rain without a flight."""
    rows = tour["storm_hours"]
    assert rows.num_rows == 153
    assert values(rows, "origin", "local", "precip", "flights", "evening", first=2) == [
        ("EWR", datetime(2013, 8, 28, 14), 1.21, 13, False),
        ("EWR", datetime(2013, 6, 2, 23), 1.06, 5, True),
    ]


def test_the_tour_takes_names_apart(tour):
    """Lists are exploded, and patterns taken out of texts."""
    assert values(tour["words"], "word", "airlines", "first_carrier", first=3) == [
        ("Inc", 11, "9E"), ("Airlines", 8, "AA"), ("Air", 4, "9E"),
    ]  # fmt: skip
    assert values(tour["makers"], first=2) == [("BOEING", 1620, 450), ("AIRBUS", 736, 379)]


def test_the_tour_ranks_carriers_by_an_exact_quantile(tour):
    """Their first and last flights go by order_by; no flight of Mesa is a far one."""
    rows = tour["delays"]
    names = ("carrier", "flights", "typical", "late", "first_dest", "last_dest", "first_far", "place", "quarter")
    assert values(rows, *names, first=2) == [
        ("YV", 545, -2.0, 79.0, "IAD", "IAD", None, 1, 1),
        ("EV", 51356, -1.0, 77.0, "IAD", "CLT", None, 2, 1),
    ]
    assert rows.column("ahead_by")[0].as_py() == 2.0
    assert rows.column("ahead_by")[-1].as_py() is None


def test_the_tour_samples_whole_aircraft(tour):
    """The same ones wherever the rows are: their flights are numbered from the first."""
    rows = tour["unfinished"]
    assert rows.num_rows == 84
    assert values(rows, "tailnum", "flight", "last_known", "flights", first=2) == [
        ("N12195", 4204, -14, 6), ("N3753", 461, -1, 15),
    ]  # fmt: skip


def test_the_tour_scans_by_an_operator_of_its_own(tour):
    """The worst days of the year: delays beyond an hour added up, beginning again from 0, by hand in a loop."""
    rows = tour["strained"]
    assert values(rows, "carrier", "origin", "worst") == [
        ("EV", "EWR", 7620), ("UA", "EWR", 5254), ("DL", "LGA", 4974), ("B6", "JFK", 4596), ("VX", "JFK", 3383),
    ]  # fmt: skip
    assert rows.column("at")[3].as_py() == datetime(2013, 7, 11, 7, 25, tzinfo=UTC)


def test_the_tour_adds_up_costs_to_the_cent(tour):
    """Miles times 0.1125, in decimals."""
    assert values(tour["costs"]) == [
        ("EWR", 119_399_506, Decimal("13432444.4250")),
        ("JFK", 124_797_929, Decimal("14039767.0125")),
        ("LGA", 56_584_479, Decimal("6365753.8875")),
    ]


def test_the_tour_is_read_back_as_it_is_written():
    """Its YAML text has every form of the language that it shows."""
    pipeline = ge.load(PIPELINES / "features.yaml")
    assert ge.loads(pipeline.to_yaml(), root=PIPELINES).fingerprint == pipeline.fingerprint
