"""The doctor: useful with and without a GPU, and a line that mends for each problem."""

import json
import resource
from importlib.util import find_spec
from pathlib import Path

import pytest

from cli.test_commands import in_new_process
from command import gpuetl
from gpuetl import EngineUnavailable, doctor
from gpuetl.doctor import Gpu, MachineProblem, by_nvidia_smi, gpu_observations
from gpuetl.engines import gpu_driver
from gpuetl.engines.gpu_driver import Driver
from gpuetl.engines.registry import choose_engine

H200 = Driver((12, 8), ("NVIDIA H200",))
FITTING = {"pylibcudf-cu12": "26.10.0", "libcudf-cu12": "26.10.1", "rmm-cu12": "26.10.0", "cupy-cuda12x": "14.0.1"}


@pytest.fixture
def machine(monkeypatch):
    """Makes this machine look like one with a driver and packages."""

    def make(found, installed=FITTING, missing=()):
        monkeypatch.setattr(gpu_driver, "find_driver", lambda: found)
        monkeypatch.setattr(gpu_driver, "installed", lambda *packages: dict(installed))
        monkeypatch.setattr(gpu_driver, "missing_modules", lambda: tuple(missing))

    return make


def problems_of(found):
    """Return what is wrong, and what mends it."""
    return [(item.problem, item.fix) for item in found if isinstance(item, MachineProblem)]


def test_without_a_gpu_nothing_is_wrong_and_the_pandas_engine_runs(machine):
    """A machine without a GPU is not ill."""
    machine(Driver(problem="no NVIDIA driver was found"), {}, ("pylibcudf",))
    done = gpuetl("doctor")
    assert done.exit_code == 0
    assert "no NVIDIA driver was found" in done.stdout
    assert gpuetl("doctor", "--engine", "pandas").exit_code == 0


def test_an_engine_that_is_asked_for_and_cannot_run_is_exit_code_1(machine):
    """So that scripts can ask."""
    machine(Driver(problem="no NVIDIA driver was found"), {}, ("pylibcudf",))
    done = gpuetl("doctor", "--engine", "cudf", "--json")
    assert done.exit_code == 1
    engines = json.loads(done.stdout)["engines"]
    assert (engines["pandas"], engines["cudf"]) == ("", "no NVIDIA driver was found")


@pytest.mark.parametrize("engine", ["dask", "dask-cuda"])
def test_an_engine_without_the_package_of_its_cluster_cannot_run(engine, machine, monkeypatch):
    """The reason is what to install."""
    machine(H200)
    monkeypatch.setattr("gpuetl.engines.registry.find_spec", lambda module: None)
    done = gpuetl("doctor", "--engine", engine, "--json")
    assert done.exit_code == 1
    assert "is not installed: pip install" in json.loads(done.stdout)["engines"][engine]


def test_a_gpu_without_packages_is_fixed_by_the_extra_for_its_driver(machine):
    """The extra is that of the newest CUDA that the driver runs."""
    machine(Driver((13, 0), ("NVIDIA H200",)), {}, ("pylibcudf", "cupy"))
    done = gpuetl("doctor", "--engine", "cudf")
    assert done.exit_code == 1
    assert 'the cudf engine needs pylibcudf, cupy\n    fix: pip install "gpuetl[cu13]"' in done.stdout


def test_a_machine_that_can_runs_cudf(machine):
    """With the driver and packages that fit."""
    machine(H200)
    assert gpuetl("doctor", "--engine", "cudf").exit_code == 0
    assert choose_engine("auto").name == "cudf"
    assert choose_engine("auto").reason == "NVIDIA H200 was found"


@pytest.mark.parametrize(
    ("found", "missing", "installed", "reason"),
    [
        (Driver(problem="no NVIDIA driver was found"), (), FITTING, "no NVIDIA driver was found"),
        (H200, ("cupy",), {}, "NVIDIA H200 was found, but cupy is not installed"),
        (Driver((11, 8), ("Tesla T4",)), (), FITTING, "the NVIDIA driver runs CUDA 11.8, and CUDA 12 or 13 is needed"),
        (H200, (), {"pylibcudf-cu13": "26.10.0"}, "the packages are for CUDA 13, and the driver runs CUDA 12.8"),
        (Driver((12, 8), problem="the NVIDIA driver shows no GPU (CUDA_ERROR_NO_DEVICE)"), (), FITTING,
         "the NVIDIA driver shows no GPU (CUDA_ERROR_NO_DEVICE)"),
    ],
)  # fmt: skip
def test_auto_takes_pandas_and_says_why_and_cudf_is_refused_with_what_to_do(machine, found, missing, installed, reason):
    """The reason is the same for both."""
    machine(found, installed, missing)
    assert (choose_engine("auto").name, choose_engine("auto").reason) == ("pandas", reason)
    with pytest.raises(EngineUnavailable) as caught:
        choose_engine("cudf")
    assert str(caught.value).startswith(f"engine 'cudf' cannot run here: {reason}.\n")
    assert "or run with --engine pandas.  `gpuetl doctor` says more." in str(caught.value)


def test_packages_that_fit_have_no_problem():
    """Patch releases of one RAPIDS release go together."""
    assert problems_of(doctor.package_results(FITTING, (), H200)) == []


@pytest.mark.parametrize(
    ("changed", "problem", "fix"),
    [
        ({"rmm-cu12": "26.08.0"}, "RAPIDS packages of several releases", 'pip install --upgrade "gpuetl[cu12]"'),
        ({"cupy-cuda12x": "14.1.0"}, "CuPy 14.1.0 does not work with RAPIDS", 'pip install "cupy-cuda12x!=14.1.0"'),
        ({"cupy-cuda13x": "14.0.1"}, "packages for CUDA 12 and 13 are installed side by side",
         "pip uninstall cupy-cuda13x"),
    ],
)  # fmt: skip
def test_packages_that_do_not_fit_are_reported_with_the_line_that_fixes_them(changed, problem, fix):
    """One line a problem."""
    ((problem_found, fixed),) = problems_of(doctor.package_results({**FITTING, **changed}, (), H200))
    assert problem_found.startswith(problem)
    assert fixed == fix


def test_packages_for_a_newer_cuda_than_the_driver_runs_are_reported():
    """An older one is run by a newer driver."""
    newer = {"pylibcudf-cu13": "26.10.0", "cupy-cuda13x": "14.0.1"}
    problems_found = problems_of(doctor.package_results(newer, (), H200))
    assert problems_found == [
        ("the packages are for CUDA 13, and the driver runs CUDA 12.8", 'pip install "gpuetl[cu12]"')
    ]
    assert problems_of(doctor.package_results(FITTING, (), Driver((13, 0), ("NVIDIA H200",)))) == []


def test_gpus_are_reported_with_memory_and_links_from_nvidia_smi(monkeypatch, tmp_path):
    """Where NVML's package is not installed."""
    command = tmp_path / "nvidia-smi"
    command.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = nvlink ]; then printf "GPU 0: H\\n  Link 0: 26.562 GB/s\\n  Link 1: 26.562 GB/s\\nGPU 1: H\\n"\n'
        'else echo "NVIDIA H200, 143771, 143000, 5, 16"; echo "NVIDIA H200, 143771, 1, [N/A], [N/A]"; fi\n'
    )
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    mib = 1 << 20
    expected = [
        Gpu("NVIDIA H200", 143771 * mib, 143000 * mib, "PCIe 5 x16, 2 NVLinks"),
        Gpu("NVIDIA H200", 143771 * mib, mib, ""),
    ]
    assert by_nvidia_smi() == expected
    monkeypatch.setattr(doctor, "by_nvml", lambda: None)
    assert [problem for problem, _ in problems_of(gpu_observations(H200))] == ["GPU 0 has 808.5 MB of 150.8 GB free"]


def test_a_driver_that_shows_no_gpu_is_reported(monkeypatch):
    """It may be hidden from the process."""
    monkeypatch.setattr(doctor, "by_nvml", lambda: [])
    assert [problem for problem, _ in problems_of(gpu_observations(Driver((12, 8), problem="it shows no GPU")))] == [
        "it shows no GPU"
    ]


@pytest.mark.parametrize(("value", "wrong"), [(None, False), ("16", False), ("4", True), ("many", True)])
def test_few_threads_for_reading_are_reported(value, wrong):
    """The engine sets enough where nothing is set."""
    assert bool(problems_of(doctor.kvikio_threads(value))) == wrong


def test_little_locked_memory_is_reported_where_there_is_a_gpu():
    """It is no matter elsewhere."""
    assert problems_of(doctor.locked_memory(8 << 20, has_gpu=True))[0][1] == "ulimit -l unlimited"
    assert problems_of(doctor.locked_memory(8 << 20, has_gpu=False)) == []
    assert problems_of(doctor.locked_memory(resource.RLIM_INFINITY, has_gpu=True)) == []


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    """Also one that is not there yet, and cannot be made."""
    assert problems_of(doctor.folder("TMPDIR", tmp_path / "new" / "folder", "fix")) == []
    (tmp_path / "file").write_text("")
    assert problems_of(doctor.folder("TMPDIR", tmp_path / "file" / "folder", "fix it")) == [
        (f"the TMPDIR {tmp_path / 'file' / 'folder'} cannot be written", "fix it")
    ]


def test_it_imports_no_heavy_package():
    """Versions are read from metadata; a package that is broken does not break the doctor."""
    assert find_spec("pandas")
    imported = in_new_process("doctor")
    assert not {"pandas", "pyarrow", "numpy", "cupy", "pylibcudf", "rich"} & set(imported)


def test_work_folder_is_reported(monkeypatch, tmp_path):
    """With its free space."""
    monkeypatch.chdir(tmp_path)
    assert f"{Path.cwd()}, " in gpuetl("doctor").stdout
