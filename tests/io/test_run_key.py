"""Appending the same run twice: a run key replaces what the first one wrote; without one there is a warning."""

from datetime import date

import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions, loads, param
from sink_files import leftovers, refuse_moves
from tables import table, write_source

TYPES = {"k": "string", "x": "int64"}
DAY, NEXT = date(2026, 11, 1), date(2026, 11, 2)


def appending(root, rows, name="daily", sink="out", path="out", **keys):
    """Return a pipeline that appends rows, with the parameters run_date and least."""
    pipeline = Pipeline(name, root=root)
    pipeline.param("run_date", "date")
    pipeline.param("least", "int64", 0)
    t = write_source(pipeline, "t", table(TYPES, *rows))
    t.filter(param("least") <= 10).write_parquet(sink, path, mode="append", **keys)
    return pipeline


def run(pipeline, day=DAY, engine="pandas", **params):
    options = RunOptions(partition_rows=2)
    return pipeline.run({"run_date": day, **params}, engine=engine, keep=[], options=options).report


def values(folder):
    files = sorted(folder.rglob("*.parquet"))
    return sorted(x for file in files for x in pq.read_table(file, partitioning=None).column("x").to_pylist())


@pytest.mark.part(2)
@pytest.mark.parametrize(("partition_by", "files"), [((), 2), ("k", 3)])
def test_a_second_append_of_a_run_key_replaces_the_first_one_s_files(tmp_path, engine, partition_by, files):
    keys = {"run_key": ["run_date"], "partition_by": partition_by}
    run(appending(tmp_path, [("a", 1), ("b", 2), ("a", 3)], **keys), engine=engine)
    run(appending(tmp_path, [("a", 10)], **keys), NEXT, engine)
    run(appending(tmp_path, [("c", 20)], **keys), None, engine)
    report = run(appending(tmp_path, [("a", 4), ("c", 5)], **keys), engine=engine)
    assert values(tmp_path / "out") == [4, 5, 10, 20]
    assert not report.warnings
    told = f"sink 'out': replaced {files} files that a run with the same run_key (run_date) had appended"
    assert report.notes[-1] == told
    run(appending(tmp_path, [("c", 21)], **keys), None, engine)
    assert values(tmp_path / "out") == [4, 5, 10, 21]
    assert not leftovers(tmp_path)


def test_without_a_run_key_an_equal_run_is_warned_of(tmp_path, engine):
    rows = [("a", 1), ("b", 2), ("a", 3)]
    assert not run(appending(tmp_path, rows), engine=engine).warnings
    assert not run(appending(tmp_path, rows), engine=engine, least=1).warnings
    (warning,) = run(appending(tmp_path, rows), engine=engine).warnings
    assert warning.startswith(f"sink 'out': {tmp_path}/out has 2 files that the same pipeline appended before")
    assert values(tmp_path / "out") == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_a_run_key_is_of_one_sink_of_one_pipeline(tmp_path):
    """Others append to the same folder: what they wrote stays."""
    for names in ({}, {"name": "hourly"}, {"sink": "more"}):
        run(appending(tmp_path, [("a", 1)], run_key="run_date", **names))
    (tmp_path / "out/part-by-hand.parquet").write_bytes(next((tmp_path / "out").glob("*.parquet")).read_bytes())
    report = run(appending(tmp_path, [("a", 2)], run_key="run_date"))
    assert report.sinks[0].rows == 1
    assert values(tmp_path / "out") == [1, 1, 1, 2]


def test_no_rows_replace_those_of_the_run_key_unless_they_are_kept(tmp_path):
    for on_empty, left in (("keep", [1]), ("write", [])):
        run(appending(tmp_path, [("a", 1)], run_key="run_date"))
        run(appending(tmp_path, [], run_key="run_date", on_empty=on_empty))
        assert values(tmp_path / "out") == left


def test_files_of_the_first_append_come_back_where_the_second_fails(tmp_path, monkeypatch):
    run(appending(tmp_path, [("a", 1)], run_key="run_date"))
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    refuse_moves(monkeypatch, lambda old, new: new.parent.name == "out" and old.parent.name == "new")
    with pytest.raises(RunFailed, match="No sink has changed"):
        run(appending(tmp_path, [("a", 2)], run_key="run_date"))
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before
    assert not leftovers(tmp_path)


def test_a_file_of_the_run_key_that_others_changed_is_not_removed(tmp_path, engine):
    run(appending(tmp_path, [("a", 1)], run_key="run_date"))
    (file,) = (tmp_path / "out").glob("*.parquet")
    pq.write_table(pq.read_table(file).append_column("note", [["mine"]]), file)
    told = (
        f"/out holds 1 file that gpuetl did not write, or that changed since: {file.name}.  The run would replace it, "
    )
    with pytest.raises(RunFailed, match=r"since it has its run_key\.  Rename it, or move it away") as caught:
        run(appending(tmp_path, [("a", 2)], run_key="run_date"), engine=engine)
    assert told in str(caught.value)
    assert values(tmp_path / "out") == [1]
    file.rename(tmp_path / "out/mine.parquet")
    run(appending(tmp_path, [("a", 2)], run_key="run_date"), engine=engine)
    assert values(tmp_path / "out") == [1, 2]


def test_a_copy_of_a_file_with_the_run_key_is_not_removed(tmp_path):
    run(appending(tmp_path, [("a", 1)], run_key="run_date"))
    (file,) = (tmp_path / "out").glob("*.parquet")
    copy = file.with_name(file.name.replace(".parquet", "-copy.parquet"))
    copy.write_bytes(file.read_bytes())
    with pytest.raises(RunFailed, match=copy.name):
        run(appending(tmp_path, [("a", 2)], run_key="run_date"))
    assert values(tmp_path / "out") == [1, 1]


def test_rows_in_memory_are_not_known_to_be_equal(pipeline, tmp_path):
    pipeline.from_frame("t", table(TYPES, ("a", 1))).write_parquet("out", "out", mode="append")
    assert [run.warnings for run in (pipeline.run(engine="pandas").report for _ in range(2))] == [(), ()]


def test_a_run_key_names_parameters_and_is_for_append(tmp_path):
    text = """
gpuetl: 1
name: p
params: {run_date: {type: date, required: true}}
sources: {t: {csv: in.csv, schema: {x: int64}}}
sinks:
  one: {from: t, csv: one, mode: append, run_key: [run_dat]}
  two: {from: t, csv: two, mode: overwrite, run_key: run_date}
"""
    with pytest.raises(InvalidPipeline) as caught:
        loads(text, tmp_path).plan(unbound=True)
    assert "pipeline.yaml:7:52: sink 'one': run_key: unknown parameter 'run_dat'" in str(caught.value)
    assert "Did you mean 'run_date'?" in str(caught.value)
    assert "pipeline.yaml:8:54: sink 'two': run_key is for mode append, and the mode is overwrite" in str(caught.value)


@pytest.mark.parametrize("key", ["[]", "{}"])
def test_a_run_key_of_no_parameters_is_an_error(tmp_path, key):
    """It had no effect: a second append doubled the rows."""
    text = f"""
gpuetl: 1
name: p
sources: {{t: {{csv: in.csv, schema: {{x: int64}}}}}}
sinks: {{one: {{from: t, csv: one, mode: append, run_key: {key}}}}}
"""
    with pytest.raises(InvalidPipeline, match="run_key: takes a name or a list of names, got none"):
        loads(text, tmp_path).plan(unbound=True)


def test_a_run_key_is_written_as_yaml(tmp_path):
    text = appending(tmp_path, [], run_key=["run_date", "least"], on_empty="keep").to_yaml()
    assert "run_key: [run_date, least]" in text
    assert "on_empty: keep" in text
    assert loads(text, tmp_path).to_yaml() == text


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("form", "mode"), [("parquet", "append"), ("csv", "append"), ("parquet", "replace_partitions")]
)
def test_files_of_other_columns_are_warned_of(tmp_path, engine, form, mode):
    warnings = []
    for day, columns in enumerate((["x"], ["x"], ["x", "y"])):
        pipeline = appending(tmp_path, [("a", day)], sink="other", path="other")
        t = pipeline.table("t").with_columns(y=param("run_date"), k=param("least")).select("k", columns)
        keys = {"mode": mode, "partition_by": "k"}
        getattr(t, f"write_{form}")("out", "out", **keys, **({"run_key": "least"} if mode == "append" else {}))
        warnings = [line for line in run(pipeline, engine=engine, least=day).warnings if "'out'" in line]
        assert len(warnings) == len(columns) - 1
    assert "the files that were added have other columns than" in warnings[0]
    assert ("with y (date)" if form == "parquet" else "with x,y") in warnings[0]


def test_quotes_in_a_csv_header_are_no_other_columns(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "before.csv").write_text("x\n1\n")
    (tmp_path / "in.csv").write_text("x\n2\n")
    text = """
gpuetl: 1
name: p
sources: {t: {csv: in.csv, schema: {x: int64}}}
sinks: {out: {from: t, csv: out, mode: append}}
"""
    assert loads(text, tmp_path).run(engine="pandas").report.warnings == ()
