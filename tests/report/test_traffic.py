"""Which bytes a stage had to move over which link, on every engine; and how near it came to what the link carries."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from command import gpuetl
from gpuetl import RunOptions, col, count
from gpuetl.engines.measured_limits import machine_name, save_limits
from gpuetl.report.limits import limit_of
from gpuetl.telemetry.hardware_limits import HardwareLimits, LinkLimit
from tables import table

FILES = Path(__file__).parent.parent / "kernel_files"
ROWS = table({"k": "int64", "x": "int64", "y": "int32"}, *((i % 2, i, i) for i in range(6)))
"""Six rows of 20 bytes."""


def near(expected):
    """Pandas' columns may have masks of validity, of a bit a row, also where nothing is null."""
    return {link: pytest.approx(count, abs=4) for link, count in expected.items()}


@pytest.fixture
def memory(engine):
    """The link within the memory of the engine's frames."""
    return "host memory" if engine in ("pandas", "dask") else "device memory"


@pytest.fixture
def rows(pipeline):
    """The rows as a frame, without masks of validity, which readers of files may make."""
    return pipeline.from_frame("t", ROWS)


@pytest.fixture
def moved(pipeline, engine):
    """Returns what the stage `s` moved, as written: no column is left out."""

    def run(steps, partition_rows=None):
        name = steps.named()
        report = pipeline.run(engine=engine, keep=[name], options=RunOptions(partition_rows, optimize=False)).report
        return next(stage.moved for stage in report.stages if stage.name == name)

    return run


def test_a_column_is_computed_from_those_that_it_reads(rows, moved, memory):
    """The others are passed on, and a new name moves nothing."""
    assert moved(rows.with_columns(z=col("x") + 1)) == near({memory: 6 * (8 + 8)})


def test_names_move_nothing(rows, moved, memory):
    """Nor do columns that are left out."""
    assert sum(moved(rows.rename({"x": "z"}).drop("y")).values()) == 0


def test_a_filter_reads_all_and_writes_what_it_keeps(rows, moved, memory):
    """Of each column."""
    assert moved(rows.filter(col("x") > 3)) == {memory: (6 + 2) * 20}


def test_a_window_over_rows_in_order_adds_its_column(rows, moved, memory):
    """It reads the keys and its argument; the rows of the first window are put in order."""
    steps = rows.window(by="k", order_by="x", total=col("x").cum_sum())
    assert moved(steps) == {memory: 6 * (20 + 28)}
    again = steps.stage("first").window(by="k", order_by="x", again=col("x").cum_sum())
    report = again.stage("second").pipeline.run(engine="pandas").report
    assert report.stages[-1].moved == {"host memory": 6 * (16 + 8)}


def test_a_scan_kernel_moves_the_rows_that_it_puts_in_order(rows, moved, memory, pipeline):
    """All columns, as a window does."""
    shutil.copy(FILES / "strings.py", pipeline.root)
    texts = {"combine": "product = a.product * b.product;", "identity": "product = 1;"}
    outputs, twin = {"product": "int64"}, "strings.py:running_product"
    steps = rows.scan_kernel("x", outputs, twin, **texts, by="k", order_by="x")
    assert moved(steps) == near({memory: 6 * (20 + 28)})


def test_groups_are_read_once(rows, source, moved, memory):
    """In partitions there are states to be moved, too."""
    assert moved(rows.aggregate(by="k", n=count())) == {memory: 6 * 20 + 2 * 16}
    split = moved(source(ROWS, "u").aggregate(by="k", n=count()), 2)
    assert split[memory] > 6 * 20 + 2 * 16


@pytest.fixture
def whole(pipeline, source):
    """A pipeline with a sink."""
    source(ROWS).filter(col("k") == 1).stage("s").write_parquet("out", "out.parquet")
    return pipeline


def test_sources_and_sinks_move_files(whole, engine):
    """Bytes of files, and of frames where they cross from one memory to the other."""
    report = whole.run(engine=engine, keep=[]).report
    source, sink = report.stages[0], report.stages[-1]
    written = {"host to file": (whole.root / "out.parquet").stat().st_size}
    assert source.file_bytes > 0
    if engine in ("pandas", "dask"):
        assert source.moved["file to host"] == source.file_bytes
        assert 120 <= source.moved["host memory"] - source.file_bytes <= 130  # with masks of validity
        assert sink.moved == written
    else:
        assert source.moved == {"file to device": source.file_bytes, "device memory": source.file_bytes + 120}
        assert sink.moved == {"device to host": written["host to file"], **written}  # as it was encoded there


def test_csv_comes_from_a_file_and_a_frame_from_the_host(pipeline, engine):
    """A frame that is there already moves nothing."""
    (pipeline.root / "t.csv").write_text("x\n1\n2\n")
    pipeline.read_csv("csv", "t.csv", schema={"x": "int64"})
    pipeline.from_frame("frame", pa.table({"x": [1, 2]}))
    report = pipeline.run(engine=engine, keep=["csv", "frame"]).report
    csv, frame = (stage.moved for stage in report.stages)
    on_host = engine in ("pandas", "dask")
    read, memory = ("file to host", "host memory") if on_host else ("file to device", "device memory")
    assert {**csv, memory: 22} == {read: 6, memory: 22}
    assert 22 <= csv[memory] <= 23
    assert frame == ({} if on_host else {"host to device": 16})


CEILINGS = HardwareLimits("this machine", (
    LinkLimit("host to file", "1 thread", 100, 1.0), LinkLimit("host to file", "4 threads", 400, 1.0),
    LinkLimit("host memory", "1 thread", 1000, 1.0), LinkLimit("host memory", "4 threads", 4000, 1.0),
    LinkLimit("file to host", "4 threads", 1000, 2.0),
))  # fmt: skip


def test_the_slowest_link_limits():
    """What it needs alone, as a share of the time that was taken."""
    limit = limit_of({"host memory": 8000, "file to host": 500}, 4.0, CEILINGS)
    assert (limit.link, limit.bytes_per_s, limit.seconds, limit.share) == ("host memory", 4000, 2.0, 0.5)
    assert str(limit) == "host memory, 50 % of 4.0 kB/s"
    assert str(limit_of({"host memory": 8}, 4.0, CEILINGS)) == "host memory, < 1 % of 4.0 kB/s"


def test_seconds_of_all_writers_are_compared_with_one():
    """They are a sum over threads."""
    assert limit_of({"host to file": 200}, 8.0, CEILINGS).share == 0.25


def test_nothing_is_said_of_links_that_were_not_measured():
    """Nor where nothing moved, or no time was taken."""
    assert limit_of({"host memory": 8, "device to host": 8}, 1.0, CEILINGS) is None
    assert limit_of({"host memory": 0}, 1.0, CEILINGS) is None
    assert limit_of({"host memory": 8}, 0.0, CEILINGS) is None
    assert limit_of({"host memory": 8}, 1.0, None) is None


def test_the_command_shows_kept_limits_and_else_how_to_measure_them(whole, tmp_path, monkeypatch):
    """Of a profiled run on the terminal, of every run in the report."""
    monkeypatch.setenv("GPUETL_KERNEL_CACHE", str(tmp_path / "cache"))
    whole.to_yaml(tmp_path / "p.yaml")
    whole.root.joinpath("out.parquet").unlink(missing_ok=True)
    run = ("run", tmp_path / "p.yaml", "--engine", "pandas", "--report")
    first = gpuetl(*run, tmp_path / "r.json", "--measure-memory")
    assert (
        "note: run `gpuetl bench device` once, and reports compare stages with the limits of this machine"
        in first.stdout
    )
    assert [stage["limit"] for stage in json.loads((tmp_path / "r.json").read_text())["stages"]] == [None] * 3
    save_limits(HardwareLimits(machine_name("CPU"), CEILINGS.measured))
    whole.root.joinpath("out.parquet").unlink()
    plain = gpuetl(*run, tmp_path / "r.json")
    assert "limited by" not in plain.stdout
    stage = json.loads((tmp_path / "r.json").read_text())["stages"][1]
    assert stage["moved"]["host memory"] >= 180
    assert set(stage["limit"]) == {"link", "bytes_per_s", "seconds", "share"}
    whole.root.joinpath("out.parquet").unlink()
    profiled = gpuetl(*run, tmp_path / "r.html", "--measure-memory")
    assert "limited by" in profiled.stdout
    assert "% of 4.0 kB/s" in profiled.stdout
    assert "limited by" in (tmp_path / "r.html").read_text()
