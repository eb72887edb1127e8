"""A commit that is killed at any change of the disk is finished or undone by the next who comes."""

import os
import sys
from pathlib import Path

import pytest

from gpuetl import RunFailed
from gpuetl.places.local.commit import moves, recovery
from gpuetl.places.local.commit.commit_sinks import finish_dead_runs
from left_to_full import in_full
from sink_files import leftovers, refuse_moves
from sinks_by_mode import NEW, NEW_RUN, OLD, OLD_RUN, RETRY, SINKS, state, write

pytestmark = pytest.mark.slow

EVERY = in_full(5, 9)
"""Of the changes, which are killed in turn: the longer proof is in tests/hostile."""
CHANGES = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link", "os.chmod", "os.chown", "os.truncate"}


def killed(action, at: int) -> bool:
    """Do something in a child process, which dies before the `at`-th change of the disk; tell whether it died."""
    child = os.fork()
    if not child:
        left = [at]

        def dies(event, arguments):
            writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if event in CHANGES or writes:
                left[0] -= 1
                if not left[0]:
                    os._exit(9)

        rename = moves._renameat2

        def renamed(*arguments):
            dies("os.rename", ())
            rename(*arguments)

        moves._renameat2 = renamed
        sys.addaudithook(dies)
        try:
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def recover_at(folder: Path, name: str) -> None:
    finish_dead_runs(folder / name, RunFailed)


def clean(folder: Path) -> None:
    list(recovery.sort_out(recovery.stagings_below(folder)))


def never_less(found) -> bool:
    """Tell whether readers find each file, folder and partition old or new; appended files may come one by one."""
    facts = set(found.pop("facts"))
    return (set(OLD["facts"]) <= facts or set(NEW["facts"]) <= facts) and all(
        found.get(name) in (OLD.get(name), NEW.get(name)) for name in NEW if name != "facts"
    )


@pytest.fixture(autouse=True)
def syncs_nothing(monkeypatch):
    """A process that dies takes nothing along that it has written; syncing is for power failures."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(params=["exchange", "no exchange"])
def exchanges(request, monkeypatch):
    """Whether the file system can exchange two paths."""
    if request.param == "no exchange":

        def refused(one, other):
            raise moves.NoExchange

        monkeypatch.setattr(moves, "exchange", refused)
    return request.param == "exchange"


@pytest.mark.part(7)
def test_a_run_killed_at_any_change_leaves_all_sinks_old_or_all_new(tmp_path, exchanges):
    endings = []
    for at in range(1 + exchanges, 1000, EVERY):
        folder = tmp_path / str(at)
        write(folder, OLD_RUN)
        dead = killed(lambda folder=folder: write(folder, NEW_RUN), at)
        assert never_less(state(folder)) or not exchanges, at
        recover_at(folder, SINKS[at % 4])
        after = state(folder)
        assert after in (OLD, NEW), at
        clean(folder)
        assert state(folder) == after
        assert not leftovers(folder), at
        endings.append(after == NEW)
        if not dead:
            break
    assert endings[-1]
    assert endings == sorted(endings)  # old up to the decision, new from there
    assert 30 < EVERY * endings.index(True) < EVERY * len(endings) - 20


def middle_of_the_commit(folder: Path, more: int = 3) -> int:
    """Return before which change a run has made some of its moves, and not all."""
    for at in range(30, 1000, in_full(1, 3)):
        write(folder / str(at), OLD_RUN)
        killed(lambda at=at: write(folder / str(at), NEW_RUN), at)
        if state(folder / str(at)) not in (OLD, NEW):
            return at + more
    raise AssertionError


@pytest.mark.part(8)
def test_a_recovery_that_is_killed_goes_on_from_there(tmp_path, exchanges):
    middle = middle_of_the_commit(tmp_path / "first")
    for at in range(1 + exchanges, 1000, EVERY):
        folder = tmp_path / str(at)
        write(folder, OLD_RUN)
        assert killed(lambda folder=folder: write(folder, NEW_RUN), middle)
        assert state(folder) not in (OLD, NEW)
        dead = killed(lambda folder=folder: recover_at(folder, "whole"), at)
        for name in SINKS:
            recover_at(folder, name)
        assert state(folder) == NEW
        assert not leftovers(folder)
        if not dead:
            break
    assert at > 20


def refusing_moves(monkeypatch, at: int) -> None:
    """Let the disk refuse the `at`-th move of a commit, and no other."""
    moved = []

    def refused(old, new):
        moved.append(new)
        return len(moved) == at

    refuse_moves(monkeypatch, refused)


@pytest.mark.part(2)
@pytest.mark.parametrize("at", range(1, 9))
def test_a_move_that_fails_undoes_those_before(tmp_path, exchanges, monkeypatch, at):
    write(tmp_path, OLD_RUN)
    refusing_moves(monkeypatch, at)
    with pytest.raises(RunFailed, match=r"Input/output error\.  No sink has changed"):
        write(tmp_path, NEW_RUN)
    assert state(tmp_path) == OLD
    assert not leftovers(tmp_path)


@pytest.mark.part(12)
def test_an_undo_that_is_killed_goes_on_from_there(tmp_path, exchanges, monkeypatch):
    """The sixth move fails; the state of the record tells when the undo has begun."""
    kinds = set()
    for at in range(40 + exchanges, 1000, EVERY):
        folder = tmp_path / str(at)
        write(folder, OLD_RUN)
        with monkeypatch.context() as patch:
            refusing_moves(patch, 6)
            dead = killed(lambda folder=folder: fail_to_write(folder), at)
        kinds |= {path.name for path in folder.glob("deep/.*/commit.*")}
        recover_at(folder, SINKS[at % 4])
        assert state(folder) in (OLD, NEW)
        clean(folder)
        assert not leftovers(folder)
        if not dead:
            break
    assert state(folder) == OLD
    assert {"commit.undecided", "commit.forward", "commit.back"} <= kinds


def fail_to_write(folder: Path) -> None:
    with pytest.raises(RunFailed, match="No sink has changed"):
        write(folder, NEW_RUN)


def test_the_same_run_again_after_one_that_was_killed_doubles_nothing(tmp_path):
    """The dead run is finished or undone first, as each run does; then all sinks have the rows once."""
    at = in_full(1, 2)
    while True:
        folder = tmp_path / str(at)
        folder.mkdir()
        write(folder, OLD_RUN)
        died = killed(lambda folder=folder: write(folder, NEW_RUN), at)
        for name in SINKS:
            recover_at(folder, name)
        write(folder, RETRY)
        assert state(folder) == NEW
        assert not leftovers(folder)
        if not died:
            return
        at += in_full(1, 2) * EVERY
