"""What runs of incremental sources refuse, show and do side by side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command import gpuetl
from gpuetl import InvalidPipeline, RunFailed, load, loads
from gpuetl.run.incremental import source_run
from state.every_day import PIPELINE, SCHEMA, EveryDay, ids_in, rows, ts


@pytest.fixture
def daily(tmp_path: Path) -> EveryDay:
    """A pipeline over new files, after its first run."""
    found = EveryDay(tmp_path, "pandas")
    found.arrives("a", rows([1], [ts(1)]))
    found.run()
    return found


# Begin anew.


def test_a_full_refresh_would_double_rows_of_a_sink_that_appends(daily: EveryDay) -> None:
    with pytest.raises(RunFailed, match=r"sink 'all': appends to .*out/all, which has rows: --full-refresh would add"):
        daily.run(full_refresh=True)
    assert daily.state.version == 1


def test_a_full_refresh_reads_everything_and_replaces_the_state(daily: EveryDay) -> None:
    daily.arrives("b", rows([2], [ts(2)]))
    daily.run()
    (daily.folder / "out/all").rename(daily.folder / "before")
    report = daily.run(full_refresh=True)
    assert report.notes[:1] == ("source 'landing': all 2 files are new",)
    assert daily.ids == daily.latest == [1, 2]
    assert daily.state.version == 3
    (name,) = daily.state.sources["landing"]["files"]
    assert daily.store.files.names("sources") == [name]
    assert daily.run().nothing_new


def test_a_full_refresh_replaces_a_state_that_is_damaged(daily: EveryDay) -> None:
    """Other runs and `plan` say so."""
    daily.store.files.write("state.json", b'{"schema_version": 1, "sour')
    with pytest.raises(RunFailed, match=r"state\.json: it is damaged.*begin anew.*gpuetl run --full-refresh"):
        daily.run()
    (daily.folder / "out/all").rename(daily.folder / "before")
    report = daily.run(full_refresh=True)
    assert any("is damaged: this run replaces it" in note for note in report.notes)
    assert (daily.ids, daily.state.version) == ([1], 1)
    assert daily.run().nothing_new


def test_the_command_begins_anew(daily: EveryDay) -> None:
    path = daily.folder / "every_day.yaml"
    path.write_text(PIPELINE.format(format="parquet", keys="", incremental="{new_files: true}"))
    done = gpuetl("run", str(path), "--engine", "pandas", "--no-report")
    assert done.exit_code == 0
    assert "nothing new: no sink has changed" in done.stdout
    done = gpuetl("run", str(path), "--engine", "pandas", "--no-report", "--full-refresh")
    assert done.exit_code == 1
    assert "Remove the folder first, or write to another one. To replace all rows, set mode: overwrite." in done.stderr


def test_files_whose_names_differ_in_their_suffix_alone_do_not_share_a_state(daily: EveryDay) -> None:
    text = PIPELINE.format(format="parquet", keys="", incremental="{new_files: true}")
    files = [daily.folder / f"every_day.{suffix}" for suffix in ("yaml", "yml")]
    files[0].write_text(text)
    files[1].write_text("services: {}\n")  # no pipeline
    assert load(files[0]).run(engine="pandas").report.nothing_new
    files[1].write_text(text)
    message = r"this pipeline and every_day.yml have one state folder, \.gpuetl/every_day.*\n(.*\n)*.*state: \.gpuetl/every_day"
    with pytest.raises(InvalidPipeline, match=message):
        load(files[0]).run(engine="pandas")
    files[0].write_text(f"state: .gpuetl/every_day\n{text}")
    assert load(files[0]).run(engine="pandas").report.nothing_new
    files[0].write_text(text.replace("incremental: {new_files: true}", ""))
    assert load(files[0]).plan().incremental == {}


# A source that is another one now.


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("{new_files: true}", "{watermark: ts}", "it was read by new_files, and now by a watermark"),
        ("{watermark: ts}", "{new_files: true}", "it was read by a watermark, and now by new_files"),
        ("{watermark: ts}", "{watermark: id}", "watermark was ts, and is id"),
    ],
)
def test_a_state_of_another_definition(tmp_path: Path, old: str, new: str, what: str) -> None:
    daily = EveryDay(tmp_path, "pandas", incremental=old)
    daily.arrives("a", rows([1], [ts(1)]))
    daily.run()
    daily.incremental = new
    with pytest.raises(RunFailed, match=f"source 'landing': is not the one for which its state was made: {what}"):
        daily.run()
    assert daily.ids == [1]


@pytest.mark.parametrize("incremental", ["{new_files: true}", "{watermark: ts}"])
def test_another_path_and_another_name(tmp_path: Path, incremental: str) -> None:
    daily = EveryDay(tmp_path, "pandas", incremental=incremental)
    daily.arrives("a", rows([1], [ts(1)]))
    daily.run()
    text = PIPELINE.format(format="parquet", keys="", incremental=incremental)
    (tmp_path / "other").mkdir()
    (tmp_path / "landing/a.parquet").rename(tmp_path / "other/a.parquet")
    with pytest.raises(RunFailed, match="made: path was landing, and is other"):
        loads(text.replace("parquet: landing", "parquet: other"), tmp_path).run(engine="pandas")
    (tmp_path / "other/a.parquet").rename(tmp_path / "landing/a.parquet")
    with pytest.raises(RunFailed, match="has no state, and the state folder has one of source 'landing', of the same"):
        loads(text.replace("landing: {", "arriving: {").replace("from: landing", "from: arriving"), tmp_path).run(
            engine="pandas"
        )
    assert daily.ids == [1]


# Sinks that would lose or double rows.


def problem(text: str, folder: Path) -> str:
    with pytest.raises((InvalidPipeline, RunFailed)) as caught:
        loads(text, folder).run(engine="pandas")
    return str(caught.value)


def test_sinks_that_replace_rows_that_no_run_reads_again(daily: EveryDay) -> None:
    text = PIPELINE.format(format="parquet", keys="", incremental="{new_files: true}")
    keyed = text.replace("mode: append", "mode: append, run_key: day") + "params: {day: {type: date, required: true}}\n"
    with pytest.raises(InvalidPipeline, match="a second run with the same run_key would replace rows that no run"):
        loads(keyed, daily.folder).plan({"day": "2026-01-01"})
    parts = text.replace("mode: append", "mode: replace_partitions, partition_by: ts")
    (warning,) = loads(parts, daily.folder).plan().warnings
    assert "where a partition is there already, its rows are replaced by the new ones alone" in str(warning)


CSV = PIPELINE.format(format="csv", keys=SCHEMA, incremental="{new_files: true}")


@pytest.mark.parametrize(
    ("state", "sink"),
    [("s3://shop/state", "out/all"), ("state", "s3://shop/all"), ("s3://other/state", "s3://shop/all")],
)
def test_a_state_in_another_store_than_a_sink(tmp_path: Path, state: str, sink: str) -> None:
    plan = loads(f"{CSV.replace('out/all', sink)}state: {state}\n", tmp_path).plan(files=False)
    with pytest.raises(RunFailed, match="are in two stores, which do not change together"):
        source_run.refuse_sinks(plan)


def test_an_overwritten_sink_may_be_in_a_store_while_the_state_is_here(tmp_path: Path) -> None:
    text = CSV.replace("out/all", "s3://shop/all").replace("mode: append", "mode: overwrite")
    source_run.refuse_sinks(loads(text, tmp_path).plan(files=False))


def test_a_watermark_does_not_go_with_a_quarantine(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/1.csv").write_text("id\n1\n")
    text = """\
gpuetl: 1
name: rejects
sources:
  a: {csv: a, schema: {id: int64}, on_bad_row: quarantine, incremental: {watermark: id}}
sinks:
  bad: {from: a.rejected, csv: out/bad, mode: append}
"""
    assert "a watermark does not go together with on_bad_row: quarantine" in problem(text, tmp_path)


# What is shown before a run.


def test_plan_validate_and_show_tell_what_the_next_run_reads(daily: EveryDay) -> None:
    path = daily.folder / "every_day.yaml"
    path.write_text(PIPELINE.format(format="parquet", keys="", incremental="{new_files: true}"))
    daily.arrives("b", rows([2, 3], [ts(2)] * 2))
    for command, *others in (["plan", "--engine", "pandas"], ["validate"]):
        shown = gpuetl(command, str(path), *others).stdout
        assert "next run, source 'landing': 1 of 2 files is new\n" in shown
    assert "1 of 1 row groups" in gpuetl("plan", str(path), "--engine", "pandas").stdout
    assert json.loads(gpuetl("validate", str(path), "--json").stdout)["next_run"] == [
        "source 'landing': 1 of 2 files is new"
    ]
    shown = gpuetl("show", str(path), "clean", "--engine", "pandas").stdout
    assert "1 of 2 files is new" in shown
    assert daily.state.version == 1
    daily.run()
    assert daily.latest == [2, 3]


def test_validate_tells_of_a_file_that_the_next_run_refuses(daily: EveryDay) -> None:
    daily.arrives("a", rows([1, 2, 3], [ts(1)] * 3))
    with pytest.raises(InvalidPipeline, match=r"a\.parquet has changed since run"):
        daily.pipeline.validate()


def test_tables_follow_the_state(daily: EveryDay) -> None:
    pipeline = daily.pipeline
    daily.arrives("b", rows([2], [ts(2)]))
    assert pipeline.table("landing").head(5, engine="pandas").to_arrow()["id"].to_pylist() == [2]
    assert pipeline.table("landing").count(engine="pandas") == 1
    daily.run()
    assert pipeline.table("landing").head(5, engine="pandas").to_arrow()["id"].to_pylist() == []
    daily.arrives("c", rows([3], [ts(2)]))
    assert pipeline.table("landing").collect(engine="pandas").to_arrow()["id"].to_pylist() == [3]
    assert pipeline.run(engine="pandas", write=False)["clean"].to_arrow()["id"].to_pylist() == [3]
    assert daily.state.version == 2


@pytest.mark.parametrize("format_name", ["parquet", "csv"])
def test_tables_of_rows_beyond_a_watermark(tmp_path: Path, format_name: str) -> None:
    daily = EveryDay(tmp_path, "pandas", format_name, "{watermark: ts}")
    daily.arrives("a", rows([1], [ts(1)]))
    daily.run()
    daily.arrives("b", rows([2], [ts(2)]))
    assert daily.pipeline.table("clean").head(5, engine="pandas").to_arrow()["twice"].to_pylist() == [4]
    assert daily.pipeline.table("clean").count(engine="pandas") == 1


def test_the_fingerprint_does_not_change_from_day_to_day(tmp_path: Path) -> None:
    daily = EveryDay(tmp_path, "pandas", incremental="{watermark: ts}")
    found = set()
    for day in (1, 2, 3):
        daily.arrives(str(day), rows([day], [ts(day)]))
        found.add(daily.run().fingerprint)
    assert found == {daily.pipeline.fingerprint}


def test_a_report_has_what_was_read(daily: EveryDay) -> None:
    daily.arrives("b", rows([2], [ts(2)]))
    data = json.loads(json.dumps(daily.run().to_dict()))
    (read,) = data["incremental"]
    assert read["source"] == "landing"
    assert read["numbers"] == {"files": 2, "new": 1, "changed": 0}
    assert not data["nothing_new"]
    assert json.loads(json.dumps(daily.run().to_dict()))["nothing_new"]


# Runs of a part.


def test_a_run_of_a_part_reads_what_is_new_and_leaves_the_state(daily: EveryDay) -> None:
    path = daily.folder / "every_day.yaml"
    path.write_text(PIPELINE.format(format="parquet", keys="", incremental="{new_files: true}"))
    daily.arrives("b", rows([2, 3], [ts(2)] * 2))
    for options in (["--limit", "1"], ["--limit", "1", "--write-to", str(daily.folder / "trial")]):
        done = gpuetl("run", str(path), "--engine", "pandas", "--no-report", *options)
        assert done.exit_code == 0, done.output
        assert "1 of 2 files is new" in done.stdout
    assert ids_in(daily.folder / "trial") != []
    assert {*ids_in(daily.folder / "trial")} <= {2, 3}
    assert daily.state.version == 1
    assert daily.ids == [1]
    daily.run()
    assert daily.ids == [1, 2, 3]


def test_a_part_may_be_written_elsewhere(daily: EveryDay) -> None:
    path = daily.folder / "every_day.yaml"
    text = PIPELINE.format(format="parquet", keys="", incremental="{new_files: true}")
    path.write_text(text.replace("from: clean, parquet: out/latest", "from: landing, parquet: out/latest"))
    daily.arrives("b", rows([2], [ts(2)]))
    options = ["--select", "clean", "--write-to", str(daily.folder / "trial")]
    done = gpuetl("run", str(path), "--engine", "pandas", "--no-report", *options)
    assert done.exit_code == 0, done.output
    assert ids_in(daily.folder / "trial") == [2]
    assert daily.state.version == 1


# Runs at the same time.


RACE = """
import sys
from pathlib import Path
from gpuetl import errors
from gpuetl.executors import outputs
from state.every_day import EveryDay

commit = outputs.commit
def waiting(*given):
    print("ready", flush=True)
    sys.stdin.readline()
    return commit(*given)
outputs.commit = waiting
try:
    EveryDay(Path(sys.argv[1]), "pandas").run()
except errors.RunFailed as error:
    sys.exit(str(error))
"""


def test_of_two_runs_that_begin_alike_one_wins(daily: EveryDay) -> None:
    daily.arrives("b", rows([2], [ts(2)]))
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(daily.folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=Path(__file__).parents[1],
        )
        for _ in range(2)
    ]  # fmt: skip
    for run in runs:
        assert run.stdout
        assert run.stdout.readline() == "ready\n"
    ends = [run.communicate("go\n") for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 1]
    (error,) = (said for (_, said), run in zip(ends, runs, strict=True) if run.returncode)
    assert "has changed the state in" in error
    assert "No sink has changed.  Run again" in error
    assert daily.ids == [1, 2]
    assert daily.latest == [2]
    assert daily.run().nothing_new
