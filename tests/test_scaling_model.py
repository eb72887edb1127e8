"""The calculation for many GPUs: what binds, and the table of the page that tells of it."""

from pathlib import Path

import pytest

from benchmarks.scaling_model import ASSUMED, MEASURED, Cluster, Job, Model, main

RATES = MEASURED | ASSUMED


def bound(model):
    """The links that bind, phase by phase."""
    return [link for _, link in model.phases()]


def test_one_gpu_exchanges_nothing():
    """A cluster of one GPU reads, computes and writes."""
    seconds = [seconds for seconds, _ in Model(Job(27, (40,), 9.3), Cluster(1), 1e9, RATES).phases()]
    assert seconds == pytest.approx([1.0, 0.0, 1e9 / 720e6, 1.0])


def test_what_leaves_a_host_goes_over_the_network():
    """Of 64 GPUs in 8 hosts, 56 are elsewhere: so is that share of the rows of each, and 7 are reached by NVLink."""
    moved = Model(Job(exchanged=(40,)), Cluster(64), 1e9, RATES).moved()
    assert moved == pytest.approx({"device memory": 0.04, "NVLink": 40 * 7 / 64 / 395, "network": 40 * 56 / 64 / 40})


def test_tasks_grow_with_the_square_of_the_partitions():
    """Each partition has a piece for each: a hundred rows more are nothing beside that."""
    few, many = (Model(Job(), Cluster(64, partitions=own), 1e8, RATES) for own in (1, 2))
    assert bound(few)[1] == bound(many)[1] == "scheduler"
    assert many.tasks()["scheduler"] > 3.9 * few.tasks()["scheduler"]


def test_a_slow_file_system_binds_reading_and_writing():
    """Its rate is that of a host, which its GPUs share."""
    links = bound(Model(Job(), Cluster(8), 1e8, RATES | {"file system": 1.0}))
    assert (links[0], links[3]) == ("file system", "file system")


def test_the_page_has_the_table(capsys):
    """docs/scaling.md shows what the script prints."""
    main([])
    page = Path(__file__).parent.parent / "docs/scaling.md"
    assert capsys.readouterr().out in page.read_text(encoding="utf-8")
