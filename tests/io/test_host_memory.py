"""The host's memory, as the system and control groups tell of it."""

import pytest

from gpuetl.memory_limits import HostMemory, host_memory

MEMINFO = "MemTotal:       1000 kB\nMemFree:         10 kB\nMemAvailable:    600 kB\nHugePages_Total:   0\n"
FIRST, SECOND = ("limit_in_bytes", "usage_in_bytes", "stat"), ("max", "current", "stat")
"""What files of a group are called in the two versions: its limit, what is in use, and of what that is made."""


@pytest.fixture
def found(tmp_path):
    """Returns what is found of a process in these groups, which are folders with a limit, a use and a `stat` each."""

    def memory(of_process, groups=(), version=SECOND):
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/meminfo").write_text(MEMINFO)
        if of_process:
            (tmp_path / "proc/self/cgroup").write_text(of_process)
        for folder, *texts in groups:
            (tmp_path / "groups" / folder).mkdir(parents=True, exist_ok=True)
            for name, text in zip(version, texts, strict=True):
                (tmp_path / "groups" / folder / f"memory.{name}").write_text(f"{text}\n")
        return host_memory(tmp_path / "proc", tmp_path / "groups")

    return memory


def test_without_groups_it_is_the_machine_s(found):
    """What is available, not what is free."""
    assert found("") == HostMemory(600 << 10, 1000 << 10)


def test_a_group_s_limit_counts_beside_what_the_system_can_drop(found):
    """Version 2: of the process' group, and of those around it the least."""
    groups = [("a", 400_000, 300_000, "anon 1\ninactive_file 5000"), ("a/b", "max", 1, "inactive_file 0")]
    assert found("0::/a/b\n", groups) == HostMemory(105_000, 400_000)


def test_groups_of_the_first_version_are_read_too(found):
    """A limit near 2^63 is none."""
    groups = [("memory/a", 500_000, 400_000, ""), ("memory", 2**63 - 4096, 0, "")]
    assert found("3:cpu:/x\n4:memory:/a\n", groups, FIRST) == HostMemory(100_000, 500_000)


def test_a_group_that_is_over_its_limit_has_nothing_left(found):
    """And not less."""
    assert found("0::/\n", [("", 1000, 2000, "")]) == HostMemory(0, 1000)
