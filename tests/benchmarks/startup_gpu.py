"""Whole processes of `gpuetl run pipelines/hello.yaml --engine cudf` next to processes that do only what they must.

`startup.py` calls this where there is a GPU.  The floor imports pylibcudf and CuPy, opens the CUDA context and reads the
same file.  Processes take turns, and files, bytecode and compiled kernels are cached by a first run of each.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
FILE = ROOT / "data" / "flights" / "flights.parquet"
COMMAND = ("run", "pipelines/hello.yaml", "--engine", "cudf")
RUNS = 7
SHOWN_IMPORTS = 30
MARKS = """
import os, sys, time
begun = float(os.environ["BEGUN"])
marks, last = [("python", time.perf_counter() - begun)], time.perf_counter()
def mark(name):
    global last
    now = time.perf_counter()
    marks.append((name, now - last))
    last = now
def read():
    import pylibcudf as plc
    options = plc.io.parquet.ParquetReaderOptions.builder(plc.io.SourceInfo([sys.argv[1]])).build()
    table = plc.io.parquet.read_parquet(options)
    cupy.cuda.runtime.deviceSynchronize()
def end():
    print(*(f"{name}={seconds:.4f}" for name, seconds in marks), flush=True)
"""
FLOOR = """
import cupy; mark("cupy")
import pylibcudf; mark("pylibcudf")
cupy.cuda.runtime.free(0); mark("context")
read(); mark("read")
end()
"""
"""Ends as Python does."""
AT_ONCE = FLOOR + "os._exit(0)\n"
CONTEXT_FIRST = """
import ctypes, threading
def context():
    cuda, device, handle = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
    begin = time.perf_counter()
    cuda.cuInit(0)
    middle = time.perf_counter()
    cuda.cuDeviceGet(ctypes.byref(device), 0)
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(handle), device)
    marks.extend([("(cuInit", middle - begin), ("retain)", time.perf_counter() - middle)])
thread = threading.Thread(target=context); thread.start()
"""
JOINED = """
thread.join(); mark("join context")
read(); mark("read")
end(); os._exit(0)
"""
IMPORTS = """
import cupy; mark("cupy")
import pylibcudf; mark("pylibcudf")
"""
FLOORS = {
    "floor": FLOOR,
    "floor, ends at once": AT_ONCE,
    "floor, context on a thread": CONTEXT_FIRST + IMPORTS + JOINED,
}
PHASES = """
import atexit, functools, json, os, threading, time
begun = float(os.environ["BEGUN"])
events = [("python", "main", 0.0, time.perf_counter() - begun)]
def noted(function, name):
    @functools.wraps(function)
    def call(*arguments, **named):
        start = time.perf_counter() - begun
        try:
            return function(*arguments, **named)
        finally:
            track = threading.current_thread().name
            events.append((name, track, start, time.perf_counter() - begun))
    return call
def imported(name):
    return noted(__import__, name)(name, fromlist=["x"])
def patched(module, *names):
    module = imported(module)
    for name in names:
        if hasattr(module, name):
            setattr(module, name, noted(getattr(module, name), name))
def written():
    with open(os.environ["PHASES"], "w") as file:
        json.dump(events, file)
leave = os._exit
def left(status):
    events.append(("exit", "main", time.perf_counter() - begun, time.perf_counter() - begun))
    written(); leave(status)
os._exit = left
ending = imported("gpuetl.cli.ending")
ending.end_at_once = noted(ending.end_at_once, "end_at_once")
patched("gpuetl.engines.gpu_driver", "find_driver", "_retain_context")
import gpuetl.engines.registry as engines, gpuetl.engines.starting as starting
starting.Starting.found = noted(starting.Starting.found, "wait for the search")
starting.wait = noted(starting.wait, "wait for the start")
engines.load_backend = noted(engines.load_backend, "load_backend")
engines.choose_engine = noted(engines.choose_engine, "choose_engine")
steps_of = engines.starting_steps
def step_name(step):
    return str(getattr(step, "args", None) or getattr(step, "__name__", step))
def steps(found):
    phases = steps_of(found)
    return {phase: [noted(step, f"step {step_name(step)}") for step in each] for phase, each in phases.items()}
engines.starting_steps = steps
import gpuetl.cli.run as run
run.show = noted(run.show, "show")
class Watch:
    '''Notes what is imported late, when it comes up.'''
    def find_spec(self, name, path=None, target=None):
        if name == "gpuetl.pipeline": events.append(("import of pipeline begins", "main", *2 * (time.perf_counter() - begun,)))
        if name == "gpuetl.run.pipeline_run": events.append(("import of run begins", "main", *2 * (time.perf_counter() - begun,)))
import sys
sys.meta_path.insert(0, Watch())
sys.argv = ["gpuetl", *sys.argv[1:]]
ending.run_and_end()
written()
"""


def timed_process(command: list[str], **variables: str) -> tuple[float, float, str]:
    """Run a process; return its wall time, the CPU seconds of all its threads, and what it printed.

    Raises
    ------
    RuntimeError
        Where it fails.
    """
    start = time.perf_counter()
    environment = {**os.environ, "BEGUN": str(start), **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}:\n{printed}")
    return wall, used.ru_utime + used.ru_stime, printed


def measure_processes(runs: int) -> dict[str, Any]:
    """Run each process in turn, several times; print every time, then medians and the ratio to the floor."""
    commands = {name: [sys.executable, "-c", MARKS + text, str(FILE)] for name, text in FLOORS.items()}
    commands["gpuetl"] = [sys.executable, "-m", "gpuetl", *COMMAND]
    commands["gpuetl, quiet"] = [*commands["gpuetl"], "--quiet"]
    times: dict[str, list[float]] = {name: [] for name in commands}
    for run in range(-2, runs):
        for name, command in commands.items():
            try:
                wall, cpu, printed = timed_process(command)
            except RuntimeError as error:
                print(f"{name}: {error}", flush=True)
                continue
            marks = printed.strip().splitlines()[-1] if name.startswith("floor") else ""
            print(f"run {run}: {name}: {wall:.3f} s wall, {cpu:.2f} s CPU {marks}", flush=True)
            if run >= 0:
                times[name].append(wall)
    medians = {name: statistics.median(walls) for name, walls in times.items() if walls}
    for name, median in medians.items():
        ratio = median / medians["floor"]
        print(f"{name}: median {median:.3f} s, least {min(times[name]):.3f} s, {ratio:.2f} x the floor", flush=True)
    return {"times_s": times, "median_s": medians}


def show_phases() -> list[Any]:
    """Print what the process of gpuetl does when, on which thread, and the trace of its run; return the events."""
    events: list[Any] = []
    with TemporaryDirectory() as folder:
        phases, trace = Path(folder) / "phases.json", Path(folder) / "trace.json"
        for traced in ((), ("--trace", str(trace))):
            wall, _, _ = timed_process([sys.executable, "-c", PHASES, *COMMAND, *traced], PHASES=str(phases))
            events = sorted(json.loads(phases.read_text()), key=lambda event: event[2])
            print(f"phases{' of a traced run' if traced else ''}, {wall:.3f} s in all", flush=True)
            for name, track, start, end in events:
                print(f"  {start:.3f} to {end:.3f}: {end - start:.3f} s  {name}  [{track}]", flush=True)
        read: list[dict[str, Any]] = json.loads(trace.read_text())["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in read if event["ph"] == "M"}
        for event in read:
            if event["ph"] == "X":
                start, took = event["ts"] / 1e6, event["dur"] / 1e6
                track = names.get(event["tid"], "")
                print(f"  trace {start:.4f}: {took:.4f} s  {event['name']} ({event['cat']}) [{track}]", flush=True)
    return events


def show_imports(command: list[str], title: str) -> None:
    """Print the modules whose import takes longest, with and without what they import themselves."""
    _, _, printed = timed_process([sys.executable, "-X", "importtime", *command])
    rows: list[tuple[int, int, str]] = []
    for line in printed.splitlines():
        if line.startswith("import time:") and "[us]" not in line:
            own, cumulative, name = line.removeprefix("import time:").split("|")
            rows.append((int(own), int(cumulative), name.strip()))
    print(f"imports of {title}: {len(rows)} modules, {sum(own for own, _, _ in rows) / 1e6:.3f} s", flush=True)
    for what, place in (("itself", 0), ("with what it imports", 1)):
        for row in sorted(rows, key=itemgetter(place), reverse=True)[:SHOWN_IMPORTS]:
            print(f"  {(row[0], row[1])[place] / 1e3:8.1f} ms {what}: {row[2]}", flush=True)
    print("  all: " + " ".join(sorted({name for _, _, name in rows})), flush=True)


def measure_on_gpu(runs: int = RUNS) -> dict[str, Any]:
    """Measure and print everything; return the times and phases."""
    measured = measure_processes(runs)
    measured["phases"] = show_phases()
    show_imports(["-m", "gpuetl", *COMMAND, "--quiet"], "gpuetl")
    show_imports(["-c", "import cupy, pylibcudf"], "the floor")
    return measured
