"""Scratch folders of local clusters: removed with their run, however that ends."""

import os
import subprocess
import sys
import time
from pathlib import Path

import dask
import pytest

from gpuetl.executors.dask.local_cluster import PREFIX, scratch_folder
from gpuetl.places.local.scratch_folders import remove_dead

pytest.importorskip("distributed")
HOLDS = """
import sys, time
from gpuetl.executors.dask import local_cluster as scratch

scratch.REMOVE = sys.argv[1]
with scratch.scratch_folder() as folder:
    (folder / "rows").write_text("rows")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def base(tmp_path):
    """Where scratch folders are."""
    with dask.config.set({"temporary-directory": str(tmp_path)}):
        yield tmp_path


@pytest.fixture
def killed(base, tmp_path_factory):
    """Makes a folder in a process that is killed; gives the folder."""
    script = tmp_path_factory.mktemp("script") / "holds.py"
    script.write_text(HOLDS)

    def make(remove):
        environment = os.environ | {"DASK_TEMPORARY_DIRECTORY": str(base)}
        command = [sys.executable, str(script), remove]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            folder = base / Path(process.stdout.readline().strip()).name
            assert (folder / "rows").read_text() == "rows"
            with scratch_folder():  # that of a run that lives stays
                assert folder.is_dir()
            process.kill()
        return folder

    return make


def test_a_folder_is_for_its_owner_alone_and_goes_with_the_run(base):
    with scratch_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "rows").write_text("rows")
    assert list(base.iterdir()) == []


def test_the_folder_of_a_killed_run_is_removed_at_once(killed):
    from gpuetl.executors.dask.local_cluster import REMOVE

    folder, deadline = killed(REMOVE), time.monotonic() + 20
    while folder.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_next_run_removes_the_folder_of_one_that_could_not(base, killed):
    """Where the process that removes it was killed as well; what others have there stays."""
    folder = killed("exit")
    other = base / f"{PREFIX}of-another-user"
    other.mkdir()
    if os.getuid() == 0:
        os.chown(other, 65534, 65534)
    (base / "kept").mkdir()
    assert folder.is_dir()
    remove_dead(PREFIX, base)
    left = {"kept", other.name} if os.getuid() == 0 else {"kept"}
    assert {path.name for path in base.iterdir()} == left
