"""Files of another format in the folder of a sink that adds to it."""

from __future__ import annotations

import pytest

from gpuetl import Pipeline, RunFailed
from messages import without_place
from tables import table, write_source


def run(root, form, engine="pandas", path="out", **keys):
    pipeline = Pipeline("p", root=root)
    t = write_source(pipeline, "t", table({"k": "string", "x": "int64"}, ("a", 1), ("b", 2)))
    getattr(t, f"write_{form}")("o", path, **keys)
    return pipeline.run(engine=engine, keep=[]).report


@pytest.mark.parametrize("mode", ["append", "replace_partitions"])
@pytest.mark.parametrize(("first", "title"), [("parquet", "Parquet"), ("csv", "CSV"), ("json", "JSON")])
def test_files_of_another_format_are_an_error(tmp_path, engine, mode, first, title):
    """Who reads the folder as Arrow files would get half of the rows."""
    keys = {"partition_by": ["k"]} if mode == "replace_partitions" else {}
    run(tmp_path, first, engine, **keys)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(RunFailed) as caught:
        run(tmp_path, "arrow", engine, mode=mode, **keys)
    message, *_, hint = without_place(str(caught.value)).splitlines()
    assert message.startswith(f"sink 'o': {tmp_path}/out has files of another format, {title}, such as part-")
    assert hint == f"Readers of Arrow IPC would not read those.  Write {title}, or give the sink a different path."
    assert sorted(tmp_path.rglob("*")) == before


def test_other_files_stay(tmp_path, engine):
    """Notes, metadata and hidden files are no rows of the folder."""
    run(tmp_path, "parquet", engine)
    for name in ("notes.csv", "_metadata.json", ".part-0.csv", "_old/part-0.csv", "schema.json"):
        (tmp_path / "out" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "out" / name).write_text("x\n")
    run(tmp_path, "parquet", engine, mode="append")
    assert len(list((tmp_path / "out").glob("part-*.parquet"))) == 2


def test_a_folder_that_is_replaced_may_change_its_format(tmp_path, engine):
    run(tmp_path, "parquet", engine)
    run(tmp_path, "csv", engine, mode="overwrite")
    assert [path.suffix for path in (tmp_path / "out").glob("part-*")] == [".csv"]


def test_compressed_files_are_of_the_same_format(tmp_path):
    run(tmp_path, "csv")
    run(tmp_path, "csv", mode="append", compression="gzip")
    assert len(list((tmp_path / "out").glob("part-*"))) == 2
