"""Options of runs: sizes are read as on the command line."""

import pytest

from gpuetl import Cluster, InvalidPipeline, RunOptions


@pytest.mark.parametrize(
    ("written", "count"), [("8GB", 8 * 10**9), ("1.5 tb", 15 * 10**11), ("4096", 4096), (4096, 4096), (None, None)]
)
def test_memory_is_a_number_of_bytes_or_a_size(written, count):
    assert RunOptions(memory=written).memory == count
    assert RunOptions(memory=written).memory_bytes == count
    assert RunOptions(memory=written) == RunOptions(memory=count)
    assert Cluster(worker_memory=written).worker_memory_bytes == count


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("8 apples", "option memory: '8 apples' is not a valid size, such as 8GB or 500MB"),
        ("0GB", "option memory takes a whole number from 1, got 0"),
        (1.5, "option memory takes a whole number from 1, got 1.5"),
    ],
)
def test_another_text_is_an_error(written, message):
    with pytest.raises(InvalidPipeline) as caught:
        RunOptions(memory=written)
    assert message in str(caught.value)


def test_a_run_with_a_size_fits_it(source, pipeline, engine):
    from tables import table

    rows = source(table({"x": "int64"}, (1,), (2,)))
    assert rows.collect(engine=engine, options=RunOptions(memory="1GB")).to_arrow().num_rows == 2
