"""Sinks that reach a source by another name: a link, a mount, `..`."""

import os
import re
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, messages
from messages import without_place


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a source and links to it; messages show its whole path, however long it is."""
    monkeypatch.setattr(messages, "LONG", re.compile("(?!)"))
    (tmp_path / "project").mkdir()
    for name in ("data/a.parquet", "data/b.parquet", "data/more/c.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"x": [1]}), tmp_path / name)
    (tmp_path / "link").symlink_to("data")
    (tmp_path / "deep").symlink_to("data/more")
    (tmp_path / "a-link.parquet").symlink_to("data/a.parquet")
    (tmp_path / "out").mkdir()
    return tmp_path


def told(here, source, sink, mode="overwrite"):
    """Return what a run says of a sink's path; nothing where it is fine."""
    pipeline = Pipeline("test", root=here / "project")
    pipeline.read_parquet("s", here / source).write_parquet("o", here / sink, mode=mode)
    try:
        pipeline.run(engine="pandas")
    except (InvalidPipeline, RunFailed) as error:
        return without_place(str(error)).splitlines()[0].removeprefix("sink 'o': ")
    return ""


LINKED = ", through a link or a mount"


@pytest.mark.parametrize(
    ("source", "sink", "message"),
    [
        ("data", "link", f"writes over source 's'{LINKED}"),
        ("link", "data", f"writes over source 's'{LINKED}"),
        ("data/a.parquet", "link/a.parquet", f"writes over source 's'{LINKED}"),
        ("data/a.parquet", "a-link.parquet", f"writes over source 's'{LINKED}"),
        ("a-link.parquet", "data/a.parquet", f"writes over source 's'{LINKED}"),
        ("data", "deep/new", f"writes into its own source 's'{LINKED}"),
        ("data", "deep/new.parquet", f"writes into its own source 's'{LINKED}"),
        ("data/*.parquet", "link/new.parquet", f"writes into its own source 's'{LINKED}"),
        ("data/*.parquet", "deep/new.parquet", ""),
        ("data/*.parquet", "deep/../new.parquet", f"writes into its own source 's'{LINKED}"),
        ("data", "out/../data", "writes over source 's'"),
        ("data", "out/new.parquet", ""),
    ],
)
def test_a_sink_that_reaches_a_source_through_a_link_is_refused(here, source, sink, message):
    assert told(here, source, sink) == message


@pytest.mark.parametrize("source", ["data", "data/*.parquet", "data/a.parquet"])
def test_a_sink_that_is_a_hard_link_of_a_source_s_file_is_refused(here, source):
    os.link(here / "data/a.parquet", here / "out/a.parquet")
    message = told(here, source, "out/a.parquet")
    if source == "data/a.parquet":
        assert message == f"writes over source 's'{LINKED}"
    else:
        assert message == f"{here}/out/a.parquet is {here}/data/a.parquet of source 's', by another name"
    assert pq.read_table(here / "out/a.parquet").column_names == ["x"]


@pytest.mark.parametrize(("sink", "mode"), [("out", "overwrite"), ("out/r.parquet", "overwrite")])
def test_a_sink_that_replaces_what_a_link_of_the_source_leads_to_is_refused(here, sink, mode):
    pq.write_table(pa.table({"x": [2]}), here / "out/r.parquet")
    (here / "data/r.parquet").symlink_to("../out/r.parquet")
    assert told(here, "data", sink, mode) == f"{here}/{sink} is {here}/data/r.parquet of source 's', by another name"
    assert "by another name" not in told(here, "data/a.parquet", sink, mode)


@pytest.mark.parametrize(
    ("source", "refused"), [("lake", True), ("lake/day=1", True), ("lake/*/a.parquet", True), ("lake/day=2", False)]
)
@pytest.mark.parametrize("mode", ["append", "replace_partitions"])
def test_a_partition_of_a_sink_that_is_a_link_to_a_source_is_refused(here, source, refused, mode):
    for day in (1, 2):
        (here / f"lake/day={day}").mkdir(parents=True)
        pq.write_table(pa.table({"x": [1], "day": [3]}), here / f"lake/day={day}/a.parquet")
    (here / "out/day=1").symlink_to("../lake/day=1")
    pipeline = Pipeline("test", root=here / "project")
    pipeline.read_parquet("s", here / source).write_parquet("o", here / "out", mode=mode, partition_by=["day"])
    if not refused:
        pipeline.run(engine="pandas")
        return
    with pytest.raises(RunFailed, match=r"out/day=1 leads to source 's', by another name"):
        pipeline.run(engine="pandas")


def test_sinks_that_reach_each_other_through_a_link_are_refused(here):
    pipeline = Pipeline("test", root=here / "project")
    rows = pipeline.read_parquet("s", here / "data/a.parquet")
    (here / "again").symlink_to("out")
    rows.write_parquet("one", here / "out", mode="overwrite")
    rows.write_parquet("two", here / "again", mode="overwrite")
    rows.write_parquet("three", here / "again/3", mode="overwrite")
    with pytest.raises(InvalidPipeline) as caught:
        pipeline.run(engine="pandas")
    assert [problem.message for problem in caught.value.problems] == [
        f"writes the same path as sink 'one'{LINKED}",
        f"writes inside the path of sink 'one'{LINKED}",
        "writes inside the path of sink 'two'",
    ]


def test_a_bind_mount_of_a_source_is_the_source(here):
    (here / "mounted").mkdir()
    mount = subprocess.run(["mount", "--bind", here / "data", here / "mounted"], capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("this user may not mount")
    try:
        assert told(here, "data", "mounted") == f"writes over source 's'{LINKED}"
        assert told(here, "data", "mounted/more/new.parquet") == f"writes into its own source 's'{LINKED}"
        assert told(here, "data/more", "mounted/more") == f"writes over source 's'{LINKED}"
    finally:
        subprocess.run(["umount", here / "mounted"], check=True)
