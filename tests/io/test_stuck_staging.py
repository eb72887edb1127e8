"""Staging folders that cannot be removed: the next run finds out that the commit is done, and removes them."""

import errno
import os
from pathlib import Path

import pytest

from gpuetl import Pipeline
from gpuetl.places.local.commit import recovery
from gpuetl.places.local.commit.locks import LEASE
from sink_files import leftovers
from tables import table, write_source


def two_sinks(folder):
    pipeline = Pipeline("p", root=folder)
    rows = write_source(pipeline, "t", table({"x": "int64"}, (1,)))
    for name in ("first", "second"):
        rows.write_parquet(name, f"{name}/rows", mode="overwrite")
    return pipeline


@pytest.mark.part(2)
@pytest.mark.parametrize("stuck", ["new", "journal.json", "old", "commit.done", LEASE])
@pytest.mark.parametrize("sink", ["first", "second"])
def test_the_next_run_removes_what_a_run_could_not(tmp_path, monkeypatch, stuck, sink):
    """Whatever of a sink's staging folder cannot be removed, no run stops for it."""
    run = two_sinks(tmp_path).run
    run(engine="pandas")
    unlink, remove = Path.unlink, recovery.remove_any

    def is_stuck(path):
        return path.name == stuck and f"{tmp_path}/{sink}/." in str(path)

    def failing_unlink(path, missing_ok=False):
        if is_stuck(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        unlink(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", failing_unlink)
        patched.setattr(recovery, "remove_any", lambda path: None if is_stuck(path) else remove(path))
        run(engine="pandas")
    assert not run(engine="pandas").report.warnings
    assert leftovers(tmp_path) == []
