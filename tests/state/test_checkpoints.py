"""Checkpoints: written while a run goes on, read by a run that resumes, and never in the place of other rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from threading import Thread
from time import monotonic

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpu_engine.host_machine import ON_CPU
from gpuetl import ContractBroken, Pipeline, RunFailed, RunOptions, col, load, loads
from gpuetl.executors import checkpointing
from gpuetl.executors.checkpointing import Checkpointing
from gpuetl.io.staging import SinkWriter
from gpuetl.run.checkpoints import check_writable
from gpuetl.run.pipeline_run import Run
from gpuetl.state import files
from gpuetl.state.checkpoints import Checkpoint, CheckpointStore
from gpuetl.state.files import state_files
from gpuetl.telemetry.origin import Origin
from gpuetl.testing import assert_tables_equal
from gpuetl.types.data_types import parse_type
from servers.stores import StoreServer

PIPELINE = """\
gpuetl: 1
name: daily
params:
  least: {type: int64, default: 2}
sources:
  sales: {parquet: sales.parquet}
stages:
  clean:
    from: sales
    steps: [{filter: amount >= $least}, {sort: [amount desc]}]
    expect: [{not_null: [id]}]
    checkpoint: true
  typed:
    from: clean
    steps: [{with_columns: {number: CAST(text AS int64)}}]
sinks:
  out: {from: typed, parquet: out, mode: overwrite}
"""
ROWS = {
    "id": [1, 2, 3, 4, 5, 6, 7, 8],
    "amount": [5, 1, 3, 8, 2, 9, 4, 7],
    "text": ["10", "20", "30", "40", "50", "60", "70", "x"],
}
FIXED = PIPELINE.replace("CAST(text AS int64)", "try_cast(text AS int64)")
EXPECTED = {"id": [6, 4, 8, 1, 7, 3, 5], "number": [60, 40, None, 10, 70, 30, 50]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the source's file, in row groups of 2 rows."""
    write_sales(tmp_path)
    return tmp_path


def write_sales(folder: Path, **columns: list[object]) -> None:
    """Write the source's file."""
    pq.write_table(pa.table({**ROWS, **columns}), folder / "sales.parquet", row_group_size=2)


def daily(folder: Path, text: str = FIXED) -> Pipeline:
    """Return the pipeline of a text in the folder."""
    return loads(text, folder, "daily.yaml")


def store_of(folder: Path) -> CheckpointStore:
    """Return the checkpoints of the pipeline."""
    return CheckpointStore(state_files(folder / ".gpuetl" / "daily"))


def manifest_of(folder: Path, stage: str = "clean") -> Checkpoint:
    """Return the manifest of a stage's only checkpoint."""
    (found,) = (
        one.manifest
        for one in store_of(folder).stored()
        if one.manifest and one.manifest.stage == stage and one.manifest.format
    )
    return found


def files_of(folder: Path, stage: str = "clean") -> list[Path]:
    """Return the files of a stage's only checkpoint, in the order of its rows."""
    checkpoint, store = manifest_of(folder, stage), store_of(folder)
    return [Path(str(store.files.at(f"{checkpoint.folder}/{file.name}"))) for file in checkpoint.files]


def states(run: Run) -> dict[str, str]:
    """Return what became of each stage's checkpoint."""
    return {one.stage: one.state for one in run.report.checkpoints}


def sources_read(run: Run) -> list[str]:
    """Return the sources that a run has read."""
    return [stage.name for stage in run.report.stages if stage.kind == "source"]


def output(folder: Path) -> pa.Table:
    """Return the rows of the sink, in the order of its files."""
    files = sorted((folder / "out").glob("*.parquet"))
    return pa.concat_tables(pq.read_table(file) for file in files)


def check_output(folder: Path) -> None:
    """Check the rows of the sink, and their order."""
    found = output(folder)
    assert {name: found.column(name).to_pylist() for name in EXPECTED} == EXPECTED


def test_resumes_after_a_later_stage_failed(folder: Path, engine: str, layout: RunOptions) -> None:
    with pytest.raises(RunFailed, match="CAST") as failed:
        daily(folder, PIPELINE).run(engine=engine, options=layout)
    assert [(one.stage, one.state, one.rows) for one in failed.value.report.checkpoints] == [("clean", "written", 7)]
    assert not (folder / "out").exists()
    done = daily(folder).run(engine=engine, options=layout, resume=True)
    (reused,) = done.report.checkpoints
    assert (reused.state, reused.rows, reused.run_id) == ("reused", 7, failed.value.report.run_id)
    assert reused.bytes == sum(file.stat().st_size for file in files_of(folder))
    assert sources_read(done) == []
    assert [check.verdict for check in done.report.checks] == ["passed"]
    assert any("'clean' was read from the checkpoint of run" in note for note in done.report.notes)
    check_output(folder)


def test_is_complete_where_the_commit_fails(folder: Path, engine: str) -> None:
    text = FIXED.replace("mode: overwrite", "mode: overwrite, on_empty: error").replace("from: typed,", "from: none,")
    text = text.replace("sinks:", "  none: {from: typed, steps: [{filter: id > 100}]}\nsinks:")
    with pytest.raises(RunFailed, match="got no rows"):
        daily(folder, text).run(engine=engine)
    assert states(daily(folder).run(engine=engine, resume=True)) == {"clean": "reused"}
    check_output(folder)


def test_without_resume_it_is_written_and_not_read(folder: Path, engine: str) -> None:
    first = daily(folder).run(engine=engine)
    second = daily(folder).run(engine=engine)
    assert states(first) == states(second) == {"clean": "written"}
    assert sources_read(second) == ["sales"]
    assert manifest_of(folder).run_id == second.report.run_id
    kept = list((folder / ".gpuetl").rglob("*.parquet"))
    assert sorted(kept) == sorted(files_of(folder))  # nothing of the first run is left


CHANGES: dict[str, Callable[[Path], Pipeline]] = {
    "a parameter": lambda folder: daily(folder, FIXED.replace("default: 2", "default: 3")),
    "a step of the stage": lambda folder: daily(folder, FIXED.replace("amount desc", "amount")),
    "a step above": lambda folder: daily(folder, FIXED.replace("sales.parquet}", "sales.parquet, filter: id < 8}")),
    "a rule that drops rows": lambda folder: daily(
        folder, FIXED.replace("{not_null: [id]}", "{range: {id: [1, 6]}, on_fail: drop}")
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_is_not_read_after_a_change(folder: Path, change: str) -> None:
    daily(folder).run(engine="pandas")
    changed = CHANGES[change](folder)
    done = changed.run(engine="pandas", resume=True)
    assert states(done) == {"clean": "written"}
    assert sources_read(done) == ["sales"]
    assert any("no checkpoint of 'clean' is valid" in note for note in done.report.notes)
    rows = output(folder)
    assert_tables_equal(rows, changed.run(engine="pandas", write=False)["typed"].to_arrow())


def test_is_not_read_after_a_file_changed(folder: Path, engine: str) -> None:
    daily(folder).run(engine=engine)
    write_sales(folder, amount=[50, 1, 3, 8, 2, 9, 4, 7])
    done = daily(folder).run(engine=engine, resume=True)
    assert (states(done), sources_read(done)) == ({"clean": "written"}, ["sales"])
    assert output(folder).column("amount").to_pylist() == [50, 9, 8, 7, 4, 3, 2]


def test_is_not_read_where_a_file_is_gone(folder: Path) -> None:
    daily(folder).run(engine="pandas")
    (folder / "sales.parquet").unlink()
    with pytest.raises(Exception, match="does not exist"):
        daily(folder).run(engine="pandas", resume=True)


@pytest.mark.parametrize(
    "text",
    [
        FIXED.replace("number: try_cast(text AS int64)", "number: id + 1"),
        FIXED.replace("name: daily", "name: daily\ndescription: other"),
        FIXED.replace("clean", "cleaned"),
        FIXED.replace("stages:\n", "stages:\n  other: {from: sales, steps: [{limit: 1}]}\n"),
    ],
)
def test_an_unchanged_stage_of_a_changed_pipeline_is_read(folder: Path, text: str) -> None:
    daily(folder).run(engine="pandas")
    done = daily(folder, text).run(engine="pandas", resume=True)
    assert set(states(done).values()) == {"reused"}


def test_only_what_is_needed_is_read(folder: Path) -> None:
    text = FIXED.replace("  typed:\n    from: clean\n", "  typed:\n    from: clean\n    checkpoint: true\n")
    daily(folder, text).run(engine="pandas")
    done = daily(folder, text).run(engine="pandas", resume=True)
    assert states(done) == {"typed": "reused"}
    check_output(folder)
    changed = daily(folder, text.replace("try_cast(text AS int64)", "id")).run(engine="pandas", resume=True)
    assert states(changed) == {"clean": "reused", "typed": "written"}


def damage_last_byte(path: Path) -> None:
    """Change one byte of the middle, and leave the time of change."""
    content, before = bytearray(path.read_bytes()), path.stat()
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "shorter": (lambda folder: os.truncate(files_of(folder)[0], 40), "has 40 bytes, and the manifest says"),
    "other bytes": (lambda folder: damage_last_byte(files_of(folder)[0]), "has changed since it was written"),
    "a file less": (lambda folder: files_of(folder)[0].unlink(), "does not exist"),
    "no JSON": (lambda folder: path_of_manifest(folder).write_text("{"), "not a valid manifest"),
    "empty": (lambda folder: path_of_manifest(folder).write_text(""), "not a valid manifest"),
    "another version": (lambda folder: change_manifest(folder, version=99), "version 99"),
    "another key": (lambda folder: change_manifest(folder, key="0" * 64), "another checkpoint"),
    "a key less": (lambda folder: change_manifest(folder, rows=None), ""),
}


def path_of_manifest(folder: Path) -> Path:
    """Return the path of the manifest of the stage."""
    return Path(str(store_of(folder).files.at(f"{manifest_of(folder).folder}/manifest.json")))


def change_manifest(folder: Path, **fields: object) -> None:
    """Change fields of the manifest; None takes one out."""
    path = path_of_manifest(folder)
    read = json.loads(path.read_text()) | fields
    path.write_text(json.dumps({name: value for name, value in read.items() if value is not None}))


def test_plan_shows_what_a_resumed_run_reads(folder: Path) -> None:
    (folder / "daily.yaml").write_text(FIXED)
    plan = ("plan", str(folder / "daily.yaml"), "--engine", "pandas", "--resume")
    done = gpuetl(*plan)
    assert done.exit_code == 0, done.stderr
    why = "is valid for these files, parameters and steps, so everything is computed"
    assert done.stdout.startswith(f"no checkpoint of 'clean' {why}\n")
    assert "sales" in done.stdout
    run = daily(folder).run(engine="pandas").report.run_id
    done = gpuetl(*plan)
    assert done.stdout.startswith(f"stage 'clean' is read from the checkpoint of run {run}: 7 rows, ")
    assert "sales" not in done.stdout


@pytest.mark.part(2)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_computed_again(folder: Path, damage: str) -> None:
    daily(folder).run(engine="pandas")
    make, why = DAMAGES[damage]
    make(folder)
    done = daily(folder).run(engine="pandas", resume=True)
    assert (states(done), sources_read(done)) == ({"clean": "written"}, ["sales"])
    (warning,) = done.report.warnings
    assert "stage 'clean': the checkpoint is not used, and the stage is computed again" in warning
    assert why in warning
    check_output(folder)
    assert states(daily(folder).run(engine="pandas", resume=True)) == {"clean": "reused"}


@pytest.mark.part(12)
@pytest.mark.parametrize("later", ["pandas", "dask", ON_CPU])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_checkpoint_of_one_engine_is_read_on_another(
    folder: Path, engine: str, later: str, form: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conftest import skip_where_it_cannot_run
    from gpuetl.engines.registry import engine_names

    if later not in engine_names():
        pytest.skip(f"no engine {later}")
    skip_where_it_cannot_run(later)
    if later == "dask":
        request.getfixturevalue("cluster")
    monkeypatch.setattr("gpuetl.run.checkpoints.PARQUET", form)
    daily(folder).run(engine=engine, options=RunOptions(partition_rows=2))
    assert manifest_of(folder).format == form
    done = daily(folder).run(engine=later, options=RunOptions(partition_rows=2), resume=True)
    assert (states(done), sources_read(done)) == ({"clean": "reused"}, [])
    check_output(folder)


def test_a_rule_is_checked_again_from_its_counts(folder: Path, engine: str, layout: RunOptions) -> None:
    text = FIXED.replace("{not_null: [id]}", "{range: {id: [1, 6]}}")
    for resume in (False, True):
        with pytest.raises(ContractBroken) as broken:
            daily(folder, text).run(engine=engine, options=layout, resume=resume)
        (check,) = broken.value.report.checks
        assert (check.rows, check.broken) == (7, 2)
    softer = text.replace("[1, 6]}}", "[1, 6]}, max_fraction: 0.5}")
    done = daily(folder, softer).run(engine=engine, options=layout, resume=True)
    assert (states(done), sources_read(done)) == ({"clean": "reused"}, [])


def test_rows_in_quarantine_are_kept_too(folder: Path, engine: str, layout: RunOptions) -> None:
    text = FIXED.replace("{not_null: [id]}", "{range: {id: [1, 6]}, on_fail: quarantine}")
    text += "  bad: {from: clean.rejected, parquet: bad.parquet, mode: overwrite}\n"
    first = daily(folder, text).run(engine=engine, options=layout)
    bad = pq.read_table(folder / "bad.parquet")
    second = daily(folder, text).run(engine=engine, options=layout, resume=True)
    assert states(second) == {"clean": "reused", "clean.rejected": "reused"}
    assert sources_read(second) == []
    assert_tables_equal(pq.read_table(folder / "bad.parquet"), bad)
    assert set(bad.column("_run").to_pylist()) == {first.report.run_id}


def test_a_stage_with_the_run_id_has_none(folder: Path) -> None:
    text = FIXED.replace("{sort: [amount desc]}", "{with_columns: {run: run_id()}}")
    done = daily(folder, text).run(engine="pandas")
    assert states(done) == {}
    (warning,) = done.report.warnings
    assert "stage 'clean': no checkpoint is written: stage 'clean', step 2 uses run_id()" in warning


def test_rows_in_memory(folder: Path) -> None:
    def pipeline(rows: pa.Table) -> Pipeline:
        made = Pipeline("memory", root=folder)
        made.from_frame("t", rows).filter(col("a") > 1).stage("kept", checkpoint=True)
        made.table("kept").write_parquet("out", "out", mode="overwrite")
        return made

    pipeline(pa.table({"a": [1, 2, 3]})).run(engine="pandas")
    assert states(pipeline(pa.table({"a": [1, 2, 3]})).run(engine="pandas", resume=True)) == {"kept": "reused"}
    assert states(pipeline(pa.table({"a": [1, 2, 4]})).run(engine="pandas", resume=True)) == {"kept": "written"}


def test_in_an_object_store(folder: Path, engine: str, s3_server: StoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    text = f"{FIXED}state: s3://{s3_server.new_bucket()}/state\n"
    options = RunOptions(partition_rows=2)
    with pytest.raises(RunFailed):
        daily(folder, text.replace("try_cast", "CAST")).run(engine=engine, options=options)
    done = daily(folder, text).run(engine=engine, options=options, resume=True)
    assert (states(done), sources_read(done)) == ({"clean": "reused"}, [])
    check_output(folder)


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / ".gpuetl").write_text("a file in the place of the folder")
    with pytest.raises(RunFailed, match="cannot write to the state folder") as failed:
        daily(folder).run(engine="pandas")
    assert "name another with the key state" in str(failed.value)
    assert not (folder / "out").exists()


def test_what_cannot_be_written_is_a_warning(
    folder: Path, engine: str, layout: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = SinkWriter.write_piece

    def write_piece(writer: SinkWriter, name: str, rows: object) -> object:
        if writer.target.kind == "checkpoint":
            raise writer.failed("cannot write: no space left on device")
        return original(writer, name, rows)

    monkeypatch.setattr(SinkWriter, "write_piece", write_piece)
    done = daily(folder).run(engine=engine, options=layout)
    assert states(done) == {"clean": "lost"}
    assert any(
        "the checkpoint was not written" in warning and "no space" in warning for warning in done.report.warnings
    )
    check_output(folder)
    assert not list((folder / ".gpuetl").rglob("*.parquet"))


def test_two_runs_write_the_same_checkpoint(folder: Path) -> None:
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            daily(folder, FIXED.replace("parquet: out,", f"parquet: out{number},")).run(engine="pandas")
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert states(daily(folder).run(engine="pandas", resume=True)) == {"clean": "reused"}
    check_output(folder)


def test_a_run_that_begins_while_another_does_leaves_its_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one looks whether it can write, and removes what it wrote, where the first one has just written."""
    store, origin, sync = store_of(folder), Origin("stage", "clean"), files.sync

    def sync_later(path: Path) -> None:
        if path.is_dir():  # in which the file stands
            monkeypatch.setattr(files, "sync", sync)
            check_writable(store, origin, "second")
        sync(path)

    monkeypatch.setattr(files, "sync", sync_later)
    check_writable(store, origin, "first")


def test_a_file_that_changes_during_the_run_is_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Checkpointing.check_sources

    def check_sources(written: Checkpointing, *arguments: object) -> None:
        write_sales(folder, amount=[50, 1, 3, 8, 2, 9, 4, 7])
        original(written, *arguments)

    monkeypatch.setattr(Checkpointing, "check_sources", check_sources)
    done = daily(folder).run(engine="pandas")
    assert states(done) == {"clean": "lost"}
    assert any("changed during the run" in warning for warning in done.report.warnings)


def test_a_checkpoint_waits_until_a_change_of_its_sources_would_be_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointing, "SETTLED_NS", 300_000_000)
    begun = monotonic()
    write_sales(folder)
    assert states(daily(folder).run(engine="pandas")) == {"clean": "written"}
    assert monotonic() - begun > 0.3


def test_is_written_to_the_folder_of_the_state(folder: Path) -> None:
    (folder / "daily.yaml").write_text(f"{FIXED}state: remembered\n")
    load(folder / "daily.yaml").run(engine="pandas")
    assert list((folder / "remembered" / "checkpoints").rglob("*.parquet"))


def test_yaml_and_python_are_one(folder: Path) -> None:
    assert loads(daily(folder).to_yaml(), folder).to_yaml() == daily(folder).to_yaml()
    assert "checkpoint: true" in daily(folder).to_yaml()
    made = Pipeline("made", root=folder)
    made.read_parquet("sales", "sales.parquet").limit(1).stage("first", checkpoint=True)
    assert made.spec.stages["first"].checkpoint
    assert replace(made.spec.stages["first"], checkpoint=False) != made.spec.stages["first"]


TYPES = {
    "bool": [True, False, None], "int8": [-128, 127, None], "uint64": [0, 2**64 - 1, None], "int32": [1, -1, None],
    "float32": [-0.0, float("nan"), None], "float64": [-0.0, float("nan"), float("-inf")],
    "decimal(38, 10)": [Decimal("1.5"), Decimal("-1"), None], "decimal256": [Decimal("1.5"), None, None],
    "string": ["", "ä\0", None], "binary": [b"", b"\xff\0", None], "binary(2)": [b"ab", None, b"\0\xff"],
    "date": [date(1, 1, 1), date(9999, 12, 31), None], "time": [time(0), time(23, 59, 59, 999999), None],
    "timestamp": [datetime(1677, 9, 22), datetime(9999, 12, 31, 23, 59, 59, 999999), None],
    "timestamp_ns": [1, 2**62, None], "duration": [timedelta(days=-1, microseconds=1), None, None],
    "interval": [pa.scalar((1, 2, 3), pa.month_day_nano_interval()).as_py(), None, None],
    "uuid": [b"0123456789abcdef", None, bytes(16)],
    "timestamp[UTC]": [datetime(2026, 1, 1, tzinfo=UTC), None, None],
    "timestamp[Europe/Berlin]": [datetime(2026, 1, 1, tzinfo=UTC), None, None],
    "list<int32>": [[], [1, None], None], "struct<a: int8, b: string>": [{"a": 1, "b": None}, None, {"a": None, "b": ""}],
    "map<string, int64>": [[("a", 1)], [], None], "list<struct<a: timestamp[Europe/Berlin]>>": [[{"a": None}], [], None],
}  # fmt: skip


NOT_WRITTEN = {"decimal256": pa.decimal256(76, 2), "interval": pa.month_day_nano_interval()}
"""Types that a schema cannot name."""


@pytest.mark.part(2)
@pytest.mark.parametrize("dtype", TYPES)
def test_all_types_are_kept_exactly(tmp_path: Path, engine: str, dtype: str, encoded_on_device: None) -> None:
    rows = pa.table({"v": pa.array(TYPES[dtype], NOT_WRITTEN.get(dtype) or parse_type(dtype)), "n": [1, 2, 3]})
    schema = {"v": dtype, "n": "int64"}

    def made() -> Pipeline:
        made = Pipeline("types", root=tmp_path)
        if dtype in NOT_WRITTEN:
            made.from_frame("t", rows).filter(col("n") > 0).stage("kept", checkpoint=True)
        else:
            pq.write_table(rows, tmp_path / "t.parquet")
            os.utime(tmp_path / "t.parquet", (0, 0))
            made.read_parquet("t", "t.parquet", schema=schema).filter(col("n") > 0).stage("kept", checkpoint=True)
        made.table("kept").sort("n").stage("last")
        made.table("last").write_arrow("out", "out.arrow", mode="overwrite")
        return made

    options = RunOptions(partition_rows=2)
    assert states(made().run(engine=engine, options=options)) == {"kept": "written"}
    done = made().run(engine=engine, options=options, resume=True, keep=["last"])
    assert states(done) == {"kept": "reused"}
    found = done["last"].to_arrow()
    assert found.schema == rows.schema
    assert_tables_equal(found, rows)
