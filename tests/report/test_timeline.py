"""When what was at work: intervals of tracks, from this process and from workers."""

import pytest

from gpuetl import RunFailed, RunOptions, col, count, expr
from gpuetl.telemetry.timeline import MOST_INTERVALS, Intervals, Timeline, Track, TrackReport
from tables import table


def test_intervals_that_touch_are_one():
    found = Intervals()
    for start, end in ((0.0, 1.0), (1.00005, 2.0), (3.0, 4.0), (3.5, 3.6)):
        found.add(start, end)
    assert found.found == [(0.0, 2.0), (3.0, 4.0)]


def test_a_track_keeps_a_few_hundred_intervals():
    """Whatever the number of partitions; the first and last time stay."""
    found = Intervals()
    for place in range(10_000):
        found.add(place * 1.0, place + 0.5)
    assert len(found.found) <= MOST_INTERVALS
    assert (found.found[0][0], found.found[-1][1]) == (0.0, 9999.5)


def test_threads_of_one_track_are_laid_over_each_other():
    timeline = Timeline(start_s=10.0, start_unix=1000.0)
    timeline.add(Track("source", "t"), 12.0, 13.0)
    timeline.add(Track("source", "t"), 11.0, 12.5)
    assert timeline.report() == (TrackReport("source", "t", ((1.0, 3.0),)),)
    assert timeline.report()[0].busy_s == 2.0


def test_timelines_of_workers_are_laid_over_that_of_the_run():
    """By the time since 1970."""
    timeline = Timeline(start_s=10.0, start_unix=1000.0)
    timeline.add_reports((TrackReport("stage", "s", ((0.5, 1.0),)),), start_unix=1002.0)
    assert timeline.report() == (TrackReport("stage", "s", ((2.5, 3.0),)),)


@pytest.fixture
def counted(source):
    rows = source(table({"k": "string", "x": "int64"}, ("a", 1), ("b", 2), ("a", 3)))
    kept = rows.filter(col("x") > 0).stage("kept")
    kept.aggregate(by="k", n=count()).write_parquet("out", "out", mode="overwrite")


def test_a_report_has_phases_sources_stages_and_sinks_in_order(counted, pipeline, engine):
    report = pipeline.run(engine=engine, options=RunOptions(partition_rows=2)).report
    tracks = {(track.kind, track.name): track.intervals for track in report.timeline}
    assert {
        ("phase", "plan"),
        ("phase", "run"),
        ("phase", "commit"),
        ("source", "t"),
        ("stage", "kept"),
        ("sink", "out"),
    } <= set(tracks)
    starts = [tracks[key][0][0] for key in (("phase", "plan"), ("phase", "run"), ("stage", "kept"))]
    assert starts == sorted(starts)
    for intervals in tracks.values():
        ends = [time for interval in intervals for time in interval]
        assert ends == sorted(ends)
        assert ends[-1] <= report.duration_s + 0.5  # clocks of workers


def test_a_run_that_fails_has_the_timeline_until_then(source, pipeline, engine):
    rows = source(table({"x": "int64"}, (1,), (300,)))
    rows.with_columns(y=expr("CAST(x AS int8)")).stage("narrow")
    with pytest.raises(RunFailed) as failed:
        pipeline.run(engine=engine)
    report = failed.value.report
    assert {("phase", "plan"), ("source", "t"), ("stage", "narrow")} <= {
        (one.kind, one.name) for one in report.timeline
    }
    assert [stage.rows_out for stage in report.stages if stage.kind == "source"] == [2]
    assert (report.failure.relation, report.failure.name, report.failure.step) == ("stage", "narrow", 1)
