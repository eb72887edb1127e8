"""Texts are compiled by processes, and where that gives nothing by who asks."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from gpu_engine import nvrtc
from gpuetl.engines.cudf.codegen import nvrtc_processes
from gpuetl.engines.cudf.codegen.device_headers import closed_source
from gpuetl.engines.cudf.codegen.machine_code import Compiler, Target
from gpuetl.engines.cudf.codegen.nvrtc_processes import NvrtcProcess, NvrtcProcesses, loaded_library, version_of

OPTIONS = (*nvrtc.OPTIONS, "-arch=sm_90")
TEXT = 'extern "C" __global__ void k(int* x) { *x = 1; }'
needs_nvrtc = pytest.mark.skipif(
    nvrtc.library() is None, reason="needs NVIDIA's runtime compiler: nvidia-cuda-nvrtc-cu12"
)


def library():
    """Return the compiler's file."""
    return nvrtc.library()._name


@pytest.fixture
def processes():
    """Processes that have ended after the test."""
    made = NvrtcProcesses(library)
    yield made
    made.end()
    patience = time.monotonic() + 5
    while made.started and time.monotonic() < patience:  # a timer's thread may be ending one
        time.sleep(0.01)
    assert not made.started


def has_ended(pid):
    """Tell whether a process ends within ten seconds."""
    for _ in range(1000):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@needs_nvrtc
def test_a_text_is_compiled_into_machine_code(processes):
    """By one process, one text after another."""
    codes = [processes.compiled(TEXT, OPTIONS) for _ in range(2)]
    assert codes[0].startswith(b"\x7fELF")
    assert codes[0] == codes[1]
    assert len(processes.started) == 1


@needs_nvrtc
@pytest.mark.parametrize("program", ["chunks", "pairs"])
def test_the_options_of_a_process_give_the_same_machine_code(processes, program):
    target = Target("sm_90", Compiler.of(version_of(library()), library()))
    assert target.apart_options() != target.options()
    text = closed_source(program)
    assert processes.compiled(text, target.apart_options()) == processes.compiled(text, target.options())


@needs_nvrtc
@pytest.mark.parametrize(
    ("text", "options"),
    [("no text", OPTIONS), (TEXT, (*nvrtc.OPTIONS, "-arch=sm_1"))],
    ids=["error", "unknown architecture"],
)
def test_where_nvrtc_makes_nothing_it_is_left_to_who_asks(processes, text, options):
    """The process goes on."""
    assert processes.compiled(text, options) is None
    assert processes.compiled(TEXT, OPTIONS).startswith(b"\x7fELF")
    assert len(processes.started) == 1


@needs_nvrtc
def test_a_process_says_what_nvrtc_says():
    """Of an error the compiler's log; a virtual architecture gives PTX."""
    process = NvrtcProcess(library())
    try:
        code, log = process.compiled("void f() { g(); }", OPTIONS)
        assert code == b""
        assert 'identifier "g" is undefined' in log
        code, log = process.compiled(TEXT, (*nvrtc.OPTIONS, "-arch=sm_1"))
        assert code == b""
        assert log == "nvrtc: error: invalid value for --gpu-architecture (-arch)\n"
        code, log = process.compiled(TEXT, (*nvrtc.OPTIONS, "-arch=compute_90"))
        assert b".target sm_90" in code
        assert log == ""
    finally:
        process.end()


@needs_nvrtc
def test_threads_get_their_own_answers(processes):
    """Each of a process of its own, also of machine code that no pipe holds at once."""
    names = [f"kernel_{number}" for number in range(8)]
    texts = [
        TEXT.replace("k(", f"{name}(") + f"__device__ int table_{name}[{50_000 * (place % 2) + 1}] = {{1}};"
        for place, name in enumerate(names)
    ]
    with ThreadPoolExecutor(4) as threads:
        codes = list(threads.map(lambda text: processes.compiled(text, OPTIONS), texts))
    assert [[name for name in names if name.encode() in code] for code in codes] == [[name] for name in names]
    assert len(codes[1]) > 200_000
    assert len(processes.started) <= 4


@needs_nvrtc
def test_one_that_was_killed_has_no_successor(processes):
    """Who asks compiles then."""
    processes.compiled(TEXT, OPTIONS)
    (process,) = processes.started
    process.process.kill()
    assert processes.compiled(TEXT, OPTIONS) is None
    assert processes.compiled(TEXT, OPTIONS) is None
    assert not processes.started


@needs_nvrtc
def test_others_go_on_where_one_was_killed(processes):
    """Those that are left do what they did."""
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda text: processes.compiled(text, OPTIONS), [TEXT] * 4))
    processes.failed = True
    assert processes.compiled(TEXT, OPTIONS).startswith(b"\x7fELF")


@pytest.mark.parametrize("file", [None, "/no/libnvrtc.so"])
def test_without_a_library_nothing_is_compiled(file):
    """Whether it is not known or cannot be loaded."""
    processes = NvrtcProcesses(lambda: file)
    assert processes.compiled(TEXT, OPTIONS) is None
    assert processes.failed
    assert not processes.started


def test_where_there_is_no_python_nothing_is_compiled(monkeypatch):
    """It may be a part of another program."""
    for executable in (None, "", "/no/python"):
        monkeypatch.setattr(sys, "executable", executable)
        assert NvrtcProcesses(lambda: "libnvrtc.so").compiled(TEXT, OPTIONS) is None


@needs_nvrtc
def test_the_end_ends_those_that_are_idle(processes):
    """What is expected later starts others."""
    processes.compiled(TEXT, OPTIONS)
    (process,) = processes.started
    processes.end()
    assert process.process.returncode == -signal.SIGKILL
    assert processes.compiled(TEXT, OPTIONS).startswith(b"\x7fELF")


@needs_nvrtc
def test_a_few_rest_and_end_if_nothing_is_asked_of_them(processes, monkeypatch):
    """So the next plan need not start processes."""
    monkeypatch.setattr(nvrtc_processes, "MOST_KEPT", 1)
    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda text: barrier.wait() >= 0 and processes.compiled(text, OPTIONS), [TEXT, TEXT]))
    processes.end_idle(seconds=60)
    (kept,) = processes.started
    assert processes.compiled(TEXT, OPTIONS).startswith(b"\x7fELF")
    assert processes.started == {kept}
    processes.end_idle(seconds=0.3)
    processes.compiled(TEXT, OPTIONS)  # asked of it in time
    time.sleep(0.6)
    assert processes.started == {kept}
    processes.end_idle(seconds=0.05)
    assert has_ended(kept.process.pid)


CODE = """
import os, sys, time
from gpuetl.engines.cudf.codegen.nvrtc_processes import NvrtcProcesses
processes = NvrtcProcesses(lambda: sys.argv[1])
assert processes.compiled(sys.argv[2], sys.argv[3:])
(process,) = processes.started  # as a thread that waits for its answer has it
if os.fork() == 0:
    time.sleep(20)  # longer than the test
    os._exit(0)
print(process.process.pid, flush=True)
time.sleep(20)
"""


@needs_nvrtc
def test_processes_end_with_the_one_that_started_them():
    """However it ends, and also where a process that it forked goes on; Ctrl-C in its terminal is not theirs."""
    command = [sys.executable, "-c", CODE, library(), TEXT, *OPTIONS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
        child = int(parent.stdout.readline())
        assert os.getpgid(child) != os.getpgid(parent.pid)
        parent.kill()
        assert has_ended(child)
        os.killpg(parent.pid, signal.SIGKILL)


@needs_nvrtc
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_processes_of_its_own(processes):
    """Its parent's go on for the parent."""
    code = processes.compiled(TEXT, OPTIONS)
    forked = os.fork()
    if forked == 0:
        kept = not processes.started and processes.compiled(TEXT, OPTIONS) == code
        processes.end()
        os._exit(0 if kept else 1)
    assert processes.compiled(TEXT, OPTIONS) == code
    assert os.waitpid(forked, 0)[1] == 0
    assert processes.compiled(TEXT, OPTIONS) == code
    assert len(processes.started) == 1


@needs_nvrtc
def test_the_library_is_the_one_of_that_version_that_is_loaded():
    """Another version is not."""
    version = version_of(library())
    assert Path(loaded_library(version)).samefile(library())
    assert loaded_library((1, 0)) is None


@pytest.mark.gpu
def test_machine_code_is_that_of_this_process():
    """CuPy leaves out the last byte."""
    pytest.importorskip("cupy", reason="needs CuPy and an NVIDIA GPU")
    from gpuetl.engines.cudf.runtime import kernel_cache

    code = kernel_cache.compiled_apart(TEXT)
    assert len(kernel_cache.PROCESSES.idle) == 1
    kernel_cache.PROCESSES.end()
    assert code.rstrip(b"\0") == kernel_cache.compiled_here(TEXT).rstrip(b"\0")
    kernel_cache.module_of(code).get_function("k")
