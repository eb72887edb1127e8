"""What a recorder makes of waiting for kernels."""

from gpuetl.telemetry.recorder import Recorder, compiling, recording


def test_waiting_for_kernels_is_taken_out_of_the_run_and_reported_where_it_was_long():
    """Waits of several threads are no longer than the run."""
    recorder, seconds = Recorder(), {"plan": 0.5, "run": 4.0}
    with recording(recorder):
        for _ in range(2):
            with compiling():
                pass
        recorder.compile_seconds = 9.0
    recorder.note_compilation(seconds)
    assert seconds == {"plan": 0.5, "run": 0.0, "compile": 4.0}
    assert recorder.notes == [
        "2 kernels were compiled, for which the run waited 4.0 s; later runs take them from the cache"
    ]


def test_a_run_that_compiles_nothing_has_no_such_phase():
    """As those of the pandas engine."""
    recorder, seconds = Recorder(), {"run": 4.0}
    recorder.note_compilation(seconds)
    assert seconds == {"run": 4.0}
    assert recorder.notes == []
