"""Journals that no run has written: data of others may hold a staging folder, and its journal moves no file of yours."""

import json
import os
import socket

import pytest

from gpuetl import Pipeline, RunFailed, in_sandbox
from gpuetl.places.local.commit.locks import LEASE, boot_id, holder_of
from gpuetl.places.local.commit.recovery import recover
from messages import without_place
from tables import table, write_source

RUN = "20260101T020000-0a1b2c3d"


@pytest.fixture
def inbox(tmp_path):
    """A folder as somebody sent it, with a dead run's staging folder beside the sink's path."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "key").write_text("secret")
    folder = tmp_path / "inbox"
    staging(folder, "o")
    return folder


def staging(folder, sink, **journal):
    """Make a staging folder by hand; return it."""
    place = folder / f".{sink}.{RUN}"
    (place / "old").mkdir(parents=True)
    (place / "old" / "0").write_text("planted")
    lease = {"run_id": RUN, "target": sink, "pipeline": "p", "host": socket.gethostname(), "boot": boot_id(), "pid": 1,
             "started": ""}  # fmt: skip
    (place / LEASE).write_text(json.dumps(lease))
    text = {"gpuetl": 1, "stagings": [place.name], "folders": [], "steps": [], "replaced": []} | journal
    (place / "journal.json").write_text(json.dumps(text))
    return place


def forge(inbox, decision, step=None, **journal):
    """Write a journal, and return what a run to the sink says of it."""
    place = inbox / f".o.{RUN}"
    (place / f"commit.{decision}").touch()
    text = {"gpuetl": 1, "stagings": [place.name], "folders": [], "steps": [step] if step else [], "replaced": []}
    (place / "journal.json").write_text(json.dumps(text | journal))
    p = Pipeline("p", root=inbox)
    write_source(p, "t", table({"x": "int64"}, (1,))).write_parquet("o", "o", mode="overwrite")
    with pytest.raises(RunFailed) as error:
        p.run(engine="pandas")
    assert not (inbox / "o").exists()
    return without_place(str(error.value))


def refused(told, path):
    assert f"names {path}, which is no part of this commit: no run of gpuetl wrote it" in told


def test_a_file_is_not_planted_elsewhere(inbox, tmp_path):
    target = "../home/.bashrc"
    told = forge(inbox, "back", {"target": target, "inode": 1, "kept": f".o.{RUN}/old/0"})
    refused(told, tmp_path / "home" / ".bashrc")
    assert os.listdir(tmp_path / "home") == ["key"]  # noqa: PTH208


def test_a_file_from_elsewhere_is_not_brought_here(inbox, tmp_path):
    refused(forge(inbox, "back", {"target": "o", "inode": 1, "kept": "../home/key"}), tmp_path / "home" / "key")
    assert (tmp_path / "home" / "key").read_text() == "secret"


def test_a_file_from_elsewhere_is_not_brought_here_through_a_link(inbox, tmp_path):
    (inbox / f".o.{RUN}" / "new").symlink_to(tmp_path / "home")
    kept = f".o.{RUN}/new/key"
    refused(forge(inbox, "back", {"target": "o", "inode": 1, "kept": kept}), inbox / kept)


def test_a_file_elsewhere_is_not_removed(inbox, tmp_path):
    key = tmp_path / "home" / "key"
    step = {"target": "../home/key", "inode": key.stat().st_ino, "kept": f".o.{RUN}/old/1"}
    refused(forge(inbox, "forward", step), key)
    refused(forge(inbox, "forward", step | {"target": str(key)}), key)
    assert key.read_text() == "secret"


def test_a_neighbour_of_the_sink_is_not_changed(inbox):
    (inbox / "other").write_text("kept")
    step = {"target": "other", "inode": (inbox / "other").stat().st_ino, "kept": f".o.{RUN}/old/1"}
    refused(forge(inbox, "forward", step), inbox / "other")


def test_a_commit_of_another_run_is_not_decided(inbox, tmp_path):
    """Nor is one that takes no part in this commit, whose name anybody can give."""
    other = staging(tmp_path / "lake", "theirs")
    told = forge(inbox, "forward", stagings=[f".o.{RUN}", os.path.relpath(other, inbox)])
    assert f"the journals in {other} and {inbox}/.o.{RUN} are not of one commit" in told
    assert other.exists()
    for name in ("x", f".y.{RUN[:-1]}e"):
        refused(forge(inbox, "forward", stagings=[f".o.{RUN}", f"../home/{name}"]), tmp_path / "home" / name)


def test_folders_elsewhere_are_not_made(inbox, tmp_path):
    refused(forge(inbox, "forward", folders=["../home/made"]), tmp_path / "home" / "made")


def test_a_sandbox_holds_for_recovery(inbox, tmp_path):
    """Through a link in the sink's folder, too."""
    (inbox / "o").mkdir()
    (inbox / "o" / "k=1").symlink_to(tmp_path / "home")
    place = inbox / f".o.{RUN}"
    (place / "commit.back").touch()
    step = {"target": "o/k=1/.bashrc", "inode": 1, "kept": f"{place.name}/old/0"}
    journal = {"gpuetl": 1, "stagings": [place.name], "folders": [], "steps": [step], "replaced": []}
    (place / "journal.json").write_text(json.dumps(journal))
    with in_sandbox(inbox), pytest.raises(Exception, match=r"is no part of this commit"):
        recover(place)
    assert os.listdir(tmp_path / "home") == ["key"]  # noqa: PTH208


def test_a_lease_that_is_a_pipe_is_not_waited_for(inbox):
    place = inbox / f".o.{RUN}"
    (place / LEASE).unlink()
    os.mkfifo(place / LEASE)
    assert holder_of(place).status == "unknown"
    (place / LEASE).unlink()
    (place / LEASE).symlink_to("/dev/zero")
    assert holder_of(place).status == "unknown"
