"""A part of a pipeline: `--select`, `--until`, `--limit` and `--write-to`, on the command line and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions, loads
from gpuetl.run.pipeline_run import Run

PIPELINE = """\
gpuetl: 1
name: shop
sources:
  sales: {parquet: sales.parquet}
  shops: {parquet: shops.parquet}
stages:
  clean: {from: sales, steps: [{filter: amount > 1}], expect: [{rows: {min: 4}}]}
  named: {from: clean, steps: [{join: {with: shops, on: shop}}]}
  totals: {from: named, steps: [{aggregate: {by: [shop], columns: {total: sum(amount)}}}, {sort: [shop]}]}
  other: {from: shops, steps: [{filter: shop < 3}], expect: [{unique: [shop]}]}
sinks:
  clean_out: {from: clean, parquet: clean.parquet, mode: overwrite}
  totals_out: {from: totals, parquet: totals, mode: overwrite}
  other_out: {from: other, csv: other.csv, mode: overwrite}
"""
SINKS = {"clean_out", "totals_out", "other_out"}


@pytest.fixture
def shop(tmp_path: Path) -> Pipeline:
    """A pipeline of three sinks."""
    pq.write_table(pa.table({"shop": [1, 2, 3, 1, 2, 3], "amount": [1, 2, 3, 4, 5, 6]}), tmp_path / "sales.parquet")
    pq.write_table(pa.table({"shop": [1, 2, 3], "name": ["a", "b", "c"]}), tmp_path / "shops.parquet")
    (tmp_path / "shop.yaml").write_text(PIPELINE)
    return loads(PIPELINE, tmp_path, "shop.yaml")


def written(run: Run) -> set[str]:
    """Return the sinks that a run has written."""
    return {sink.name for sink in run.report.sinks}


SELECTIONS: dict[str, tuple[set[str], set[str]]] = {
    "clean": ({"clean_out"}, set()),
    "clean+": ({"clean_out", "totals_out"}, set()),
    "+clean": ({"clean_out"}, set()),
    "totals": ({"totals_out"}, set()),
    "+totals": ({"clean_out", "totals_out"}, set()),
    "named": (set(), {"named"}),
    "+named": ({"clean_out"}, {"named"}),
    "+named+": ({"clean_out", "totals_out"}, set()),
    "shops+": ({"totals_out", "other_out"}, set()),
    "shops": (set(), {"shops"}),
    "sales+": ({"clean_out", "totals_out"}, set()),
    "totals_out": ({"totals_out"}, set()),
    "+totals_out": ({"clean_out", "totals_out"}, set()),
    "clean,other": ({"clean_out", "other_out"}, set()),
}


@pytest.mark.part(2)
@pytest.mark.parametrize("words", SELECTIONS)
def test_select(shop: Pipeline, words: str, engine: str) -> None:
    sinks, kept = SELECTIONS[words]
    done = shop.run(engine=engine, select=words.split(","))
    assert (written(done), set(done.results)) == (sinks, kept)
    there = {path.stem for path in Path(str(shop.root)).iterdir()} & {"clean", "totals", "other"}
    assert there == {name.removesuffix("_out") for name in sinks}


def test_select_computes_and_checks_what_is_needed(shop: Pipeline) -> None:
    done = shop.run(engine="pandas", select="other")
    assert {stage.name for stage in done.report.stages if stage.kind in ("source", "stage")} == {"shops", "other"}
    assert [check.stage for check in done.report.checks] == ["other"]


def test_until(shop: Pipeline, engine: str) -> None:
    done = shop.run(engine=engine, until="named")
    assert (written(done), list(done.results)) == ({"clean_out"}, ["named"])
    assert done["named"].to_arrow().num_rows == 5
    assert set(shop.run(engine=engine, until="clean", write=False).results) == {"clean"}


def test_limit_reads_the_first_rows_and_writes_nothing(shop: Pipeline, engine: str, layout: RunOptions) -> None:
    done = shop.run(engine=engine, limit=2, options=layout)
    assert written(done) == set()
    assert sorted(done.results) == ["other", "totals"]
    assert done["totals"].to_arrow().to_pydict() == {"shop": [2], "total": [2]}
    assert not list(Path(str(shop.root)).glob("*.csv"))
    assert "a trial run on the first 2 rows of each source: no sink is written" in " ".join(done.report.notes)
    assert [check.on_fail for check in done.report.checks] == ["warn"]  # the number of rows is not checked


def test_limit_does_not_touch_sinks_that_are_there(shop: Pipeline) -> None:
    shop.run(engine="pandas")
    before = (Path(str(shop.root)) / "clean.parquet").read_bytes()
    shop.run(engine="pandas", limit=1)
    assert (Path(str(shop.root)) / "clean.parquet").read_bytes() == before


def test_write_to(shop: Pipeline, tmp_path: Path, engine: str) -> None:
    done = shop.run(engine=engine, limit=3, write_to=tmp_path / "trial")
    assert written(done) == SINKS
    assert sorted(path.name for path in (tmp_path / "trial").iterdir()) == [
        "clean_out.parquet",
        "other_out.csv",
        "totals_out",
    ]
    assert pq.read_table(tmp_path / "trial" / "clean_out.parquet").num_rows == 2
    shop.run(engine=engine, limit=2, write_to=tmp_path / "trial")  # replaces what it wrote
    assert pq.read_table(tmp_path / "trial" / "clean_out.parquet").num_rows == 1
    assert not (tmp_path / "clean.parquet").exists()


def test_write_to_the_place_of_a_sink(shop: Pipeline, tmp_path: Path) -> None:
    text = PIPELINE.replace("parquet: clean.parquet", "parquet: kept/clean_out.parquet")
    with pytest.raises(InvalidPipeline, match="is the path of a sink"):
        loads(text, tmp_path).run(engine="pandas", write_to=tmp_path / "kept")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": "claen"}, r"select: unknown stage, source or sink 'claen'[\s\S]*Did you mean 'clean'"),
        ({"select": "claen+"}, "unknown stage, source or sink 'claen'"),
        ({"until": "sales"}, "until: unknown stage 'sales'"),
        ({"select": "clean", "until": "clean"}, "exclude each other"),
        ({"limit": 0}, "limit takes a number of rows from 1, got 0"),
    ],
)
def test_what_is_refused(shop: Pipeline, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidPipeline, match=message):
        shop.run(engine="pandas", **options)


def test_on_the_command_line(shop: Pipeline, tmp_path: Path) -> None:
    file = str(tmp_path / "shop.yaml")
    done = gpuetl("run", file, "--engine", "pandas", "--select", "clean,other", "--select", "totals")
    assert done.exit_code == 0, done.stderr
    assert "wrote totals_out" in done.stdout
    done = gpuetl("run", file, "--engine", "pandas", "--until", "named")
    assert "first rows of named" in done.stdout
    done = gpuetl("run", file, "--engine", "pandas", "--limit", "2")
    assert "no sink is written; --write-to names a folder for them" in done.stdout
    assert gpuetl("run", file, "--limit", "0").exit_code == 2
    done = gpuetl("run", file, "--select", "claen")
    assert done.exit_code == 2
    assert "Did you mean 'clean'?" in done.stderr


def test_plan_shows_a_part(shop: Pipeline, tmp_path: Path) -> None:
    """As a run of the part would be; nothing is written."""
    file = str(tmp_path / "shop.yaml")
    done = gpuetl("plan", file, "--engine", "pandas", "--select", "other")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("a part of the pipeline: sinks other_out; stages none shown\n")
    assert "Write other_out" in done.stdout
    assert not any(name in done.stdout for name in ("totals_out", "clean_out", "sales"))
    assert shop.explain(engine="pandas", select="other") + "\n" == done.stdout
    assert "no stage has checkpoint: true, so there is nothing to resume from" in shop.explain(
        engine="pandas", resume=True
    )
    explained = shop.explain(engine="pandas", until="named", limit=2, write_to=tmp_path / "trial")
    assert explained.startswith("a trial run on the first 2 rows of each source: sinks are written to ")
    with pytest.raises(InvalidPipeline, match="unknown stage, source or sink 'claen'"):
        shop.explain(select="claen")
    done = gpuetl("plan", file, "--engine", "pandas", "--until", "named", "--rung", "end")
    assert "named" in done.stdout
    assert "totals" not in done.stdout
    done = gpuetl("plan", file, "--engine", "pandas", "--limit", "2", "--write-to", str(tmp_path / "trial"), "--json")
    (note,) = json.loads(done.stdout)["notes"]
    assert note.startswith("a trial run on the first 2 rows of each source: sinks are written to ")
    assert gpuetl("plan", file, "--select", "claen").exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sales.parquet", "shop.yaml", "shops.parquet"]


INCREMENTAL = """\
gpuetl: 1
name: shop
sources:
  sales: {parquet: sales, incremental: {new_files: true}}
stages:
  clean: {from: sales, steps: [{filter: amount > 1}], checkpoint: true}
  typed: {from: clean, steps: [{with_columns: {n: CAST(CAST(amount AS string) AS int64)}}]}
sinks:
  out: {from: typed, parquet: out, mode: append}
"""


def amounts(folder: Path) -> list[int]:
    """Return what is in the sink."""
    return sorted(
        value for file in (folder / "out").glob("*.parquet") for value in pq.read_table(file)["amount"].to_pylist()
    )


def arrives(folder: Path, name: str, *values: int) -> None:
    """Write a new file of the source."""
    (folder / "sales").mkdir(exist_ok=True)
    pq.write_table(pa.table({"amount": values}), folder / "sales" / f"{name}.parquet")


def test_a_trial_leaves_the_state_as_it_is(tmp_path: Path, engine: str) -> None:
    arrives(tmp_path, "a", 2, 3, 4)
    loads(INCREMENTAL, tmp_path).run(engine=engine)
    arrives(tmp_path, "b", 5, 6)
    for options in (
        {"limit": 1},
        {"limit": 1, "write_to": tmp_path / "trial"},
        {"write_to": tmp_path / "trial"},
        {"until": "clean"},
    ):
        done = loads(INCREMENTAL, tmp_path).run(engine=engine, **options)
        assert "1 of 2 files is new" in " ".join(done.report.notes)
    assert sorted(pq.read_table(tmp_path / "trial" / "out")["amount"].to_pylist()) == [5, 6]
    loads(INCREMENTAL, tmp_path).run(engine=engine)
    assert amounts(tmp_path) == [2, 3, 4, 5, 6]
    assert loads(INCREMENTAL, tmp_path).run(engine=engine).report.nothing_new


def test_a_failed_run_of_new_files_resumes(tmp_path: Path, engine: str) -> None:
    arrives(tmp_path, "a", 2, 3, 4)
    loads(INCREMENTAL, tmp_path).run(engine=engine)
    arrives(tmp_path, "b", 5, 6)
    with pytest.raises(RunFailed):
        loads(INCREMENTAL.replace("CAST(amount AS string)", "CAST(amount AS string) || 'x'"), tmp_path).run(
            engine=engine
        )
    done = loads(INCREMENTAL, tmp_path).run(engine=engine, resume=True)
    assert [(one.state, one.rows) for one in done.report.checkpoints] == [("reused", 2)]
    assert amounts(tmp_path) == [2, 3, 4, 5, 6]
    arrives(tmp_path, "c", 7)
    done = loads(INCREMENTAL, tmp_path).run(engine=engine, resume=True)
    assert [(one.state, one.rows) for one in done.report.checkpoints] == [("written", 1)]
    assert amounts(tmp_path) == [2, 3, 4, 5, 6, 7]
