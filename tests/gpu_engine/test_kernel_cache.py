"""Where a run looks for machine code: the wheel, the cache, then the compiler; with stand-ins for CuPy and a GPU."""

import sys
from concurrent.futures import wait
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest

from gpuetl.engines.cudf.codegen import machine_code
from gpuetl.engines.cudf.codegen.device_headers import closed_programs, closed_source
from gpuetl.engines.cudf.codegen.machine_code import Compiler, Target, read_entry, write_entry
from gpuetl.engines.cudf.codegen.nvrtc import user_options
from gpuetl.engines.cudf.machine import KernelSource
from gpuetl.telemetry.recorder import Recorder, recording

NAME = "gpuetl.engines.cudf.runtime.kernel_cache"
TARGET = Target("sm_90", Compiler((12, 9), 0))
TEXT = "a text"


class Refused(Exception):
    """The driver's error."""


class Module:
    """Loads all code but that of other drivers; its functions are known by their names."""

    def load(self, code):
        if code == b"of another driver":
            raise Refused
        self.code = code

    def get_function(self, name):
        return SimpleNamespace(ptr=(self.code, name))


@pytest.fixture
def kernel_cache(monkeypatch, tmp_path):
    """The module as it is imported beside CuPy; texts that are compiled are in `texts`."""
    texts = []

    def compile_using_nvrtc(source, options):
        texts.append(source)
        return f"code of {source}".encode(), None

    cupy, cuda = ModuleType("cupy"), ModuleType("cupy.cuda")
    cupy.cuda = cuda
    cuda.compiler = SimpleNamespace(compile_using_nvrtc=compile_using_nvrtc)
    current = SimpleNamespace(compute_capability="90", use=lambda: None)
    cuda.device = SimpleNamespace(Device=lambda number=0: current, get_device_id=lambda: 0)
    cuda.driver = SimpleNamespace(CUDADriverError=Refused, funcGetAttribute=lambda attribute, ptr: (attribute, ptr))
    cuda.function = SimpleNamespace(Module=Module)
    cuda.nvrtc = SimpleNamespace(getVersion=lambda: (12, 9))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    monkeypatch.setenv("GPUETL_KERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CUPY_COMPILE_WITH_PTX", raising=False)
    monkeypatch.setattr(machine_code, "SHIPPED", tmp_path / "wheel")
    made = import_module(NAME)
    monkeypatch.delitem(sys.modules, NAME)
    monkeypatch.setattr(made, "loaded_library", lambda version: None)
    monkeypatch.setattr(made.PROCESSES, "library", lambda: None)
    made.texts = texts
    yield made
    made.ahead().stop()


def test_a_text_is_compiled_once_and_kept(kernel_cache, tmp_path):
    """Under the name that `gpuetl kernel build` gives it."""
    assert kernel_cache.loaded(TEXT).code == b"code of a text"
    assert kernel_cache.loaded(TEXT).code == b"code of a text"
    assert kernel_cache.texts == [TEXT]
    assert read_entry(tmp_path / "cache" / TARGET.name(TEXT)) == b"code of a text"


def test_the_wheel_comes_before_the_cache_and_the_cache_before_the_compiler(kernel_cache, tmp_path):
    """What the wheel has is not touched."""
    write_entry(tmp_path / "cache" / TARGET.name(TEXT), b"of the cache")
    assert kernel_cache.loaded(TEXT).code == b"of the cache"
    write_entry(TARGET.shipped(TEXT), b"of the wheel")
    before = TARGET.shipped(TEXT).stat()
    assert kernel_cache.loaded(TEXT).code == b"of the wheel"
    assert TARGET.shipped(TEXT).stat().st_mtime_ns == before.st_mtime_ns
    assert kernel_cache.texts == []


@pytest.mark.parametrize("where", ["wheel", "cache"])
def test_a_damaged_entry_is_compiled_again(kernel_cache, tmp_path, where):
    """The cache has it then."""
    own = tmp_path / "cache" / TARGET.name(TEXT)
    entry = own if where == "cache" else TARGET.shipped(TEXT)
    write_entry(entry, b"good")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert kernel_cache.loaded(TEXT).code == b"code of a text"
    assert read_entry(own) == b"code of a text"


def test_what_the_driver_refuses_of_the_wheel_is_compiled(kernel_cache, tmp_path):
    """The wheel is only read."""
    write_entry(TARGET.shipped(TEXT), b"of another driver")
    assert kernel_cache.loaded(TEXT).code == b"code of a text"
    assert read_entry(TARGET.shipped(TEXT)) == b"of another driver"


def test_ptx_is_another_entry(kernel_cache, tmp_path, monkeypatch):
    """Machine code of the wheel or of the cache is not taken for it."""
    write_entry(TARGET.shipped(TEXT), b"of the wheel")
    write_entry(tmp_path / "cache" / TARGET.name(TEXT), b"of the cache")
    monkeypatch.setenv("CUPY_COMPILE_WITH_PTX", "1")
    assert kernel_cache.loaded(TEXT).code == b"code of a text"
    assert kernel_cache.path_of(TEXT).suffix == ".ptx"


def test_a_cache_that_cannot_be_written_is_done_without(kernel_cache, tmp_path):
    """Each process compiles then."""
    (tmp_path / "cache").write_text("")
    assert kernel_cache.loaded(TEXT).code == b"code of a text"
    assert kernel_cache.loaded(TEXT).code == b"code of a text"
    assert kernel_cache.texts == [TEXT, TEXT]


def test_a_closed_set_that_is_nowhere_is_built_and_told_of(kernel_cache, tmp_path):
    """All of it at once, with progress; once in a process."""
    shown = []
    recorder = Recorder(lambda origin, done, of: shown.append((str(origin), done, of)))
    count = len(closed_programs())
    with recording(recorder):
        shows = kernel_cache.expect_closed_set()
        assert kernel_cache.expect_closed_set() is shows
        for program in closed_programs():
            assert kernel_cache.loaded(closed_source(program)).code.startswith(b"code of ")
        shows.join(20)
    assert sorted(kernel_cache.texts) == sorted(map(closed_source, closed_programs()))
    assert recorder.notes == [
        f"{count} programs that all pipelines share were compiled for this GPU, once on this machine; "
        "`gpuetl kernel build` does so before a run"
    ]
    assert shown == [("kernels 'of all pipelines'", done, count) for done in range(1, count + 1)]


def test_a_closed_set_that_is_there_is_not_told_of(kernel_cache, tmp_path):
    """Whether the wheel has it or the cache."""
    for place, program in enumerate(closed_programs()):
        source = closed_source(program)
        write_entry(TARGET.shipped(source) if place % 2 else tmp_path / "cache" / TARGET.name(source), b"code")
    with recording(recorder := Recorder()) as _:
        assert kernel_cache.expect_closed_set() is None
    assert recorder.notes == []
    assert kernel_cache.texts == []


def test_texts_are_made_ahead_once(kernel_cache, tmp_path):
    """Those in the cache are loaded, others compiled; what a run has asked for already is left to it.

    A mark names them for later processes, with programs of the closed set.
    """
    asked, kept, new, user = (
        KernelSource("asked"),
        KernelSource("kept"),
        KernelSource("new"),
        KernelSource("of a user", "k", tmp_path / "k.cu"),
    )
    assert kernel_cache.loaded(asked.source).code == b"code of asked"
    write_entry(tmp_path / "cache" / TARGET.name(kept.source), b"of the cache")
    compiled = []
    mark = kernel_cache.mark_of("plan")
    kernel_cache.make_ahead([asked, kept, new, user], lambda *given: compiled.append(given) or "kernel", mark)
    assert kernel_cache.texts == ["asked", "new"]
    assert kernel_cache.loaded(new.source).code == b"code of new"
    assert kernel_cache.loaded(kept.source).code == b"of the cache"
    assert kernel_cache.user_kernel(pytest.fail, *user_arguments(user)) == "kernel"
    assert compiled == [user_arguments(user)]
    names = mark.read_text(encoding="utf-8").split("\n")
    assert names[-3:] == [TARGET.name(text.source) for text in (asked, kept, new)]
    assert TARGET.name(closed_source("gather")) in names
    assert kernel_cache.texts == ["asked", "new"]


def test_processes_are_started_before_the_programs_are_known(kernel_cache, monkeypatch):
    """A few, each by an empty program; PTX is not compiled by processes."""
    compiled = []
    monkeypatch.setattr(kernel_cache.PROCESSES, "compiled", lambda source, options: compiled.append((source, options)))
    monkeypatch.setattr(kernel_cache, "most_threads", lambda: 3)
    kernel_cache.start_processes()
    wait(list(kernel_cache.ahead().expected.values()), 10)
    assert compiled == [(kernel_cache.EMPTY, TARGET.apart_options())] * 3
    kernel_cache.start_processes()
    monkeypatch.setenv("CUPY_COMPILE_WITH_PTX", "1")
    kernel_cache.start_processes()
    assert len(compiled) == 3


def user_arguments(text):
    """Return what a user's kernel is compiled of."""
    return text.source, text.path, text.kernel


def test_a_user_s_kernel_is_taken_from_the_cache(kernel_cache, tmp_path):
    """Where a build has put it; it tells how large its blocks may be."""
    assert kernel_cache.kept_user_kernel(TEXT, "k") is None
    write_entry(tmp_path / "cache" / TARGET.name(TEXT, user_options(TEXT)), b"code")
    assert kernel_cache.kept_user_kernel(TEXT, "k").max_threads_per_block == (0, (b"code", "k"))
