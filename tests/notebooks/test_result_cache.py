"""Rows are kept while nothing that they come from changes, up to a limit."""

import os
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunOptions, col, count, result_cache
from gpuetl import pipeline as pipeline_module
from gpuetl.run import result_keys, table_evaluation
from gpuetl.run.result_cache import KeptRows, ResultCache

DAY_NS = 86_400_000_000_000


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(result_keys, "SETTLED_NS", 0)  # the tests do not wait until a file is old enough
    result_cache.clear()
    yield
    result_cache.clear()


@pytest.fixture
def runs(monkeypatch):
    """What the runs of tables read: the names of sources and frames, a list for each run."""
    found = []

    def recorded(*args):
        run = real(*args)
        found.append([stage.name for stage in run.report.stages if stage.kind == "source"])
        return run

    real = table_evaluation.run_pipeline
    monkeypatch.setattr(table_evaluation, "run_pipeline", recorded)
    return found


def written(folder, rows, days=1):
    """Write rows to a file that was last modified some days ago."""
    path = folder / "t.parquet"
    pq.write_table(pa.table(rows), path, row_group_size=2)
    then = time.time_ns() - days * DAY_NS
    os.utime(path, ns=(then, then))
    return path


def pipeline_in(folder):
    pipeline = Pipeline("test", root=folder)
    return pipeline.read_parquet("t", "t.parquet")


def test_rows_are_computed_once(tmp_path, runs):
    written(tmp_path, {"a": [1, 2, 3]})
    big = pipeline_in(tmp_path).filter(col("a") > 1)
    assert len(big.collect()) == len(big.collect()) == big.count() == len(big.head()) == 2
    assert runs == [["t"]]


def test_a_pipeline_that_is_built_again_finds_the_rows(tmp_path, runs):
    written(tmp_path, {"a": [1, 2, 3]})
    for _ in range(2):
        assert len(pipeline_in(tmp_path).filter(col("a") > 1).stage("big").collect()) == 2
    assert len(runs) == 1


def test_later_steps_begin_with_kept_rows(tmp_path, runs, engine):
    written(tmp_path, {"a": [1, 2, 3]})
    big = pipeline_in(tmp_path).filter(col("a") > 1)
    big.collect(engine=engine)
    assert big.aggregate(n=count()).collect(engine=engine).to_arrow().to_pylist() == [{"n": 2}]
    doubled = big.stage("big").with_columns(b=col("a") * 2).sort("a desc")
    assert doubled.head(1, engine=engine).to_arrow().to_pylist() == [{"a": 3, "b": 6}]
    assert runs == [["t"], [], []]


def test_a_file_that_changes_is_read_again(tmp_path, runs):
    written(tmp_path, {"a": [1, 2, 3]})
    t = pipeline_in(tmp_path).sort("a desc")
    assert t.head(1).to_arrow().to_pylist() == [{"a": 3}]
    written(tmp_path, {"a": [1, 2, 4]}, days=2)
    assert t.head(1).to_arrow().to_pylist() == [{"a": 4}]
    os.utime(tmp_path / "t.parquet", ns=(0, 0))
    assert t.head(1).to_arrow().to_pylist() == [{"a": 4}]
    assert len(runs) == 3


def test_a_new_file_in_a_folder_is_read(tmp_path, runs):
    (tmp_path / "lake").mkdir()
    written(tmp_path / "lake", {"a": [1]})
    t = Pipeline("test", root=tmp_path).read_parquet("t", "lake")
    assert t.filter(col("a") > 0).count() == 1
    written(tmp_path / "lake", {"a": [2]}).rename(tmp_path / "lake/u.parquet")
    written(tmp_path / "lake", {"a": [1]})
    assert t.filter(col("a") > 0).count() == 2


def test_a_file_that_was_just_written_is_not_trusted(tmp_path, runs, monkeypatch):
    monkeypatch.setattr(result_keys, "SETTLED_NS", 60 * 1_000_000_000)
    written(tmp_path, {"a": [1]}, days=0)
    t = pipeline_in(tmp_path)
    t.head()
    t.head()
    assert len(runs) == 2
    assert len(result_cache) == 0


@pytest.mark.parametrize("changed", [col("a") > 2, (col("a") > 1) & (col("a") < 9)])
def test_other_steps_are_other_rows(tmp_path, runs, changed):
    written(tmp_path, {"a": [1, 2, 3]})
    t = pipeline_in(tmp_path)
    t.filter(col("a") > 1).collect()
    t.filter(changed).collect()
    assert len(runs) == 2


def test_other_values_of_parameters_are_other_rows(tmp_path, runs):
    written(tmp_path, {"a": [1, 2, 3]})
    t = pipeline_in(tmp_path)
    big = t.filter(col("a") > t.pipeline.param("least", "int64", 1))
    assert [big.count(params={"least": least}) for least in (1, 2, 1)] == [2, 1, 2]
    assert len(runs) == 2


def test_engines_and_options_do_not_share_rows(tmp_path, runs):
    written(tmp_path, {"a": [1, 2, 3]})
    t = pipeline_in(tmp_path)
    t.collect()
    t.collect(engine="pandas")
    t.collect(engine="pandas", options=RunOptions(optimize=False))
    assert len(runs) == 2


def test_frames_of_the_same_rows_are_the_same(tmp_path, runs):
    for rows in ([1, 2], [1, 2], [1, 3]):
        pipeline = Pipeline("test")
        assert pipeline.from_frame("f", pa.table({"a": rows})).filter(col("a") > 0).count() == 2
    assert len(runs) == 2


def test_large_frames_are_told_apart_by_the_object(monkeypatch):
    monkeypatch.setattr(result_keys, "MOST_HASHED_BYTES", 0)
    one, other = pa.table({"a": [1]}), pa.table({"a": [1]})
    keys = result_keys.FrameKeys()
    assert keys.key_of(one) == keys.key_of(one) != keys.key_of(other)


def test_a_kernel_that_changes_is_run_again(tmp_path, runs):
    written(tmp_path, {"a": [1.0, 2.0]})
    (tmp_path / "k.py").write_text('def k(a):\n    return {"y": a * 2}\n')
    steps = pipeline_in(tmp_path).elementwise_kernel("y = a * 2;", "a", {"y": "float64"}, "k.py:k")
    assert steps.select("y").collect(engine="pandas").to_arrow().to_pylist() == [{"y": 2.0}, {"y": 4.0}]
    steps.select("y").collect(engine="pandas")
    (tmp_path / "k.py").write_text('def k(a):\n    return {"y": a * 3}\n')
    assert steps.select("y").collect(engine="pandas").to_arrow().to_pylist() == [{"y": 3.0}, {"y": 6.0}]
    assert len(runs) == 2


def test_the_least_recently_used_rows_go_first():
    rows = KeptRows(pa.table({"a": range(100)}), True)
    cache = ResultCache(limit=2_000)
    for key in ("one", "two"):
        cache.keep(key, rows)
    cache.find("one")
    cache.keep("three", rows)
    assert [key for key in ("one", "two", "three") if cache.find(key)] == ["one", "three"]
    assert repr(cache) == "<ResultCache: 1.6 kB of 2.0 kB in 2 results>"


def test_the_limit_holds_for_what_is_kept_and_for_what_comes():
    rows = KeptRows(pa.table({"a": range(100)}), True)
    cache = ResultCache()
    cache.keep("one", rows)
    cache.limit = "100 B"
    cache.keep("two", rows)
    assert len(cache) == 0
    assert cache.limit == 100


@pytest.mark.parametrize("limit", [-1, "much", None, "-1 GB"])
def test_a_wrong_limit_is_an_error(limit):
    with pytest.raises(InvalidPipeline, match="the limit of the result cache takes bytes or a size"):
        ResultCache().limit = limit


def test_a_few_rows_of_a_large_table_keep_no_more_memory_than_theirs():
    cache = ResultCache()
    cache.keep("few", KeptRows(pa.table({"a": range(100_000)}).slice(5, 3), False))
    found = cache.find("few")
    assert found.table.to_pylist() == [{"a": 5}, {"a": 6}, {"a": 7}]
    assert cache.used < 1_000


def test_first_rows_serve_for_fewer_ones_and_no_more(tmp_path, runs):
    written(tmp_path, {"a": [1, 2, 3, 4]})
    t = pipeline_in(tmp_path).filter(col("a") > 0)
    assert [len(t.head(n)) for n in (3, 2, 4, 9, 5)] == [3, 2, 4, 4, 4]
    assert len(runs) == 3


def test_clear_cache_forgets(tmp_path, runs):
    written(tmp_path, {"a": [1, 2, 3]})
    t = pipeline_in(tmp_path)
    t.collect()
    assert "in 1 result" in repr(t.pipeline)
    t.pipeline.clear_cache()
    t.collect()
    assert len(runs) == 2


def test_results_of_a_run_in_a_notebook_are_kept(tmp_path, runs, monkeypatch, local_engine):
    monkeypatch.setattr(pipeline_module, "in_notebook", lambda: True)
    written(tmp_path, {"a": [1, 2, 3]})
    t = pipeline_in(tmp_path)
    big = t.filter(col("a") > 1).expect(not_null="a").stage("big")
    big.write_parquet("out", "out.parquet")
    t.pipeline.run(engine=local_engine, write=False)
    assert big.collect(engine=local_engine).to_arrow().to_pylist() == [{"a": 2}, {"a": 3}]
    assert runs == []
    written(tmp_path, {"a": [2, 3, 4]})
    assert len(big.collect(engine=local_engine)) == 3
    assert len(runs) == 1


def test_a_run_in_a_script_keeps_nothing(tmp_path):
    written(tmp_path, {"a": [1, 2, 3]})
    pipeline_in(tmp_path).filter(col("a") > 1).stage("big").pipeline.run()
    assert len(result_cache) == 0
