"""The calculation for many GPUs: what binds, and the table of the page that tells of it."""

from pathlib import Path

import pytest

from benchmarks.scaling_model import ASSUMED, MEASURED, MOST_PIECES, Cluster, Job, Model, main
from gpuetl.executors.dask import fetching

RATES = MEASURED | ASSUMED


def bound(model):
    """The links that bind, phase by phase."""
    return [link for _, link in model.phases()]


def test_one_gpu_exchanges_nothing():
    """A cluster of one GPU reads, computes and writes."""
    seconds = [seconds for seconds, _ in Model(Job(27, (40,), 17.6), Cluster(1), 1e9, RATES).phases()]
    assert seconds == pytest.approx([1.0, 0.0, 1e9 / 720e6, 1.0])


def test_what_leaves_a_host_goes_over_the_network():
    """Of 64 GPUs in 8 hosts, 56 are elsewhere: so is that share of the rows of each, and 7 are reached by NVLink."""
    moved = Model(Job(exchanged=(40,)), Cluster(64, gpus_a_host=8), 1e9, RATES).moved()
    assert moved == pytest.approx({"device memory": 0.04, "NVLink": 40 * 7 / 64 / 395, "network": 40 * 56 / 64 / 40})


def test_tasks_grow_with_the_square_of_the_partitions_as_long_as_they_are_few():
    """Each partition has a piece for each; where they are many, readers fetch them."""
    tasks = {gpus: Model(Job(), Cluster(gpus), 1e8, RATES).tasks()["scheduler"] for gpus in (8, 16, 32, 64)}
    assert tasks == pytest.approx({8: 2 * 0.080, 16: 2 * 0.288, 32: 2 * 0.096, 64: 2 * 0.192})
    assert MOST_PIECES == fetching.MOST_PIECES


def test_a_slow_file_system_binds_reading_and_writing():
    """Its rate is that of a host, which its GPUs share."""
    links = bound(Model(Job(), Cluster(8), 1e8, RATES | {"file system": 1.0}))
    assert (links[0], links[3]) == ("file system", "file system")


def test_the_page_has_the_table(capsys):
    """docs/scaling.md shows what the script prints."""
    main([])
    page = Path(__file__).parent.parent / "docs/scaling.md"
    assert capsys.readouterr().out in page.read_text(encoding="utf-8")
