"""What a machine can carry is measured once, kept, and found again; without a GPU the host's part."""

import json

import numpy as np
import pytest

from command import gpuetl
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import bench
from gpuetl.bench import host_limits, in_groups, measure, memory_limits, running_sum
from gpuetl.engines import measured_limits
from gpuetl.engines.cudf.gpu_operation import run_operation
from gpuetl.engines.measured_limits import limits_path, load_limits, machine_name, save_limits
from gpuetl.telemetry.hardware_limits import HardwareLimits, LinkLimit
from gpuetl.threads import thread_count

SIZE = 1 << 20


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The cache is the test's own."""
    monkeypatch.setenv("GPUETL_KERNEL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


def test_the_host_is_measured_by_one_and_by_many_threads(folder, monkeypatch):
    """A copy counts what it reads and what it writes; files are removed."""
    monkeypatch.setattr(bench, "HOST_CHUNK_BYTES", SIZE // 64)
    found = list(host_limits(folder, SIZE))
    files = [f"{n} thread{'s' * (n > 1)}" for n in (1, 4, 8, 16)]
    assert [f.way for f in found if f.link == "host to file"] == files
    assert [f.way for f in found if f.link == "file to host"] == files
    assert {f.bytes for f in found if f.link == "host memory"} == {2 * SIZE}
    assert len([f for f in found if f.link == "host memory"]) == len({1, thread_count()})
    assert all(f.seconds > 0 for f in found)
    assert list(folder.iterdir()) == []


class NumPyMachine(HostMachine):
    """A machine whose arrays do what CuPy's do: its own passes over memory are measured, too."""

    arrays = np


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_the_device_s_memory_is_measured_by_passes_over_it(monkeypatch):
    """The engine's own kernels among them, of which each byte that is read or written counts once."""
    found = {f.way: f for f in memory_limits(NumPyMachine(), 8000)}
    assert {way: f.bytes for way, f in found.items()} == {
        "copy": 16000, "vector add": 24000, "reduction": 8000, "stencil": 16000, "segmented scan": 32000,
    }  # fmt: skip
    assert {f.link for f in found.values()} == {"device memory"}


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_the_scan_that_is_measured_adds_up_groups_of_rows_in_order():
    """A window step, which sorts nothing."""
    machine = NumPyMachine()
    result = run_operation(running_sum(), machine, in_groups(np.ones(250), machine))
    expected = np.concatenate([np.arange(1.0, 101), np.arange(1.0, 101), np.arange(1.0, 51)])
    np.testing.assert_array_equal(result.columns["total"].data, expected)


def test_what_was_measured_is_found_again(folder):
    """By runs on the same kind of machine."""
    assert load_limits("CPU") is None
    measured = measure(folder, gpu=False, size=SIZE)
    assert measured.machine == machine_name("CPU")
    assert load_limits("CPU") == measured


def test_a_file_that_cannot_be_read_is_none(folder):
    """The run goes on."""
    path = limits_path(machine_name("CPU"))
    path.parent.mkdir()
    for text in ("", "[]", "{}", '{"machine": "", "measured": [{"link": "host memory"}]}'):
        path.write_text(text)
        assert load_limits("CPU") is None


def test_the_gpu_has_limits_of_its_own(monkeypatch):
    """Without a driver there are none."""
    save_limits(HardwareLimits(machine_name("CPU"), ()))
    monkeypatch.setattr(
        measured_limits.gpu_driver, "find_driver", lambda: measured_limits.gpu_driver.Driver(gpus=("NVIDIA H200",))
    )
    assert machine_name("GPU").startswith("NVIDIA H200, ")
    assert load_limits("GPU") is None
    monkeypatch.setattr(measured_limits.gpu_driver, "find_driver", measured_limits.gpu_driver.Driver)
    assert load_limits("GPU") is None


def test_a_link_s_limit_is_its_highest_rate():
    """Of writing files, that of one thread: see there."""
    ways = [LinkLimit("device memory", "copy", 40, 1.0), LinkLimit("device memory", "reduction", 34, 1.0)]
    files = [LinkLimit("host to file", "1 thread", 4, 1.0), LinkLimit("host to file", "4 threads", 17, 1.0)]
    limits = HardwareLimits("", (*ways, *files))
    assert limits.highest("device memory") == ways[0]
    assert limits.highest("host to file") == files[0]
    assert limits.highest("host to device") is None
    assert HardwareLimits.of_dict(json.loads(json.dumps(limits.to_dict()))) == limits


@pytest.fixture
def small(monkeypatch):
    """The command measures little, and finds no GPU."""
    from gpuetl import bench as measuring
    from gpuetl.engines import registry

    monkeypatch.setattr(registry, "look_for_gpu", lambda: registry.GpuSearch(problem="no NVIDIA driver was found"))
    monkeypatch.setattr(measuring, "host_limits", lambda folder, size: host_limits(folder, SIZE))


def test_the_command_measures_the_host_and_says_that_it_is_all(folder, small):
    """With the place where it is kept."""
    done = gpuetl("bench", "device", "--folder", folder)
    assert done.exit_code == 0, done.output
    assert "host to file    1 thread " in done.stdout
    assert "GB/s" in done.stdout
    assert "only the host was measured: no NVIDIA driver was found" in done.stdout
    assert f"files in {folder}; kept in {limits_path(machine_name('CPU'))}" in done.stdout


def test_the_command_prints_json_alone(folder, small):
    """As it is kept."""
    printed = json.loads(gpuetl("bench", "device", "--folder", folder, "--json").stdout)
    assert printed == json.loads(limits_path(machine_name("CPU")).read_text())
    assert set(printed["measured"][0]) == {"link", "way", "bytes", "seconds", "bytes_per_s"}


def test_a_folder_that_is_none_is_refused(tmp_path, small, monkeypatch):
    """And one that cannot be written."""
    assert gpuetl("bench", "device", "--folder", tmp_path / "none").exit_code == 2
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GPUETL_KERNEL_CACHE", str(tmp_path / "file"))
    done = gpuetl("bench", "device", "--folder", tmp_path)
    assert done.exit_code == 1
    assert "Choose another folder" in done.stderr
