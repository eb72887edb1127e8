"""Workers that a run starts on this machine."""

import logging
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpuetl import InvalidPipeline
from gpuetl.executors.dask.cluster import closing, open_client, settings
from gpuetl.executors.dask.local_cluster import quiet
from gpuetl.options import Cluster
from gpuetl.signals import Stopped, stopping

pytest.importorskip("distributed")
SAID = """
import dask
from gpuetl.executors.dask.cluster import open_client
from gpuetl.executors.dask.local_cluster import quiet
from gpuetl.options import Cluster

if __name__ == "__main__":
    with open_client("dask", Cluster(workers=1)) as client:
        (profiles,) = client.run(lambda: dask.config.get("distributed.worker.profile.enabled")).values()
        print(client.scheduler.address, profiles)
"""


def test_workers_that_a_run_starts_listen_on_loopback_and_are_not_profiled(tmp_path):
    """The profiler keeps what tasks work with for a while."""
    (tmp_path / "said.py").write_text(SAID, encoding="utf-8")
    run = subprocess.run([sys.executable, tmp_path / "said.py"], capture_output=True, text=True, check=True)
    address, profiles = run.stdout.split()
    assert address.startswith("tcp://127.0.0.1:")
    assert profiles == "False"


def test_a_signal_waits_until_a_cluster_is_closed():
    """Dask waits ten seconds, when the program ends, for one whose closing was broken off."""
    done = []

    class Made:
        def close(self, timeout):
            signal.raise_signal(signal.SIGTERM)  # the other may be ignored where nobody is at a terminal
            done.append(timeout)

    with pytest.raises(Stopped), stopping(), closing(Made()):
        pass
    assert done


def test_blocks_without_logs_may_overlap_in_threads():
    """The last one to end gives the levels back."""
    log = logging.getLogger("distributed")
    before, first, second = log.level, quiet(), quiet()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert log.level > logging.CRITICAL
    second.__exit__(None, None, None)
    assert log.level == before


def test_those_who_look_at_pages_decide_by_dask_s_configuration():
    """By default workers are profiled there."""
    assert "distributed.worker.profile.enabled" not in settings(Cluster(dashboard="127.0.0.1:8787"), Path("scratch"))


@pytest.mark.parametrize("seconds", [0, 0.5, float("inf"), "60"])
def test_a_worker_may_be_silent_for_a_number_of_seconds_from_1(seconds):
    with pytest.raises(
        InvalidPipeline, match=f"option worker_timeout_s takes a number of seconds from 1, got {seconds!r}"
    ):
        Cluster(worker_timeout_s=seconds)


def test_how_long_a_worker_may_be_silent_names_no_cluster(cluster):
    """The client that is current is taken, as without it."""
    with open_client("dask", Cluster(worker_timeout_s=30)) as client:
        assert client is cluster


@pytest.mark.gpu
def test_gpus_talk_by_ucx_which_wakes_them_and_the_scheduler_by_tcp(gpu_cluster):
    """So no worker asks for messages again and again while a task wants the interpreter.

    The driver's process has no thread that wakes it: that one can end the process while the cluster is closed.
    """

    def waits():
        import ucxx

        return ucxx.core._get_ctx().enable_python_future

    assert gpu_cluster.scheduler.address.startswith("tcp://127.0.0.1:")
    assert {address.partition(":")[0] for address in gpu_cluster.nthreads()} == {"ucx"}
    assert set(gpu_cluster.run(waits).values()) == {True}
    assert not waits()
