"""A frame of the cudf engine has fewer than 2^31 rows: more are refused, and no row's number wraps around."""

import pytest

from conftest import COMPILER, ON_CPU
from gpuetl import RunFailed, RunOptions, col, expr
from gpuetl.engines.cudf.columns import frame
from tables import table

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
REFUSED = "would have 6 rows.*, and a frame holds 5"
EACH_TWO = RunOptions(partition_rows=2)


@pytest.fixture
def rows(source, monkeypatch):
    """Six rows in three row groups, where a frame holds five."""
    monkeypatch.setattr(frame, "MAX_ROWS", 5)
    return source(table({"k": "int64", "s": "string"}, *((place, f"{place}") for place in range(6))))


def run(pipeline, stage, options):
    """Run a stage on the engine."""
    return pipeline.run(engine=ON_CPU, keep=stage, options=options)[stage].to_arrow()


def test_a_partition_of_more_rows_is_refused_before_it_is_read(pipeline, rows):
    rows.filter(expr("k >= 0")).stage("out")
    with pytest.raises(RunFailed, match=REFUSED):
        run(pipeline, "out", RunOptions(partition_rows=6))


def test_rows_that_must_meet_are_refused(pipeline, rows):
    """As a median of all of them; of smaller partitions each is computed."""
    rows.aggregate(m=expr("median(k)")).stage("out")
    with pytest.raises(RunFailed, match=REFUSED):
        run(pipeline, "out", EACH_TWO)


def test_keys_of_both_sides_of_a_join_that_are_compared_together_are_refused(pipeline, rows):
    """Texts, which are numbered together, where each side alone has few enough."""
    rows.join(rows.filter(expr("k < 4")).select("s", r=col("k")), on="s").stage("out")
    with pytest.raises(RunFailed, match=REFUSED):
        run(pipeline, "out", RunOptions(partition_rows=2, broadcast_bytes=1 << 20, skip_passes=("string_codes",)))


def test_rows_that_need_not_meet_are_not_refused(pipeline, rows):
    rows.aggregate(n=expr("count(*)"), s=expr("sum(k)")).stage("out")
    assert run(pipeline, "out", EACH_TWO).to_pylist() == [{"n": 6, "s": 15}]
