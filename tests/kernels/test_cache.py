"""The folder of compiled kernels."""

import os

from gpuetl.engines.kernel_cache_folder import forget_oldest


def test_the_files_used_longest_ago_are_forgotten(tmp_path):
    """As many as it takes; a folder that is not there has none."""
    for age, name in enumerate("abcd"):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    forget_oldest(tmp_path, most=250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    forget_oldest(tmp_path, most=250)
    forget_oldest(tmp_path / "none")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
