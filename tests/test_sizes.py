"""Numbers of bytes, written for people and read from them."""

import pytest

from gpuetl.units import read_size, size


@pytest.mark.parametrize(
    ("text", "count"),
    [("8GB", 8_000_000_000), ("1.5 tb", 1_500_000_000_000), ("4096", 4096), (" 12 kB ", 12_000), ("7B", 7)],
)
def test_a_size_is_read_as_it_is_written(text, count):
    assert read_size(text) == count
    assert read_size(size(count)) == pytest.approx(count, rel=0.05)


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1 GiB", "1e9", "8 gigabytes", "1,000"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="is not a valid size, such as 8GB or 500MB"):
        read_size(text)
