"""Files in a sink's folder that gpuetl did not write: refused by name, or kept."""

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions
from gpuetl.io.staging import SinkWriter
from gpuetl.places.local.commit import commit_sinks, manifest
from sink_files import OF_EARLIER_VERSION, leftovers, refuse_moves, sink_files
from tables import table, write_source

TYPES = {"k": "string", "x": "int64"}
ROWS = [("a", 1), ("b", 2), ("a", 3)]
MODES = [{"mode": "overwrite"}, {"mode": "replace_partitions", "partition_by": "k"}]
IN = {"overwrite": "", "replace_partitions": "k=a/"}
"""Where files are replaced."""


def run(root: Path, rows=ROWS, engine="pandas", path="out", **keys):
    pipeline = Pipeline("p", root=root)
    write_source(pipeline, "t", table(TYPES, *rows)).write_parquet("out", path, **keys)
    return pipeline.run(engine=engine, keep=[], options=RunOptions(partition_rows=2)).report


def values(folder: Path) -> list[int]:
    files = [path for path in folder.rglob("*.parquet") if path.name.startswith("part-")]
    return sorted(x for file in files for x in pq.read_table(file, partitioning=None)["x"].to_pylist())


def add_foreign(folder: Path) -> None:
    """Write what people and tools keep in a folder: a repository, hidden files, notes, a link, an empty folder."""
    (folder / ".git/refs").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: main")
    (folder / ".env").write_text("SECRET=1")
    (folder / ".env").chmod(0o600)
    (folder / "_notes.txt").write_text("mine")
    (folder / "link").symlink_to("_notes.txt")


@pytest.mark.part(2)
@pytest.mark.parametrize("keys", MODES, ids=lambda keys: keys["mode"])
@pytest.mark.parametrize("name", [".git/HEAD", ".env", "_notes.txt", "by-hand.parquet", "part_1.parquet"])
def test_a_file_of_others_is_refused_by_name(tmp_path, engine, keys, name):
    run(tmp_path, **keys)
    place = tmp_path / "out" / IN[keys["mode"]] / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("mine")
    with pytest.raises(RunFailed) as caught:
        run(tmp_path, [("a", 9)], engine, **keys)
    told = f"/out holds 1 file that gpuetl did not write, or that changed since: {IN[keys['mode']]}{name}.  Set keep_foreign"
    assert told in str(caught.value)
    assert place.read_text() == "mine"
    assert values(tmp_path / "out") == [1, 2, 3]


def test_the_first_three_are_named_and_all_are_counted(tmp_path):
    run(tmp_path, mode="overwrite")
    for number in range(1200):
        (tmp_path / f"out/{number:04}.txt").touch()
    with pytest.raises(
        RunFailed, match=r"1,200 files .*: 0000\.txt, 0001\.txt, 0002\.txt and 1,197 more\.  Set keep_fore"
    ):
        run(tmp_path, mode="overwrite")


@pytest.mark.parametrize("keys", MODES, ids=lambda keys: keys["mode"])
def test_files_of_others_are_kept_as_they_are(tmp_path, engine, keys):
    run(tmp_path, **keys)
    folder = tmp_path / "out" / IN[keys["mode"]]
    add_foreign(folder)
    inode = (folder / ".git/HEAD").stat().st_ino
    report = run(tmp_path, [("a", 9)], engine, keep_foreign=True, **keys)
    assert not report.warnings
    assert values(tmp_path / "out") == ([9] if keys["mode"] == "overwrite" else [2, 9])
    assert (folder / ".git/HEAD").read_text() == "ref: main"
    assert (folder / ".git/HEAD").stat().st_ino == inode
    assert (folder / ".git/refs").is_dir()
    assert (folder / ".env").stat().st_mode & 0o777 == 0o600
    assert (folder / "link").readlink() == Path("_notes.txt")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    run(tmp_path, [("a", 10)], engine, keep_foreign=True, **keys)
    assert (folder / "_notes.txt").read_text() == "mine"


def test_a_kept_file_that_readers_take_for_the_sink_s_is_warned_of(tmp_path, engine):
    run(tmp_path, mode="overwrite")
    pq.write_table(table(TYPES, ("z", 7)), tmp_path / "out/by-hand.parquet")
    (warning,) = run(tmp_path, engine=engine, mode="overwrite", keep_foreign=True).warnings
    assert warning.startswith(
        f"sink 'out': kept 1 file that gpuetl did not write, and that readers of {tmp_path}/out read too: by-hand.parquet."
    )
    assert sorted(pq.read_table(tmp_path / "out")["x"].to_pylist()) == [1, 2, 3, 7]


def test_foreign_files_stay_where_a_later_move_fails(tmp_path, monkeypatch):
    run(tmp_path, mode="overwrite")
    add_foreign(tmp_path / "out")
    before = sink_files(tmp_path)

    def fails(*arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(commit_sinks.Journal, "apply", fails)
    with pytest.raises(RunFailed, match="No sink has changed"):
        run(tmp_path, mode="overwrite", keep_foreign=True)
    assert sink_files(tmp_path) == before


def listed(folder: Path) -> dict[str, int]:
    """Return what the one list of a folder names."""
    (path,) = (folder / ".gpuetl").iterdir()
    found = json.loads(path.read_text())
    assert found["run"] == path.stem
    return found["files"]


def sizes(folder: Path) -> dict[str, int]:
    return {name: (folder / name).stat().st_size for name in sink_files(folder)}


@pytest.mark.part(2)
@pytest.mark.parametrize("keys", [{"mode": "append"}, {"mode": "append", "partition_by": "k"}, *MODES], ids=str)
def test_one_list_has_all_files_of_all_runs_with_their_sizes(tmp_path, engine, keys):
    counts = []
    for rows in (ROWS, [("c", 4)], [("a", 5), ("a", 6)], []):
        run(tmp_path, rows, engine, **keys)
        assert listed(tmp_path / "out") == sizes(tmp_path / "out")
        counts.append(len(sizes(tmp_path / "out")))
    expected = {"append": [2, 3, 4, 5], "overwrite": [2, 1, 1, 1], "replace_partitions": [3, 4, 3, 3]}[keys["mode"]]
    if keys == {"mode": "append", "partition_by": "k"}:
        expected = [3, 4, 5, 5]
    assert counts == expected


def test_the_list_lacks_files_that_a_run_key_removed_and_files_that_are_gone(tmp_path, engine):
    pipeline = Pipeline("p", root=tmp_path)
    pipeline.param("day", "int64")
    t = write_source(pipeline, "t", table(TYPES, *ROWS))
    t.write_parquet("out", "out", mode="append", run_key="day")
    options = RunOptions(partition_rows=2)
    for day, files in ((1, 2), (2, 4), (1, 4)):
        pipeline.run({"day": day}, engine=engine, keep=[], options=options)
        assert listed(tmp_path / "out") == sizes(tmp_path / "out")
        assert len(sizes(tmp_path / "out")) == files
    min((tmp_path / "out").glob("*.parquet")).unlink()
    pipeline.run({"day": 3}, engine=engine, keep=[], options=options)
    assert listed(tmp_path / "out") == sizes(tmp_path / "out")


def test_a_list_keeps_what_an_earlier_run_wrote_of_a_file_that_others_changed(tmp_path):
    run(tmp_path, mode="append")
    file = min((tmp_path / "out").glob("*.parquet"))
    size = file.stat().st_size
    file.write_bytes(file.read_bytes() + b"more")
    run(tmp_path, [("a", 9)], mode="append")
    assert listed(tmp_path / "out")[file.name] == size
    with pytest.raises(RunFailed, match=f"1 file that gpuetl did not write, or that changed since: {file.name}"):
        run(tmp_path, mode="overwrite")


def test_old_lists_come_back_where_a_commit_fails(tmp_path, monkeypatch):
    run(tmp_path, **MODES[1])
    before = listed(tmp_path / "out")
    refuse_moves(monkeypatch, lambda old, new: old.parent.name == ".gpuetl" and new.parent.name == "old")
    with pytest.raises(RunFailed, match="No sink has changed"):
        run(tmp_path, [("a", 9)], **MODES[1])
    assert listed(tmp_path / "out") == before == sizes(tmp_path / "out")


def test_a_list_that_another_run_replaces_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    """The names of lists are looked up before another run commits; what they name is read after it."""
    run(tmp_path, mode="append")
    look = manifest.list_names
    found = iter([look(tmp_path / "out")])
    run(tmp_path, [("a", 9)], mode="append")
    monkeypatch.setattr(manifest, "list_names", lambda folder: next(found, None) or look(folder))
    assert dict(manifest.Manifest.read(tmp_path / "out").files) == sizes(tmp_path / "out")


def test_another_run_may_replace_the_lists_before_the_old_partitions_are_removed(tmp_path, monkeypatch):
    """What a commit replaced must not come back as files of others, though no list names it any more."""
    run(tmp_path, **MODES[1])
    close = SinkWriter.close

    def closing(writer, keep=False):
        monkeypatch.setattr(SinkWriter, "close", close)
        run(tmp_path, [("a", 9)], **MODES[1])
        return close(writer, keep)

    monkeypatch.setattr(SinkWriter, "close", closing)
    run(tmp_path, [("a", 8)], **MODES[1])
    assert values(tmp_path / "out") == [2, 9]
    assert listed(tmp_path / "out") == sizes(tmp_path / "out")


def test_an_entry_whose_file_is_gone_does_no_harm(tmp_path):
    run(tmp_path, mode="append")
    next((tmp_path / "out").glob("*.parquet")).unlink()
    run(tmp_path, [("a", 9)], mode="overwrite")
    assert values(tmp_path / "out") == [9]


def test_a_file_that_others_changed_counts_as_theirs(tmp_path):
    run(tmp_path, mode="append")
    file = min((tmp_path / "out").glob("*.parquet"))
    file.write_bytes(file.read_bytes() + b"more")
    with pytest.raises(RunFailed, match=f"1 file that gpuetl did not write, or that changed since: {file.name}"):
        run(tmp_path, mode="overwrite")


def test_a_folder_of_an_earlier_version_is_replaced_by_the_names_of_its_files(tmp_path):
    (tmp_path / "out").mkdir()
    for name in (OF_EARLIER_VERSION, f"part-0123456789ab-{OF_EARLIER_VERSION[5:]}"):
        pq.write_table(table(TYPES, ("a", 0)), tmp_path / "out" / name)
    run(tmp_path, mode="append")
    assert listed(tmp_path / "out") == sizes(tmp_path / "out")
    run(tmp_path, [("a", 9)], mode="overwrite")
    assert values(tmp_path / "out") == [9]


def test_partitions_of_an_earlier_version_are_replaced_by_the_names_of_their_files(tmp_path):
    (tmp_path / "out/k=a").mkdir(parents=True)
    pq.write_table(table({"x": "int64"}, (0,)), tmp_path / "out/k=a" / OF_EARLIER_VERSION)
    run(tmp_path, **MODES[1])
    assert values(tmp_path / "out") == [1, 2, 3]
    assert listed(tmp_path / "out") == sizes(tmp_path / "out")


def test_a_list_that_cannot_be_read_lists_nothing(tmp_path):
    run(tmp_path, mode="append")
    (broken,) = (tmp_path / "out/.gpuetl").iterdir()
    broken.write_text("{")
    (broken.parent / "whole.json").write_text(manifest.listing("whole", {}))
    run(tmp_path, [("a", 4)], mode="append")
    assert broken.read_text() == "{"
    with pytest.raises(RunFailed, match=r"holds 2 files that gpuetl did not write"):
        run(tmp_path, mode="overwrite")


def test_a_file_that_comes_while_a_folder_is_replaced_goes_to_the_new_one(tmp_path, monkeypatch):
    run(tmp_path, **MODES[1])
    decide = commit_sinks.decide

    def writing(staging, decision, durable):
        if decision == "forward":
            (tmp_path / "out/k=a/notes.txt").write_text("just now")
        decide(staging, decision, durable)

    monkeypatch.setattr(commit_sinks, "decide", writing)
    run(tmp_path, [("a", 9)], **MODES[1])
    assert (tmp_path / "out/k=a/notes.txt").read_text() == "just now"
    assert values(tmp_path / "out") == [2, 9]
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(
    ("path", "keys"), [("out.parquet", {"mode": "overwrite"}), ("out", {"mode": "append"}), ("out", {})]
)
def test_keep_foreign_is_for_folders_that_are_replaced(tmp_path, path, keys):
    with pytest.raises(
        InvalidPipeline, match="keep_foreign is for a folder with mode overwrite, replace_partitions or upsert"
    ):
        run(tmp_path, path=path, keep_foreign=True, **keys)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write for others")
def test_owners_and_modes_of_what_is_replaced_stay(tmp_path, engine):
    run(tmp_path, path="one.parquet", mode="overwrite")
    run(tmp_path, **MODES[1])
    expected = {"one.parquet": 0o600, "out": 0o750, "out/k=a": 0o700, "out/k=b": 0o755}
    for name, mode in expected.items():
        (tmp_path / name).chmod(mode)
        os.chown(tmp_path / name, 4242, 4343)
    for file in (tmp_path / "out/k=a").iterdir():
        file.chmod(0o640)
    run(tmp_path, engine=engine, path="one.parquet", mode="overwrite")
    run(tmp_path, [("a", 9), ("c", 4)], engine, **MODES[1])
    found = {name: (tmp_path / name).stat() for name in expected}
    assert {name: status.st_mode & 0o7777 for name, status in found.items()} == expected
    assert {(status.st_uid, status.st_gid) for status in found.values()} == {(4242, 4343)}
    (file,) = (tmp_path / "out/k=a").iterdir()
    assert file.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "out/k=c").stat().st_mode & 0o777 == 0o777 & ~umask()
    run(tmp_path, engine=engine, mode="overwrite")
    assert (tmp_path / "out").stat().st_mode & 0o7777 == 0o750


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_new_sinks_have_the_modes_that_the_umask_gives(tmp_path, engine):
    run(tmp_path, engine=engine, path="one.parquet")
    run(tmp_path, engine=engine, partition_by="k")
    mode = 0o777 & ~umask()
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out", tmp_path / "out/k=a")} == {mode}
    files = [tmp_path / "one.parquet", *(tmp_path / "out/k=a").iterdir()]
    assert {path.stat().st_mode & 0o777 for path in files} == {mode & 0o666}
