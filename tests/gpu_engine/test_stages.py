"""What a run asks of the device, it asks in stages: there it has streams of its own, and is done at the end."""

import threading
from contextlib import contextmanager
from itertools import cycle

import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpuetl import Pipeline, col, expr
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.types.schema import Schema
from small_pipelines import OPTIONS, PIPELINES, SPILLS, answers, pipeline_of
from tables import write_source

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ASKED = ("host", "launch", "launch_blocks", "to_host", "from_host", "sorted_order", "string_ranks", "read_parquet")
"""What a machine is asked to do on its device."""
SLOW = 'extern "C" __global__ void slow(volatile long long* turns) { while (*turns < 1 << 20) ++*turns; }'
SPIN = """
extern "C" __global__ void spin(long long* turns) { for (long long end = clock64() + 6000000000; clock64() < end;) ++*turns; }
"""


class Asked:
    """What was asked for, and the kind of work of the stage in which that was; nothing where it was in none."""

    def __init__(self, monkeypatch, machine):
        self.here, self.found, self.stages = threading.local(), [], []
        stage = machine.stage

        @contextmanager
        def marked(machine, name, work="computing"):
            self.stages.append(name)
            before, self.here.work = getattr(self.here, "work", None), work
            try:
                with stage(machine, name, work):
                    yield
            finally:
                self.here.work = before

        monkeypatch.setattr(machine, "stage", marked)
        for name in ASKED:
            monkeypatch.setattr(machine, name, self.told(name, getattr(machine, name)))

    def told(self, name, asked):
        def call(machine, *arguments):
            self.found.append((name, getattr(self.here, "work", None)))
            return asked(machine, *arguments)

        return call


@pytest.mark.part(3)
@needs_compiler
@pytest.mark.usefixtures("encoded_on_device")
@pytest.mark.parametrize("options", [OPTIONS, SPILLS], ids=["", "spilled"])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_run_asks_for_nothing_outside_of_stages(monkeypatch, tmp_path, name, options):
    """Whatever its operations, exchanges and sinks are, and where frames that wait are spilled."""
    asked = Asked(monkeypatch, HostMachine)
    pipeline = pipeline_of(name, tmp_path)
    answers(pipeline, ON_CPU, options)
    assert {work for _, work in asked.found} == {
        "reading",
        "computing",
        *(["writing"] if pipeline.plan().sinks else []),
    }
    assert [name for name, work in asked.found if work is None] == []


@needs_compiler
@pytest.mark.usefixtures("encoded_on_device")
def test_rows_are_dealt_out_to_folders_in_a_stage(monkeypatch, tmp_path):
    """By the engine, which then writes each value's files."""
    asked = Asked(monkeypatch, HostMachine)
    pipeline = Pipeline("folders", root=tmp_path)
    rows = write_source(pipeline, "t", pa.table({"k": [1, 2, 1, 3] * 3, "x": [0.5, None, 2.0, 1.0] * 3}))
    rows.filter(col("x") > 0).stage("rows").write_parquet("out", "out", partition_by="k")
    answers(pipeline, ON_CPU)
    assert "sink 'out': split" in asked.stages
    assert "writing" in {work for _, work in asked.found}
    assert [name for name, work in asked.found if work is None] == []


def streams_of_a_run(monkeypatch, tmp_path):
    """Run over several partitions; return the streams by the kind of work, and those on which kernels were begun."""
    cupy = pytest.importorskip("cupy")
    from gpuetl.engines.cudf.runtime.gpu_machine import GpuMachine, machine

    begun, launch = {}, GpuMachine.launch_blocks

    def told(machine, module, entry, blocks, threads, arguments):
        begun.setdefault(cupy.cuda.get_current_stream().ptr, set()).add(entry)
        launch(machine, module, entry, blocks, threads, arguments)

    monkeypatch.setattr(GpuMachine, "launch_blocks", told)
    pipeline = Pipeline("streams", root=tmp_path)
    rows = write_source(pipeline, "t", pa.table({"k": [1, 2, 1, 3] * 3, "x": [0.5, None, 2.0, 1.0] * 3}))
    rows.filter(col("x") > 0).aggregate("k", x=expr("sum(x)")).stage("sums").write_parquet("out", "out")
    pipeline.run(engine="cudf", options=OPTIONS)
    streams = machine().streams
    kinds = {work: {next(streams[work]).ptr for _ in range(4)} for work in ("reading", "computing", "writing")}
    return kinds, begun


@pytest.mark.gpu
@pytest.mark.usefixtures("encoded_on_device")
def test_no_kernel_goes_to_the_default_stream(monkeypatch, tmp_path):
    """All other work would wait for it there, and it for all other work."""
    kinds, begun = streams_of_a_run(monkeypatch, tmp_path)
    assert 0 not in begun
    assert begun.keys() & kinds["computing"]
    assert begun.keys() & kinds["writing"]
    assert len(kinds["reading"]) == 4
    assert not kinds["reading"] & (kinds["computing"] | kinds["writing"])


@pytest.mark.gpu
@pytest.mark.usefixtures("encoded_on_device")
def test_a_run_does_not_wait_for_the_default_stream(monkeypatch, tmp_path):
    """Where the engine's streams are not ordered with it; KvikIO's are, so what is read is in memory."""
    cupy = pytest.importorskip("cupy")
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    pipeline = Pipeline("waits", root=tmp_path)
    rows = pipeline.from_frame("t", pa.table({"k": ["a", "b", "a", None] * 9, "x": [0.5, None, 2.0, 1.0] * 9}))
    ranked = rows.window("k", "x", n=expr("row_number()")).sort("x desc", "n").stage("ranked")
    ranked.aggregate("k", x=expr("sum(x)"), n=expr("max(n)")).stage("sums")
    ranked.write_parquet("out", "out", mode="overwrite")
    expected = answers(pipeline, "cudf", SPILLS)  # loads kernels, for which a device may wait
    apart = {work: cycle([cupy.cuda.Stream(non_blocking=True)]) for work in machine().streams}
    monkeypatch.setattr(machine(), "streams", apart)
    turns, done = cupy.zeros(1, "int64"), cupy.cuda.Event()
    cupy.RawKernel(SPIN, "spin")((1,), (1,), (turns,))
    done.record()
    assert answers(pipeline, "cudf", SPILLS) == expected
    assert not done.done
    done.synchronize()


@pytest.mark.gpu
def test_a_stage_that_fails_has_waited_for_the_device():
    """Who frees what it took need not know its stream."""
    cupy = pytest.importorskip("cupy")
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    slow = cupy.RawKernel(SLOW, "slow")
    turns, done = cupy.zeros(1, "int64"), cupy.cuda.Event()

    def broken_off():
        with machine().stage("slow"):
            slow((1,), (1,), (turns,))
            done.record()
            raise ValueError("broken off")

    with pytest.raises(ValueError, match="broken off"):
        broken_off()
    assert done.done


@needs_compiler
def test_a_frame_comes_and_goes_in_stages(monkeypatch):
    """Also apart from a run."""
    asked = Asked(monkeypatch, HostMachine)
    backend = CudfBackend(HostMachine())
    frame = backend.from_arrow(pa.table({"k": ["a", None, "b"], "x": [1, 2, 3]}))
    one, other = backend.split_by_hash(frame, ["x"], 2)
    whole = backend.concat([one, other], Schema({"k": pa.string(), "x": pa.int64()}))
    assert sorted(backend.to_arrow(whole)["x"].to_pylist()) == [1, 2, 3]
    assert {work for _, work in asked.found} == {"computing"}
    assert asked.stages == ["from Arrow", "split by hash", "concat", "to Arrow"]
