"""The GPU engine is started on a thread while a pipeline is read, with a stand-in for the GPU."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpu_engine.host_machine import COMPILER
from gpuetl import pipeline
from gpuetl.engines import gpu_driver, registry, starting
from gpuetl.engines.cudf.runtime import start
from gpuetl.engines.registry import ENGINES, GpuSearch
from gpuetl.engines.starting import Phase, Starting, Step

PIPELINE = """\
gpuetl: 1
name: small
sources:
  rows: {parquet: rows.parquet}
stages:
  kept:
    from: rows
    steps: [{filter: x > 1}]
sinks:
  out: {from: kept, parquet: out.parquet}
"""
SECONDS = 30.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "rows.parquet")
    path = tmp_path / "small.yaml"
    path.write_text(PIPELINE)
    return path


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done of the start, and on which thread, where a GPU was found."""
    done: list[str] = []

    def noted(name: str) -> None:
        done.append(f"{name} on {threading.current_thread().name}")

    monkeypatch.setattr(registry, "look_for_gpu", lambda: noted("search") or GpuSearch("a GPU was found"))
    monkeypatch.setattr(gpu_driver, "open_context", lambda: noted("context"))
    phases = {phase: (partial(noted, phase.name.lower()),) for phase in Phase}
    monkeypatch.setattr(start, "STEPS", phases)
    monkeypatch.setitem(ENGINES, "cudf", replace(ENGINES["cudf"], backend=ENGINES["pandas"].backend))
    return done


def with_steps(phase: Phase, *more: Step) -> dict[Phase, tuple[Step, ...]]:
    """Return the steps of a start, with more of one phase."""
    return {each: (*steps, *(more if each == phase else ())) for each, steps in start.STEPS.items()}


def test_a_run_starts_the_engine_on_a_thread_before_the_file_is_read(
    file: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch
):
    begun, load = threading.Event(), pipeline.load

    def read_late(*arguments: object, **keys: object) -> object:
        assert begun.wait(SECONDS), "the pool is made while the file is read"
        return load(*arguments, **keys)

    monkeypatch.setattr(start, "STEPS", with_steps(Phase.WARM_UP, begun.set))
    monkeypatch.setattr(pipeline, "load", read_late)
    done = gpuetl("run", file)
    assert done.exit_code == 0, done.output
    assert "engine: cudf (a GPU was found)" in done.stdout
    expected = [f"{name} on gpuetl-start" for name in ("search", "context", "libraries", "pool", "warm_up")]
    assert [step for step in steps if step.endswith("gpuetl-start")] == expected
    assert sum(step.startswith("search") for step in steps) == 1


@pytest.mark.skipif(not COMPILER, reason="there is no C++ compiler")
@pytest.mark.parametrize("engine", ["auto", "cudf"])
def test_a_run_waits_for_the_start_before_it_uses_the_engine(
    file: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch, engine: str
):
    """On the engine's machine of the tests, made after the last step."""
    monkeypatch.setitem(ENGINES, "cudf", replace(ENGINES["cudf"], backend=f"{__name__}:engine_after_start"))
    slow = threading.Event()
    added = with_steps(Phase.POOL, lambda: slow.wait(0.3), lambda: steps.append("started"))
    monkeypatch.setattr(start, "STEPS", added)
    made_after.clear()
    made_after.append(steps)
    assert gpuetl("run", file, "-q", "--engine", engine).exit_code == 0
    assert made_after[1:] == [True]
    assert pq.read_table(file.parent / "out.parquet").to_pydict() == {"x": [2, 3]}


made_after: list[object] = []


def engine_after_start() -> object:
    from gpu_engine.host_machine import host_backend

    made_after.append("started" in made_after[0])
    return host_backend()


def test_the_engine_is_imported_when_its_libraries_are(file: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch):
    """So that these have the interpreter for themselves, and the GPU works while the engine is imported."""
    slow, waited = threading.Event(), []
    wait = starting.wait
    added = with_steps(Phase.LIBRARIES, lambda: slow.wait(0.3), lambda: steps.append("imported"))
    monkeypatch.setattr(start, "STEPS", added)
    monkeypatch.setattr(starting, "wait", lambda *phase: (wait(*phase), waited.append((*phase, "imported" in steps))))
    assert gpuetl("run", file, "-q").exit_code == 0
    assert waited[0] == (Phase.LIBRARIES, True)


def test_a_run_does_not_wait_for_the_warm_up(file: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch):
    """But where memory is limited or measured: what the warm-up takes is none of the run's."""
    ended = threading.Event()
    monkeypatch.setattr(
        start, "STEPS", with_steps(Phase.WARM_UP, lambda: ended.wait(SECONDS), lambda: steps.append("warm"))
    )
    assert gpuetl("run", file, "-q").exit_code == 0
    assert "warm" not in steps
    (file.parent / "out.parquet").unlink()
    threading.Timer(0.3, ended.set).start()
    assert gpuetl("run", file, "-q", "--memory", "1GB").exit_code == 0
    assert "warm" in steps


def test_without_a_parquet_file_nothing_is_warmed_up(file: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch):
    wait = starting.wait
    monkeypatch.setattr(start, "STEPS", with_steps(Phase.LIBRARIES, partial(threading.Event().wait, 0.5)))
    monkeypatch.setattr(starting, "wait", lambda *phase: wait(Phase.WARM_UP))
    (file.parent / "rows.csv").write_text("x\n1\n2\n")
    file.write_text(PIPELINE.replace("{parquet: rows.parquet}", "{csv: rows.csv, schema: {x: int64}}"))
    assert gpuetl("run", file, "-q").exit_code == 0
    assert [step.split()[0] for step in steps if step.endswith("gpuetl-start")] == [
        "search",
        "context",
        "libraries",
        "pool",
    ]


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_nothing_is_started_for_another_engine(file: Path, steps: list[str], engine: str):
    assert registry.begin(engine) is None
    if engine == "pandas":
        assert gpuetl("run", file, "-q", "--engine", engine).exit_code == 0
    assert steps == []


def test_nothing_is_started_without_a_file(steps: list[str], tmp_path: Path):
    assert gpuetl("run", tmp_path / "none.yaml").exit_code == 2
    assert steps == []


def test_nothing_is_imported_where_no_gpu_was_found(steps: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "look_for_gpu", lambda: GpuSearch(problem="none here", fix="Buy one"))
    begun = registry.begin("auto")
    assert begun.found().problem == "none here"
    begun.thread.join(SECONDS)
    assert steps == []


def test_a_gpu_that_is_asked_for_and_missing_is_told_as_without_a_thread(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "look_for_gpu", lambda: GpuSearch(problem="none here", fix="Buy one"))
    told = gpuetl("run", file, "--engine", "cudf")
    assert told.exit_code == 2
    assert "engine 'cudf' cannot run here: none here.\nBuy one, or run with --engine pandas." in told.stderr


def test_an_error_of_a_step_comes_up_where_the_engine_is_needed(
    file: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch
):
    """Once, on the main thread, in its own words; the file's own mistakes come first."""

    def fails() -> None:
        raise ImportError("libcudf.so: cannot open shared object file")

    never = (lambda: steps.append("never"),)
    monkeypatch.setattr(start, "STEPS", {Phase.LIBRARIES: (fails, *never), Phase.POOL: never, Phase.WARM_UP: never})
    monkeypatch.setitem(ENGINES, "cudf", replace(ENGINES["cudf"], backend=f"{__name__}:unloadable"))
    failed = gpuetl("run", file)
    assert failed.exit_code == 1
    assert failed.stderr.count("libcudf.so: cannot open shared object file") == 1
    assert "never" not in steps
    file.write_text(PIPELINE.replace("x > 1", "y > 1"))
    failed = gpuetl("run", file)
    assert failed.exit_code == 2
    assert "unknown column 'y'" in failed.stderr
    assert "libcudf" not in failed.stderr


def unloadable() -> object:
    raise ImportError("libcudf.so: cannot open shared object file")


def test_an_error_of_the_search_is_that_of_who_asks():
    begun = Starting(lambda: 1 // 0, lambda found: {})
    begun.thread.join(SECONDS)
    with pytest.raises(ZeroDivisionError):
        begun.found()


def test_a_process_that_ends_waits_for_the_current_step_alone():
    code = """
import threading
from dataclasses import replace
from gpuetl.engines.starting import Phase, Starting
entered = threading.Event()
def step():
    entered.set()
    threading.Event().wait(0.2)
    print("done", flush=True)
Starting(int, lambda found: {Phase.POOL: [step, lambda: print("never", flush=True)]})
entered.wait()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS, env=environment()
    )
    assert done.stdout == "done\n"


def environment() -> dict[str, str]:
    folders = (Path(starting.__file__).parents[2], Path(__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}


def test_the_pool_is_made_once_for_all_threads(monkeypatch: pytest.MonkeyPatch):
    """And not where a user of the library has set a resource of another kind."""
    made: list[object] = []
    default, limit = type("CudaMemoryResource", (), {}), 900
    current = [default()]
    mr = SimpleNamespace(
        CudaMemoryResource=default,
        CudaAsyncMemoryResource=lambda release_threshold: made.append(release_threshold) or "pool",
        LimitingResourceAdaptor=lambda pool, limit: (pool, limit),
        get_current_device_resource=lambda: current[0],
        set_current_device_resource=lambda resource: current.__setitem__(0, resource),
    )
    cupy = SimpleNamespace(
        cuda=SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda: (1000, 2000)), set_allocator=made.append)
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "rmm", SimpleNamespace(mr=mr))
    monkeypatch.setitem(sys.modules, "rmm.allocators", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "rmm.allocators.cupy", SimpleNamespace(rmm_cupy_allocator="allocator"))
    start._open_pool.cache_clear()
    try:
        threads = [threading.Thread(target=start.open_pool) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert made == [limit & ~255, "allocator"]
        assert current == [("pool", limit & ~255)]
        start._open_pool.cache_clear()
        current[0] = "the user's"
        start.open_pool()
        assert current == ["the user's"]
    finally:
        start._open_pool.cache_clear()
