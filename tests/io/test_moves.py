"""Renames that the standard library lacks: on systems, C libraries and file systems with and without them."""

import ctypes
import errno
import os
from types import SimpleNamespace

import pytest

from gpuetl.places.local.commit import moves
from gpuetl.places.local.commit.moves import NoExchange, exchange, rename_to_free, sync
from sink_files import leftovers
from sinks_by_mode import NEW, NEW_RUN, OLD, OLD_RUN, state, write


@pytest.fixture(params=["the C library's function", "the system call's number", "neither", "a file system without it"])
def system(request, monkeypatch):
    """A system that can exchange two paths, in two ways, and two that cannot."""
    make, library = moves._system_call.__wrapped__, ctypes.CDLL(None, use_errno=True)
    if request.param == "the system call's number":
        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(syscall=library.syscall))
    elif request.param == "neither":
        monkeypatch.setattr(moves.platform, "system", lambda: "Darwin")
    call = make()

    def refused(*_):
        ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr(moves, "_system_call", lambda: refused if "file system" in request.param else call)
    return request.param


@pytest.fixture
def paths(tmp_path):
    """Two folders with a file each."""
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        folder.mkdir()
        (folder / "name.txt").write_text(folder.name)
    return folders


def test_folders_are_exchanged_or_stay(system, paths):
    if "library" in system or "number" in system:
        exchange(*paths)
        assert [(path / "name.txt").read_text() for path in paths] == ["other", "one"]
    else:
        with pytest.raises(NoExchange):
            exchange(*paths)
        assert [(path / "name.txt").read_text() for path in paths] == ["one", "other"]


def test_a_move_never_replaces_what_is_there(system, paths, tmp_path):
    one, other = paths
    with pytest.raises(FileExistsError):
        rename_to_free(one, other)
    assert (other / "name.txt").read_text() == "other"
    rename_to_free(one, tmp_path / "free")
    assert (tmp_path / "free" / "name.txt").read_text() == "one"
    assert not one.exists()


def test_what_is_missing_is_not_moved(system, tmp_path):
    with pytest.raises(FileNotFoundError):
        rename_to_free(tmp_path / "missing", tmp_path / "free")


def test_sinks_of_all_modes_are_replaced(system, tmp_path):
    write(tmp_path, OLD_RUN)
    assert state(tmp_path) == OLD
    write(tmp_path, NEW_RUN)
    assert state(tmp_path) == NEW
    assert leftovers(tmp_path) == []


def test_a_machine_whose_call_has_no_known_number_cannot_exchange(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace())
    monkeypatch.setattr(moves.platform, "machine", lambda: "mips")
    assert moves._system_call.__wrapped__() is None


def test_only_folders_may_be_on_file_systems_that_cannot_sync_them(tmp_path, monkeypatch):
    def refused(descriptor):
        raise OSError(errno.EINVAL, "Invalid argument")

    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "fsync", refused)
    sync(tmp_path)
    with pytest.raises(OSError, match="Invalid argument"):
        sync(tmp_path / "file")
