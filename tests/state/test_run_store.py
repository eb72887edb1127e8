"""The state folder: read and written, in the commit of the sinks or not at all, on this machine and in a store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, load, loads
from gpuetl.io.commit import commit_sinks
from gpuetl.places.paths import FilePath
from gpuetl.places.publishing import RunIdentity
from gpuetl.places.registry import path_of
from gpuetl.state.files import state_files
from gpuetl.state.pipeline_state import SCHEMA_VERSION, PipelineState, UnreadableState
from gpuetl.state.run_store import RunStore, share_a_commit
from servers.stores import StoreServer

FIRST, SECOND = "20260101T020000-0a1b2c3d", "20260102T020000-0a1b2c3d"
PIPELINE = """\
gpuetl: 1
name: daily
sources:
  sales: {csv: sales.csv, schema: {id: int64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
"""


@pytest.fixture(params=["folder", "bucket"])
def state_path(request: pytest.FixtureRequest, tmp_path: Path) -> FilePath:
    """A state folder that does not exist, on this machine and in a bucket."""
    if request.param == "folder":
        return tmp_path / "state"
    server: StoreServer = request.getfixturevalue("s3_server")
    for name, value in server.environment.items():
        request.getfixturevalue("monkeypatch").setenv(name, value)
    return path_of(f"s3://{server.new_bucket()}/state", Path())


def committed(store: RunStore, old: PipelineState, new: PipelineState) -> None:
    """Commit a new state alone."""
    staged = store.stage(old, new, RunIdentity(new.run_id))
    try:
        commit_sinks([], also=[staged])
    finally:
        staged.close()


def test_files_of_a_state_folder(state_path: FilePath, tmp_path: Path) -> None:
    files = state_files(state_path)
    assert files.names("runs") == []
    assert files.read("runs/a.json") is None
    assert files.size("runs/a.json") is None
    files.write("runs/a.json", b"first")
    files.write("runs/a.json", b"second")
    assert files.read("runs/a.json") == b"second"
    files.write("runs/b/c.json", b"new")
    (tmp_path / "local").write_bytes(b"moved")
    files.take("runs/d.arrow", tmp_path / "local")
    assert not (tmp_path / "local").exists()
    assert files.names("runs") == ["runs/a.json", "runs/b/c.json", "runs/d.arrow"]
    assert [files.size(name) for name in files.names("runs")] == [6, 3, 5]
    for name in (*files.names("runs"), "runs/never.json"):
        files.delete(name)
    assert files.names("runs") == []


def test_the_state_is_empty_before_the_first_run(state_path: FilePath) -> None:
    assert RunStore.at(state_path).read() == PipelineState()


def test_a_state_is_read_as_it_was_committed(state_path: FilePath) -> None:
    store = RunStore.at(state_path)
    new = PipelineState().after(FIRST, "2026-01-01T02:00:01+00:00", sources={"sales": {"watermark": 5, "files": []}})
    committed(store, PipelineState(), new)
    assert store.read() == new
    assert new.version == 1


def test_the_second_of_two_runs_that_began_alike_changes_nothing(state_path: FilePath) -> None:
    store = RunStore.at(state_path)
    one, other = (PipelineState().after(run, "2026-01-01T02:00:01+00:00") for run in (FIRST, SECOND))
    staged = [store.stage(PipelineState(), new, RunIdentity(new.run_id)) for new in (one, other)]
    commit_sinks([], also=staged[:1])
    with pytest.raises(RunFailed, match=f"run {FIRST} has changed the state .* since this run began"):
        commit_sinks([], also=staged[1:])
    for one_staged in staged:
        one_staged.close()
    assert store.read() == one


def test_a_state_whose_files_are_gone_is_not_committed(state_path: FilePath) -> None:
    store = RunStore.at(state_path)
    name = store.new_file("sources", "sales", FIRST)
    assert name == f"sources/sales.{FIRST}.arrow"
    new = PipelineState().after(FIRST, "2026-01-01T02:00:01+00:00", sources={"sales": {"files": [name]}})
    with pytest.raises(RunFailed, match="is gone, which this run has written"):
        committed(store, PipelineState(), new)
    store.files.write(name, b"rows")
    committed(store, PipelineState(), new)
    assert store.read().files == {name}


def test_files_that_the_state_does_not_name_are_removed(state_path: FilePath) -> None:
    store = RunStore.at(state_path)
    kept, old, later = (
        store.new_file("windows", name, run) for name, run in (("w", SECOND), ("w", FIRST), ("x", "2027"))
    )
    for name in (kept, old, later):
        store.files.write(name, b"rows")
    state = PipelineState().after(SECOND, "2026-01-02T02:00:01+00:00", windows={"w": {"files": [kept]}})
    store.remove_unnamed(state)
    assert store.files.names("windows") == sorted([kept, later])  # a run that began later may still commit


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]", b'{"schema_version": 1}', b"\xff"])
def test_a_damaged_state_is_an_error(state_path: FilePath, text: bytes) -> None:
    state_files(state_path).write("state.json", text)
    with pytest.raises(
        RunFailed, match=r"cannot use .*state\.json: it is damaged.*begin anew.*gpuetl run --full-refresh"
    ):
        RunStore.at(state_path).read()


def test_a_run_that_begins_anew_replaces_a_damaged_state_unless_another_run_has_done_so(state_path: FilePath) -> None:
    store = RunStore.at(state_path)
    store.files.write("state.json", b"{}")
    old = store.read_for("daily", begins_anew=True)
    assert (old.version, old.damaged != "") == (0, True)
    committed(store, old, old.after(FIRST, "2026-01-01T02:00:01+00:00", pipeline="daily"))
    assert (store.read_for("daily").run_id, store.read().damaged) == (FIRST, "")
    with pytest.raises(RunFailed, match="has changed the state"):
        committed(store, old, old.after(SECOND, "2026-01-02T02:00:01+00:00", pipeline="daily"))
    newer = PipelineState().to_json().replace(b'"schema_version": 1', b'"schema_version": 2')
    store.files.write("state.json", newer)
    with pytest.raises(RunFailed, match="Use the gpuetl that wrote it"):
        store.read(begins_anew=True)


def test_a_state_of_a_newer_gpuetl_is_an_error() -> None:
    text = PipelineState().to_json().replace(b'"schema_version": 1', b'"schema_version": 2')
    with pytest.raises(UnreadableState, match=f"has schema version 2, and this gpuetl reads version {SCHEMA_VERSION}"):
        PipelineState.from_json(text)


def test_targets_that_change_in_one_step() -> None:
    local, bucket = Path("out"), path_of("s3://shop/out", Path())
    assert share_a_commit([local, Path("/data/state")])
    assert share_a_commit([bucket, path_of("s3://shop/state", Path())])
    assert not share_a_commit([bucket, path_of("s3://other/state", Path())])
    assert not share_a_commit([bucket, local])


# Where the state folder is.


def test_the_default_folder_is_next_to_the_file_and_named_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id\n1\n")
    (tmp_path / "every_day.yaml").write_text(PIPELINE)
    assert load(tmp_path / "every_day.yaml").plan().state == tmp_path / ".gpuetl" / "every_day"
    assert loads(PIPELINE, tmp_path).plan().state == tmp_path / ".gpuetl" / "daily"


def test_a_state_folder_that_the_pipeline_names(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id\n1\n")
    state = "state: kept/${params.where}\nparams: {where: {type: string, default: here}}\n"
    pipeline = loads(PIPELINE + state, tmp_path)
    assert pipeline.plan().state == tmp_path / "kept/here"
    assert "state: kept/${params.where}\n" in pipeline.to_yaml()
    assert Pipeline("p", root=tmp_path, state="kept").plan().state == tmp_path / "kept"


def test_a_profile_names_another_state_folder(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id\n1\n")
    text = PIPELINE + "state: one\nprofiles: {prod: {state: other}}\n"
    assert loads(text, tmp_path).plan().state == tmp_path / "one"
    assert loads(text, tmp_path, profile="prod").plan().state == tmp_path / "other"


def test_the_storage_of_a_state_folder(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id\n1\n")
    text = PIPELINE + "state: {path: s3://shop/state, storage: lake}\nstorage: {lake: {region: eu-central-1}}\n"
    pipeline = loads(text, tmp_path)
    assert str(pipeline.plan().state) == "s3://shop/state"
    assert loads(pipeline.to_yaml(), tmp_path).spec == pipeline.spec


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("out.parquet", "the state folder .* and sink 'out' overlap"),
        ("http://host/state", "does not support the scheme 'http'"),
        ("a*", "has a '\\*', which only paths of sources have"),
        ("{storage: lake}", "the key 'path' is missing"),
        ("{path: a, folder: b}", "unknown key 'folder'"),
        ("7", "takes a name"),
    ],
)
def test_wrong_state_folders(tmp_path: Path, state: str, message: str) -> None:
    (tmp_path / "sales.csv").write_text("id\n1\n")
    with pytest.raises(InvalidPipeline, match=message):
        loads(f"{PIPELINE}state: {state}\n", tmp_path).plan()


def test_a_run_whose_state_cannot_be_staged_changes_no_sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuetl.executors import execution

    (tmp_path / "sales.csv").write_text("id\n1\n")
    store = RunStore.at(tmp_path / "state")

    def stage_state(checks: object) -> list[object]:
        old = store.read()
        return [store.stage(replace(old, version=7), old.after(FIRST, ""), RunIdentity(FIRST))]

    original = execution.Execution

    def with_state(*args: object, **keys: object) -> object:
        return replace(original(*args, **keys), stage_state=stage_state)  # type: ignore[arg-type]

    monkeypatch.setattr("gpuetl.run.pipeline_run.Execution", with_state)
    with pytest.raises(RunFailed, match="has changed the state"):
        loads(PIPELINE, tmp_path).run(engine="pandas")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sales.csv"]


def test_a_file_is_written_to_a_folder_that_others_remove(tmp_path: Path) -> None:
    files = state_files(tmp_path / "state")

    def write_and_delete(number: int) -> None:
        for turn in range(50):
            files.write(f"checkpoints/{number}-{turn}", b"x")
            files.delete(f"checkpoints/{number}-{turn}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write_and_delete, range(4)))


# Two pipelines do not take each other's state for theirs.


INCREMENTAL = PIPELINE.replace("{id: int64}}", "{id: int64}, incremental: {new_files: true}}")


def test_files_whose_names_begin_alike_have_folders_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id\n1\n")
    for version in ("v1", "v2"):
        (tmp_path / f"daily.{version}.yaml").write_text(INCREMENTAL.replace("out.parquet", f"{version}.parquet"))
        assert load(tmp_path / f"daily.{version}.yaml").run(engine="pandas").report.sinks[0].rows == 1


def test_the_state_of_another_pipeline_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id\n1\n")
    text = f"{INCREMENTAL}state: kept\n"
    loads(text, tmp_path).run(engine="pandas")
    other = loads(text.replace("name: daily", "name: other"), tmp_path)
    with pytest.raises(RunFailed, match=r"state\.json is the state of pipeline 'daily', and this one is 'other'"):
        other.run(engine="pandas")
    assert RunStore.at(tmp_path / "kept").read().version == 1
