"""Warnings that count: those of parts of a file become one."""

import pickle

from gpuetl.telemetry.counted_warning import Count, CountedWarning
from gpuetl.telemetry.recorder import Recorder


def warning(*counts, about="source 's': s.csv"):
    return CountedWarning("GE1706", about, counts)


def test_counts_of_parts_add_up_and_examples_are_those_of_the_first_parts():
    recorder = Recorder()
    recorder.warn(warning(Count("x", 50, 4, ("line 51", "line 52", "line 53"))))
    recorder.warn(warning(Count("y", 20, 1, ("line 21",))))
    recorder.warn(warning(Count("x", 2, 1, ("line 3",))))
    assert recorder.warnings == ["source 's': s.csv: x: 5 (line 3, line 51, line 52, …); y: 1 (line 21)"]


def test_a_part_that_is_read_twice_counts_once():
    recorder = Recorder()
    for _ in range(2):
        recorder.warn(warning(Count("x", 2, 3, ("line 3",))))
    assert recorder.warnings == ["source 's': s.csv: x: 3 (line 3, …)"]


def test_warnings_of_other_things_and_plain_ones_stay_apart():
    recorder = Recorder()
    recorder.warn(warning(Count("x", 2, 1, ("line 3",))))
    recorder.warn("source 's': s.csv: x")
    recorder.warn(warning(Count("x", 2, 1, ("line 3",)), about="source 't': s.csv"))
    assert len(recorder.warnings) == 3


def test_a_group_is_named_once():
    found = warning(Count("a", 2, 1, ("1",), "null"), Count("rows", 2, 1, ("2",)), Count("b", 9, 1, ("3",), "null"))
    assert found == "source 's': s.csv: null: a: 1 (1); b: 1 (3); rows: 1 (2)"


def test_counts_travel_between_processes():
    there = pickle.loads(pickle.dumps(warning(Count("x", 2, 1, ("line 3",)))))
    assert there.merged(warning(Count("x", 5, 1, ("line 6",)))) == "source 's': s.csv: x: 2 (line 3, line 6)"
    assert there.code == "GE1706"
