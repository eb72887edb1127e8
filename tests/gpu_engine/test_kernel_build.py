"""Programs are compiled before a run: the closed set, and those of pipelines; no GPU is needed."""

import hashlib
import re
from pathlib import Path
from threading import Barrier, Lock
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpu_engine import nvrtc
from gpu_engine.host_machine import COMPILER as HOST_COMPILER
from gpu_engine.host_machine import ON_CPU, HostMachine, folder
from gpu_engine.nvrtc import QUICKLY
from gpu_engine.test_programs import until_listed
from gpuetl.engines import gpu_driver
from gpuetl.engines.capacity import Capacity
from gpuetl.engines.cudf.codegen import machine_code
from gpuetl.engines.cudf.codegen.device_headers import closed_source
from gpuetl.engines.cudf.codegen.machine_code import Compiler, Target, read_entry, read_mark, write_entry
from gpuetl.engines.cudf.codegen.nvrtc import named
from gpuetl.engines.cudf.codegen.nvrtc_processes import NvrtcProcess
from gpuetl.engines.cudf.programs import kernel_build
from gpuetl.engines.cudf.programs.kernel_build import Nvrtc, build, find_nvrtc, jobs_of, nvrtc_paths, targets_of
from gpuetl.engines.cudf.programs.plan_programs import Program, closed_set, plan_programs
from gpuetl.errors import EngineUnavailable, InvalidPipeline, RunFailed
from gpuetl.options import RunOptions
from gpuetl.pipeline import load
from gpuetl.run.planning import fitted_plan

needs_nvrtc = pytest.mark.skipif(
    nvrtc.library() is None, reason="needs NVIDIA's runtime compiler: nvidia-cuda-nvrtc-cu12"
)
needs_compiler = pytest.mark.skipif(HOST_COMPILER is None, reason="needs g++")
COMPILER = Compiler((12, 9), 1)
SM_80, SM_90 = Target("sm_80", COMPILER), Target("sm_90", COMPILER)
PIPELINE = """\
gpuetl: 1
name: small
params: {least: {type: int64, default: 1}}
sources: {rows: {parquet: rows.parquet}}
stages:
  kept:
    from: rows
    steps:
      - filter: x >= $least
      - with_columns: {y: x * 2, t: upper(s)}
      - kernel: {cuda: k.cu, entry: ENTRY, inputs: x, outputs: {z: int64}, reference: k.py:twice}
      - aggregate: {by: t, columns: {n: count(*), most: max(y)}}
sinks: {out: {from: kept, parquet: out.parquet}}
"""
CUDA = """\
extern "C" __global__ void twice(const long long* x, long long* z, long long n_rows) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n_rows) z[row] = 2 * x[row];
}
__global__ void mangled(const long long* x, long long* z, long long n_rows) {}
"""


def names_in(folder):
    """Return the names of what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


class StandIn:
    """Compiles nothing: its machine code is the text's length; `bad` does not compile, `dead` ends it."""

    started: list["StandIn"]

    def __init__(self):
        self.asked, self.ended = [], False
        StandIn.started.append(self)

    def compiled(self, source, options):
        self.asked.append((source, options))
        if source == "dead":
            raise BrokenPipeError
        return (b"", "kern.cu(1): error: it is bad\n") if source == "bad" else (b"%d" % len(source), "")

    def end(self):
        self.ended = True


class Remembered:
    """NVRTC, which compiles a text once for all tests: it takes 20 s for the closed set, and a third of that quickly.

    Its process starts at need.
    """

    more_options: tuple[str, ...] = (QUICKLY,)

    def __init__(self, library):
        self.library, self.process = library, None

    def compiled(self, source, options):
        options = (*options, *self.more_options)
        name = hashlib.sha256("\0".join((self.library, *options, source)).encode()).hexdigest()[:24]
        if code := read_entry(path := folder() / f"{name}.cubin"):
            return code, ""
        self.process = self.process or NvrtcProcess(self.library)
        code, log = self.process.compiled(source, options)
        if code:
            write_entry(path, code)
        return code, log

    def end(self):
        if self.process:
            self.process.end()


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch, tmp_path, pytestconfig):
    if pytestconfig.getoption("full"):
        monkeypatch.setattr(Remembered, "more_options", ())
    StandIn.started = []
    monkeypatch.setattr(kernel_build, "NvrtcProcess", Remembered)
    monkeypatch.setenv("GPUETL_KERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(machine_code, "SHIPPED", tmp_path / "wheel")


@pytest.fixture
def one_core(monkeypatch):
    monkeypatch.setattr(kernel_build, "most_threads", lambda: 1)


def quiet(done, of, architecture, seconds):
    """Show nothing."""


def jobs(folder, *texts, targets=(SM_90,)):
    """Return jobs for texts."""
    programs = [Program("a.yaml", f"kernel {text}", text) for text in texts]
    return jobs_of(programs, targets, lambda program, target: folder / target.name(program.text))


@pytest.mark.usefixtures("one_core")
def test_the_largest_text_is_compiled_first(tmp_path):
    """Each once for each architecture, with all options; progress tells of each."""
    shown = []
    those = jobs(tmp_path, "a", "ccc", "bb", "a", targets=(SM_80, SM_90))
    built = build(those, StandIn, lambda *said: shown.append(said))
    (compiler,) = StandIn.started
    texts, options = zip(*compiler.asked, strict=True)
    assert list(texts) == ["ccc", "ccc", "bb", "bb", "a", "a"]
    assert set(options) == {SM_80.options(), SM_90.options()}
    assert compiler.ended
    assert [said[:2] for said in shown] == [(done, 6) for done in range(1, 7)]
    assert sorted(said[2] for said in shown) == ["sm_80"] * 3 + ["sm_90"] * 3
    assert (built.compiled, built.there) == (6, 0)
    assert built.disk_bytes == sum(job.path.stat().st_size for job in those) > 0
    assert {job.program.text: read_entry(job.path) for job in those} == {"a": b"1", "bb": b"2", "ccc": b"3"}


def test_as_many_compile_at_once_as_there_are_cores(tmp_path, monkeypatch):
    """Each by a process of its own."""
    monkeypatch.setattr(kernel_build, "most_threads", lambda: 3)
    together, lock = Barrier(3, timeout=20), Lock()

    class Together(StandIn):
        def __init__(self):
            with lock:
                super().__init__()

        def compiled(self, source, options):
            together.wait()
            return super().compiled(source, options)

    assert build(jobs(tmp_path, *"abcdef"), Together, quiet).compiled == 6
    assert len(StandIn.started) == 3
    assert all(one.ended for one in StandIn.started)


def test_what_is_there_is_not_compiled_again(tmp_path):
    """Unless it is damaged."""
    those = jobs(tmp_path, "a", "b", "c")
    build(those, StandIn, quiet)
    those[0].path.write_bytes(b"damaged")
    built = build(those, StandIn, quiet)
    assert (built.compiled, built.there) == (1, 2)
    assert read_entry(those[0].path) == b"1"
    asked = len(StandIn.started)
    assert build(those, StandIn, quiet)[:2] == (0, 3)
    assert len(StandIn.started) == asked


@pytest.mark.usefixtures("one_core")
def test_a_text_that_does_not_compile_is_named(tmp_path):
    """With the compiler's words; what was compiled before stays, and what is behind it is not begun."""
    those = jobs(tmp_path, "longer", "bad", *(f"{number:02}" for number in range(90)))
    with pytest.raises(RunFailed) as caught:
        build(those, StandIn, quiet)
    assert caught.value.args == ("a.yaml: kernel bad for sm_90 does not compile\nkern.cu:1: error: it is bad",)
    assert caught.value.args[0].code == "GE1322"
    assert caught.value.exit_code == 1
    assert read_entry(those[0].path) == b"6"
    (compiler,) = StandIn.started
    assert [source for source, _ in compiler.asked] == ["longer", "bad"]
    assert all(one.ended for one in StandIn.started)


@pytest.mark.usefixtures("one_core")
def test_a_compiler_that_ends_is_told_of(tmp_path):
    """As where memory is short."""
    with pytest.raises(
        RunFailed, match=r"a\.yaml: kernel dead for sm_90 was not compiled: the compiler's process ended"
    ):
        build(jobs(tmp_path, "dead"), StandIn, quiet)
    assert all(one.ended for one in StandIn.started)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    """With the system's reason."""
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFailed) as caught:
        build(jobs(tmp_path / "file", "a"), StandIn, quiet)
    assert caught.value.args == (f"cannot write to {tmp_path / 'file'}: Not a directory",) or caught.value.args == (
        f"cannot write to {tmp_path / 'file'}: File exists",
    )
    assert caught.value.args[0].code == "GE1323"


NVRTC = Nvrtc("libnvrtc.so", COMPILER, ("sm_80", "sm_90"))


def test_architectures_are_those_asked_for_else_those_of_the_gpus(monkeypatch):
    """Each once."""
    monkeypatch.setattr(gpu_driver, "architectures", lambda: ("sm_80",))
    assert targets_of(["sm_90", "sm_80", "sm_90"], NVRTC) == [SM_90, SM_80]
    assert targets_of([], NVRTC) == [SM_80]
    monkeypatch.setenv("CUPY_COMPILE_WITH_PTX", "1")
    assert targets_of([], NVRTC) == [Target("sm_80", COMPILER, ptx=True)]


@pytest.mark.parametrize(
    ("asked", "first"), [([], "this machine has no GPU to compile for"), (["sm_70"], "unknown architecture 'sm_70'")]
)
def test_an_architecture_that_is_not_there_is_an_error(monkeypatch, asked, first):
    """It says which ones there are."""
    monkeypatch.setattr(gpu_driver, "architectures", lambda: ())
    with pytest.raises(InvalidPipeline) as caught:
        targets_of(asked, NVRTC)
    (problem,) = caught.value.problems
    assert (problem.message, problem.message.code) == (first, "GE1321")
    assert problem.hint.endswith("NVRTC 12.9 compiles for: sm_80, sm_90.")


def test_without_nvrtc_it_is_said_how_to_install_it(monkeypatch):
    """A file that is no library is passed over."""
    monkeypatch.setattr(kernel_build, "nvrtc_paths", lambda: ["/no/libnvrtc.so", __file__])
    with pytest.raises(EngineUnavailable, match="pip install nvidia-cuda-nvrtc-cu12") as caught:
        find_nvrtc()
    assert caught.value.args[0].code == "GE1320"


@needs_nvrtc
def test_the_first_nvrtc_that_can_be_loaded_is_taken(monkeypatch):
    """Entries are named by its size."""
    path = Path(nvrtc.library()._name)
    monkeypatch.setattr(kernel_build, "nvrtc_paths", lambda: ["/no/libnvrtc.so.13", str(path)])
    found = find_nvrtc()
    assert Path(found.library).samefile(path)
    assert found.compiler.size == path.stat().st_size
    assert {"sm_80", "sm_90"} <= set(found.architectures)


def test_nvrtc_is_looked_for_where_cupy_does(monkeypatch):
    """Then of the CUDA version of CuPy's wheel, then any."""
    pathfinder = SimpleNamespace(load_nvidia_dynamic_lib=lambda name: SimpleNamespace(abs_path=f"/cupy/{name}"))
    monkeypatch.setattr(kernel_build, "library_paths", lambda: [Path("/a/libnvrtc.so.12"), Path("/b/libnvrtc.so.13")])
    monkeypatch.setattr(kernel_build.gpu_driver, "cuda_majors", lambda _: (13,))
    monkeypatch.setattr(kernel_build, "import_module", lambda name: pathfinder)
    assert list(nvrtc_paths()) == ["/cupy/nvrtc", "/b/libnvrtc.so.13", "/a/libnvrtc.so.12"]
    monkeypatch.setattr(kernel_build, "import_module", lambda name: 1 // 0)
    assert list(nvrtc_paths()) == ["/b/libnvrtc.so.13", "/a/libnvrtc.so.12"]


@needs_nvrtc
@pytest.mark.full(reason="kernels by NVRTC with all optimizations")
def test_every_program_of_the_closed_set_compiles(tmp_path):
    """Into machine code with all of its kernels; for other architectures in test_compilation.py."""
    found = find_nvrtc()
    target = Target("sm_90", found.compiler)
    those = jobs_of(closed_set(), [target], lambda program, target: tmp_path / target.name(program.text))
    assert build(those, found.start, quiet).compiled == len(closed_set()) >= 9
    for job in those:
        code = read_entry(job.path)
        assert code.startswith(b"\x7fELF"), job.program.name
        names = re.findall(r'extern "C" __global__ void (?:__launch_bounds__\(.*?\) )?(\w+)', job.program.text)
        for name in names:
            assert name.encode() in code, job.program.name


@needs_nvrtc
@pytest.mark.full(reason="kernels by NVRTC with all optimizations")
def test_the_wheel_has_the_closed_set_of_each_architecture(tmp_path, monkeypatch, capsys):
    """Under names without the compiler; what was there before is gone."""
    wheel = machine_code.SHIPPED
    monkeypatch.setattr(kernel_build, "SHIPPED", wheel)
    monkeypatch.setattr(kernel_build, "ARCHITECTURES", ("sm_90",))
    write_entry(wheel / "sm_70" / "old.cubin", b"code")
    kernel_build.main()
    assert names_in(wheel) == ["sm_90"]
    assert len(names_in(wheel / "sm_90")) == len(closed_set())
    for program in closed_set():
        assert read_entry(SM_90.shipped(program.text)).startswith(b"\x7fELF")
    assert capsys.readouterr().out.startswith(f"sm_90: {len(closed_set())} programs, ")


@pytest.fixture
def file(tmp_path):
    table = pa.table({"x": pa.array(range(100), pa.int64()), "s": pa.array(["a", "b"] * 50)})
    pq.write_table(table, tmp_path / "rows.parquet")
    (tmp_path / "k.cu").write_text(CUDA)
    (tmp_path / "k.py").write_text("def twice(x):\n    return {'z': 2 * x}\n")
    path = tmp_path / "small.yaml"
    path.write_text(PIPELINE.replace("ENTRY", "twice"))
    return path


def listed(file):
    """Return the programs of a pipeline's run."""
    plan = load(file).plan({})
    return plan_programs(fitted_plan(plan, RunOptions(), "cudf", Capacity(1 << 40))[0].plan, file.name)


def test_the_programs_of_a_plan_are_listed_without_a_gpu(file):
    """Generated ones and the user's, each once."""
    programs, missing = listed(file)
    assert missing == []
    assert len({program.text for program in programs}) == len(programs)
    assert {program.file for program in programs} == {"small.yaml"}
    names = [program.name for program in programs]
    assert {f"kernel 'twice' ({file.parent / 'k.cu'})", "kernel compute"} <= set(names)
    (user,) = (program for program in programs if "k.cu" in program.name)
    assert user.options == ("--std=c++17", "-ftz=true")


def test_a_kernel_with_a_cpp_name_is_left_to_the_first_run(file):
    """Its name in the machine code is known to the compiler alone."""
    file.write_text(PIPELINE.replace("ENTRY", "mangled"))
    programs, missing = listed(file)
    assert not [program for program in programs if "k.cu" in program.name]
    assert missing == [f"kernel 'mangled' ({file.parent / 'k.cu'}), which is not declared extern \"C\""]


@needs_nvrtc
def test_the_command_compiles_a_pipeline_s_kernels(file, tmp_path):
    """A second time all are there; a mark lets runs load them at once."""
    cache = tmp_path / "cache"
    done = gpuetl("kernel", "build", "--arch", "sm_90", file)
    assert done.exit_code == 0, done.output
    count = len([name for name in names_in(cache) if name.endswith(".cubin")])
    first, second = done.stdout.splitlines()
    assert first == f"the closed set and 1 pipeline for sm_90: {count} programs, {count} compiled, 0 there already"
    assert re.fullmatch(rf"[\d.]+ [kM]B in {re.escape(str(cache))}, [\d.]+ s", second)
    assert re.fullmatch(rf"{count} of {count}, sm_90, [\d.]+ s", done.stderr.splitlines()[-1])
    (mark,) = cache.glob("*.expected")
    entries, target = read_mark(mark), Target("sm_90", find_nvrtc().compiler)
    for program in listed(file).programs:
        entry = cache / target.name(program.text, program.options)
        assert read_entry(entry).startswith(b"\x7fELF")
        assert (entry in entries) == ("k.cu" not in program.name)
    assert cache / target.name(closed_source("gather")) in entries
    again = gpuetl("kernel", "build", "--arch", "sm_90", file)
    assert f"{count} programs, 0 compiled, {count} there already" in again.stdout
    assert again.stderr == ""


@needs_compiler
def test_a_build_compiles_what_a_run_of_the_same_file_lists(file, monkeypatch):
    """So the first run finds it in the cache."""
    texts = []
    monkeypatch.setattr(HostMachine, "begin_plan", lambda self, plan: True)
    monkeypatch.setattr(HostMachine, "expect", lambda self, plan, those: texts.extend(those))
    load(file).run(engine=ON_CPU)
    until_listed()
    assert [named(text.source, text.path) if text.path else text.source for text in texts] == [
        program.text for program in listed(file).programs
    ]


@needs_nvrtc
def test_the_mark_of_a_build_is_that_of_a_run(file, tmp_path, monkeypatch):
    """A run of the same file asks for the same plan."""
    from gpuetl.engines.pandas.pandas_engine import PandasBackend

    asked = []
    monkeypatch.setattr(PandasBackend, "compile_ahead", lambda self, physical, plan, share=None: asked.append(plan))
    assert gpuetl("kernel", "build", "--arch", "sm_90", file).exit_code == 0
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 0
    (mark,) = (tmp_path / "cache").glob("*.expected")
    assert mark.name == Target("sm_90", find_nvrtc().compiler).mark(asked[0])


@needs_nvrtc
def test_what_the_wheel_has_is_not_compiled_unless_a_folder_is_named(tmp_path):
    """A folder may go to an install without it."""
    target = Target("sm_90", find_nvrtc().compiler)
    for program in closed_set():
        write_entry(target.shipped(program.text), b"code")
    count = len(closed_set())
    done = gpuetl("kernel", "build", "--arch", "sm_90")
    assert f"{count} programs, 0 compiled, {count} there already" in done.stdout
    assert not (tmp_path / "cache").exists()


@needs_nvrtc
def test_a_user_s_kernel_that_does_not_compile_ends_the_command(file):
    """With the file and the line."""
    (file.parent / "k.cu").write_text(CUDA.replace("2 * x[row]", "2 * y[row]"))
    done = gpuetl("kernel", "build", "--arch", "sm_90", "--to", file.parent / "to", file)
    assert done.exit_code == 1
    assert f"error: {file}: kernel 'twice' ({file.parent / 'k.cu'}) for sm_90 does not compile" in done.stderr
    assert 'k.cu:3: error: identifier "y" is undefined' in done.stderr


@needs_nvrtc
def test_two_builds_at_once_leave_whole_entries(tmp_path):
    """Each writes what the other one writes, too."""
    from concurrent.futures import ThreadPoolExecutor

    found = find_nvrtc()
    target = Target("sm_90", found.compiler)
    small = [program for program in closed_set() if len(program.text) < 20_000][:2]
    those = jobs_of(small, [target], lambda program, target: tmp_path / target.name(program.text))
    with ThreadPoolExecutor(2) as threads:
        done = [threads.submit(build, those, found.start, quiet) for _ in range(2)]
    assert [one.result().compiled + one.result().there for one in done] == [len(those)] * 2
    assert sorted(names_in(tmp_path)) == sorted(job.path.name for job in those)
