"""Progress where no terminal is."""

from gpuetl.cli import progress_lines
from gpuetl.cli.progress_lines import ProgressLines
from gpuetl.telemetry.origin import Origin


def test_a_long_run_prints_a_line_now_and_then(monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr(progress_lines.time, "monotonic", lambda: now[0])
    progress = ProgressLines(lines.append)
    origin = Origin("stage", "clean")
    for second in range(0, 100, 10):
        now[0] = float(second)
        progress(origin, second, 100)
    assert lines == [
        "  after 30.0 s: stage clean: 30 of 100 partitions",
        "  after 1 min 00 s: stage clean: 60 of 100 partitions",
        "  after 1 min 30 s: stage clean: 90 of 100 partitions",
    ]


def test_one_partition_is_not_counted(monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr(progress_lines.time, "monotonic", lambda: now[0])
    progress = ProgressLines(lines.append)
    now[0] = 45.0
    progress(Origin("sink", "out"), 0, 1)
    assert lines == ["  after 45.0 s: sink out"]
