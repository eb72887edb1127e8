"""The host's memory, as the system and control groups tell of it."""

import pytest

from gpuetl.io.host_memory import HostMemory, host_memory

MEMINFO = "MemTotal:       1000 kB\nMemFree:         10 kB\nMemAvailable:    600 kB\nHugePages_Total:   0\n"


@pytest.fixture
def write(tmp_path):
    """Writes files below a folder."""

    def files(**texts):
        for name, text in texts.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    files(proc__meminfo=MEMINFO)
    return files


@pytest.fixture
def found(tmp_path, write):
    """Reads them."""
    return lambda: host_memory(tmp_path / "proc", tmp_path / "groups")


def test_without_groups_it_is_the_machine_s(found):
    """What is available, not what is free."""
    assert found() == HostMemory(600 << 10, 1000 << 10)


def test_a_group_s_limit_counts_beside_what_the_system_can_drop(write, found):
    """Version 2: of the process' group, and of those around it the least."""
    write(
        proc__self__cgroup="0::/a/b\n",
        groups__a__memory_dot_max="400000\n",
        groups__a__memory_dot_current="300000\n",
        groups__a__memory_dot_stat="anon 1\ninactive_file 5000\n",
        groups__a__b__memory_dot_max="max\n",
        groups__a__b__memory_dot_current="1\n",
        groups__a__b__memory_dot_stat="inactive_file 0\n",
    )
    assert found() == HostMemory(105_000, 400_000)


def test_groups_of_the_first_version_are_read_too(write, found):
    """A limit near 2^63 is none."""
    names = ("memory_dot_limit_in_bytes", "memory_dot_usage_in_bytes", "memory_dot_stat")
    own, around = (dict.fromkeys((f"groups__memory{folder}__{name}" for name in names), "") for folder in ("__a", ""))
    write(proc__self__cgroup="3:cpu:/x\n4:memory:/a\n", **dict(zip(own, ("500000", "400000", ""), strict=True)))
    write(**dict(zip(around, (str(2**63 - 4096), "0", ""), strict=True)))
    assert found() == HostMemory(100_000, 500_000)


def test_a_group_that_is_over_its_limit_has_nothing_left(write, found):
    """And not less."""
    write(
        proc__self__cgroup="0::/\n",
        groups__memory_dot_max="1000",
        groups__memory_dot_current="2000",
        groups__memory_dot_stat="",
    )
    assert found() == HostMemory(0, 1000)
