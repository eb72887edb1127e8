"""What the pandas engine may take of the host's memory."""

import pytest

from gpuetl.backends import memory
from gpuetl.backends.memory import HOST_SHARE, free_host_memory
from gpuetl.sizes import read_size, size

VERSION_2 = {"memory.max": "1000000", "memory.current": "700000", "memory.stat": "anon 1\ninactive_file 200000\n"}
VERSION_1 = {
    "memory/memory.limit_in_bytes": "1000000",
    "memory/memory.usage_in_bytes": "600000",
    "memory/memory.stat": "inactive_file 7\ntotal_inactive_file 100000\n",
}


@pytest.mark.parametrize("files", [VERSION_2, VERSION_1])
def test_a_control_group_leaves_what_it_has_not_used_and_files_that_nobody_needs(tmp_path, monkeypatch, files):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path)
    assert free_host_memory() == int(500_000 * HOST_SHARE)


def test_without_a_limit_it_is_what_the_system_has(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path)
    system = free_host_memory()
    assert system > 1 << 20
    (tmp_path / "memory.max").write_text("max\n")
    assert free_host_memory() == pytest.approx(system, rel=0.5)


@pytest.mark.parametrize(
    ("text", "count"),
    [("8GB", 8_000_000_000), ("1.5 tb", 1_500_000_000_000), ("4096", 4096), (" 12 kB ", 12_000), ("7B", 7)],
)
def test_a_size_is_read_as_it_is_written(text, count):
    assert read_size(text) == count
    assert read_size(size(count)) == pytest.approx(count, rel=0.05)


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1 GiB", "1e9", "8 gigabytes", "1,000"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="is no size, such as 8GB or 500MB"):
        read_size(text)
