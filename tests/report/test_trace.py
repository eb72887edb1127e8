"""The timeline of a run: trace events that Perfetto opens, of phases, stages, threads that write, and kernels."""

import json

import pytest

from command import gpuetl
from gpuetl import InvalidPipeline, RunFailed, RunOptions, col
from gpuetl.engines.registry import is_clustered
from gpuetl.telemetry.trace import Trace, span
from tables import table


@pytest.fixture
def traced(pipeline, engine, source, tmp_path):
    """Runs a pipeline with a window and a sink; returns its events by track, without and with a profile."""
    if is_clustered(engine):
        pytest.skip("the timeline of a run on a cluster is its driver's")
    rows = source(table({"k": "int64", "x": "int64"}, *((i % 2, i) for i in range(6))))
    rows.window(by="k", order_by="x", total=col("x").cum_sum()).stage("totals").write_parquet(
        "out", "out.parquet", mode="overwrite"
    )

    def run(profile=False, **options):
        path = tmp_path / "trace.json"
        pipeline.run(engine=engine, keep=[], options=RunOptions(trace=path, profile=profile, **options))
        return by_track(path)

    return run


def by_track(path):
    """Return the events of each track, after a look at each."""
    events = json.loads(path.read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    tracks = {name: [] for name in names.values()}
    for event in events:
        if event["ph"] == "M":
            continue
        assert event["ph"] == "X"
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        assert isinstance(event["pid"], int)
        tracks[names[event["tid"]]].append(event)
    assert len({event["pid"] for event in events}) == 1
    return tracks


def names(events, category):
    return [event["name"] for event in events if event["cat"] == category]


def test_phases_and_stages_have_their_tracks(traced):
    """A stage holds its operations; phases follow each other."""
    tracks = traced()
    assert names(tracks["run"], "phase") == ["plan", "load", "optimize", "run", "commit"]
    assert names(tracks["source t"], "operation") == ["Read"]
    assert names(tracks["stage totals"], "stage") == ["stage totals"]
    assert names(tracks["stage totals"], "operation") == ["Window"]
    assert names(tracks["sink out"], "operation") == ["Write"]


def test_partitions_are_operations_of_one_stage(traced):
    """Each is shown, inside of the stage; what was read ahead has a track for each thread, for it overlaps others."""
    tracks, count = traced(partition_rows=2), 0
    for stage, *operations in (events for track, events in tracks.items() if track.startswith("source t")):
        assert len(operations) == stage["args"]["operations"]
        count += len(operations)
        for event in operations:
            assert stage["ts"] <= event["ts"]
            assert event["ts"] + event["dur"] <= stage["ts"] + stage["dur"] + 1e-3
    assert count == 3


def test_events_of_a_track_lie_beside_or_inside_each_other(traced):
    """As viewers want them."""
    for events in traced(profile=True, partition_rows=2).values():
        open_until = []
        for event in events:
            while open_until and open_until[-1] <= event["ts"] + 1e-3:
                open_until.pop()
            end = event["ts"] + event["dur"]
            assert not open_until or end <= open_until[-1] + 1e-3
            open_until.append(end)


def test_threads_that_write_files_have_tracks(traced):
    """With an event a file."""
    writers = [events for track, events in traced().items() if track.startswith("gpuetl-writer")]
    assert [names(events, "file") for events in writers] == [["write out"]]


def kernels(tracks):
    """Return the kernels of all tracks, also of threads that encode files, in the order of their begin."""
    found = [event for events in tracks.values() for event in events if event["cat"] == "kernel"]
    return sorted(found, key=lambda event: event["ts"])


def test_kernels_are_shown_when_they_are_loaded_and_launched(traced, engine):
    """On the host's clock; of a profiled run also when the device worked."""
    tracks = traced()
    launched = sorted(event["name"] for event in kernels(tracks))
    assert "device" not in tracks
    profiled = traced(profile=True)
    if engine == "pandas":
        assert launched == []
        assert "device" not in profiled
        return
    assert "scan" in launched
    assert any("scan" in name for name in names(tracks["run"], "load"))
    on_device = kernels({track: profiled.pop(track) for track in list(profiled) if track.startswith("device")})
    assert sorted(event["name"] for event in on_device) == launched
    for event, called in zip(on_device, kernels(profiled), strict=True):
        assert event["args"] == called["args"]
        assert engine == "cudf" or event["ts"] <= called["ts"] <= event["ts"] + event["dur"]


def test_a_run_that_fails_is_traced_too(source, pipeline, engine, tmp_path):
    """To where it came."""
    if is_clustered(engine):
        pytest.skip("the timeline of a run on a cluster is its driver's")
    source(table({"x": "int64"}, (2**62,))).with_columns(y=col("x") * 4).stage("wrong")
    path = tmp_path / "trace.json"
    with pytest.raises(RunFailed):
        pipeline.run(engine=engine, options=RunOptions(trace=path, profile=True))
    tracks = by_track(path)
    assert names(tracks["stage wrong"], "operation") == ["Project"]
    assert "commit" not in names(tracks["run"], "phase")


def test_a_place_that_is_none_is_refused_before_the_run(tmp_path):
    """Not after it, when its results would be lost."""
    with pytest.raises(InvalidPipeline, match="option trace: there is no folder"):
        RunOptions(trace=tmp_path / "none" / "t.json")


def test_without_a_trace_nothing_is_kept(pipeline, source):
    """Of the run before neither."""
    source(table({"x": "int64"}, (1,)))
    pipeline.run(engine="pandas", keep=["t"])
    with span("alone", "operation"):
        pass
    assert Trace().to_dict() == {"traceEvents": [], "displayTimeUnit": "ms"}


def test_the_command_writes_it(source, pipeline, tmp_path):
    """And refuses a place that cannot be written before it runs."""
    source(table({"x": "int64"}, (1,))).limit(1).stage("s")
    pipeline.to_yaml(tmp_path / "p.yaml")
    done = gpuetl("run", tmp_path / "p.yaml", "--engine", "pandas", "--trace", tmp_path / "t.json")
    assert done.exit_code == 0, done.output
    assert names(by_track(tmp_path / "t.json")["source t"], "operation") == ["Read"]
    assert gpuetl("run", tmp_path / "p.yaml", "--trace", tmp_path / "none" / "t.json").exit_code == 2
