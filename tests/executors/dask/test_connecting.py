"""What a run says of a scheduler that it does not reach, and of workers that cannot run it."""

import shutil
import socket
import subprocess
import threading
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from weakref import WeakKeyDictionary

import pytest

from command import gpuetl
from gpuetl import EngineUnavailable, RunOptions
from gpuetl.executors.dask import cluster as greeting
from gpuetl.executors.dask import workers
from gpuetl.executors.dask.cluster import client_at
from gpuetl.executors.dask.installed import check_installed, installed, note
from gpuetl.options import Cluster
from gpuetl.telemetry.recorder import silent
from tables import table, write_source

distributed = pytest.importorskip("distributed")
LOG = "A scheduler's log has its address after 'Scheduler at:'."
FILES = "--tls-ca ca.pem --tls-cert cert.pem --tls-key key.pem"


@pytest.fixture
def file(pipeline):
    """The file of a pipeline."""
    write_source(pipeline, "t", table({"x": "int64"}, (1,), (2,))).limit(1).stage("one")
    pipeline.to_yaml(pipeline.root / "p.yaml")
    return pipeline.root / "p.yaml"


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Nobody waits long."""
    monkeypatch.setattr(greeting, "ANSWER_S", 0.5)
    monkeypatch.setattr(workers, "WAIT_S", 1)
    monkeypatch.setattr(workers, "_LAST_ANSWERS", WeakKeyDictionary())


@contextmanager
def scheduler(**options):
    """A scheduler in this process, without workers; gives its address."""
    pages = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    options = {"n_workers": 0, "processes": False, "host": "127.0.0.1", "scheduler_kwargs": pages, **options}
    with distributed.LocalCluster(**options) as made:
        yield made.scheduler_address


@contextmanager
def listening(banner=b""):
    """What listens and is no scheduler; gives its address."""

    def speak():
        with server.accept()[0] as line, suppress(OSError):
            line.sendall(banner)
            line.recv(1)  # until the other side hangs up

    with socket.create_server(("127.0.0.1", 0)) as server:
        if banner:
            threading.Thread(target=speak).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


def told(address, **options):
    """Return the lines of the error of a connection."""
    with pytest.raises(EngineUnavailable) as caught:
        client_at(address, Cluster(address=address, **options))
    return str(caught.value).splitlines()


def test_nobody_who_listens_is_told_at_once_with_the_command_that_starts_one(file):
    """On the command line, with the exit code of an engine that cannot run."""
    with listening() as address:
        port = address.rpartition(":")[2]
    done = gpuetl("run", file, "--engine", "dask", "--cluster", address)
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        f"cannot connect to a scheduler at {address}: Connection refused.",
        f"Start one on that host by `dask scheduler --port {port}`, or check the address.  {LOG}",
    ]


@pytest.mark.parametrize("banner", [b"", b"SSH-2.0-OpenSSH_9.2p1\r\n", b"+OK\r\n"])
def test_what_listens_and_is_no_scheduler_is_told(banner):
    """What says nothing may be one with TLS, which waits for the other side to speak."""
    with listening(banner) as address:
        assert told(address) == [
            f"cannot connect to a scheduler at {address}: what listens there does not speak as one.",
            f"One with TLS is reached by --cluster {address.replace('tcp', 'tls')} {FILES}.  {LOG}",
        ]


def test_a_host_without_a_name_and_an_address_without_a_port_are_told(monkeypatch):
    """With what an address looks like."""

    def unresolved(*address):
        raise socket.gaierror(-2, "Name or service not known")

    hint = f"Check the address, such as tcp://host:8786, and whether this host may reach it.  {LOG}"
    assert told("tcp://here") == [
        "cannot connect to a scheduler at tcp://here: missing port number in address 'here'.", hint
    ]  # fmt: skip
    monkeypatch.setattr(socket, "create_connection", unresolved)
    assert told("tcp://nowhere:1") == [
        "cannot connect to a scheduler at tcp://nowhere:1: Name or service not known.", hint
    ]  # fmt: skip


def test_a_scheduler_without_workers_is_told_with_the_commands_that_start_some(file):
    """The run has waited for a first one."""
    with scheduler(protocol="tcp") as address:
        done = gpuetl("run", file, "--engine", "dask", "--cluster", address)
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        f"the scheduler at {address} had no worker for 1 s.",
        f"Start some by `dask worker {address} --nthreads 1 --memory-limit 0`, for dask-cuda `dask cuda worker "
        f"{address}`, and see in their logs whether they reach it.",
    ]


class FakeClient:
    """A client of which scheduler and workers say what they are given to say."""

    def __init__(self, scheduler, **workers):
        self.scheduler, self.workers = scheduler, workers
        self.asked = 0

    def nthreads(self):
        return dict.fromkeys(self.workers, 1)

    def run(self, function, on_error):
        self.asked += 1
        return self.workers

    def run_on_scheduler(self, function):
        if isinstance(self.scheduler, Exception):
            raise self.scheduler
        return self.scheduler


def test_another_gpuetl_or_python_is_told():
    """Before a plan is sent, which it could not unpack."""
    here, other = installed(), "gpuetl 0.0.9 (0badcafe) on Python 3.10"
    check_installed(FakeClient(here, a=here, dies=OSError("closed")), frozenset({"a", "dies"}))
    for client, who in (
        (FakeClient(here, a=here, b=other), f"the worker at b cannot take a plan from {here}: it has {other}."),
        (
            FakeClient(ModuleNotFoundError("No module named 'gpuetl'"), a=here),
            f"the scheduler cannot take a plan from {here}: No module named 'gpuetl'.",
        ),
    ):
        for _ in range(2):
            with pytest.raises(EngineUnavailable) as caught:
                check_installed(client, frozenset(client.workers))
        assert client.asked == 2
        assert str(caught.value).splitlines() == [
            who, "Plans travel as Python objects: install the same for the scheduler, its workers and here."
        ]  # fmt: skip


def test_workers_that_have_the_same_are_asked_once():
    """Others that come are asked, too."""
    client = FakeClient(installed(), a=installed())
    for _ in range(2):
        check_installed(client, frozenset("a"))
    assert client.asked == 1
    client.workers["b"] = installed()
    check_installed(client, frozenset("ab"))
    assert client.asked == 2


def test_a_worker_that_was_started_anew_at_its_address_is_told_where_it_has_another():
    """Workers with a port of their own are."""

    class Noted(FakeClient):
        def run(self, function, *_, on_error):
            return {"a": installed()} if function is installed else {"a": (1 << 30, True, "gpuetl 0.0.9")}

    client = Noted(installed(), a=installed())
    client.scheduler = SimpleNamespace(address="tcp://here")
    note(client, "installed", frozenset("a"))
    with pytest.raises(EngineUnavailable, match=r"the worker at a cannot take a plan from .*: it has gpuetl 0\.0\.9\."):
        workers.capacity_of(client, "pandas", silent)


def test_a_worker_that_cannot_load_the_engine_is_told(pipeline, cluster, monkeypatch):
    """And not waited for, as one that has died would be."""

    def missing(name):
        raise ModuleNotFoundError("No module named 'pylibcudf'")

    write_source(pipeline, "t", table({"x": "int64"}, (1,))).limit(1).stage("one")
    monkeypatch.setattr(workers, "load_backend", missing)
    with pytest.raises(EngineUnavailable, match=r"the worker at inproc://.* cannot .*: No module named 'pylibcudf'"):
        pipeline.run(engine="dask", options=RunOptions())


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Files of an authority that signs itself, which is the certificate too."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    made = ("-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=cluster")
    subprocess.run(["openssl", "req", *made, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return {"tls_ca": cert, "tls_cert": cert, "tls_key": key}


def test_a_scheduler_is_reached_by_tls_with_its_certificates(pipeline, certificates):
    """By them alone."""
    ca, cert, key = map(str, certificates.values())
    security = distributed.Security(
        tls_ca_file=ca, tls_scheduler_cert=cert, tls_scheduler_key=key, tls_worker_cert=cert, tls_worker_key=key,
        tls_client_cert=cert, tls_client_key=key, require_encryption=True,
    )  # fmt: skip
    t = write_source(pipeline, "t", table({"x": "int64"}, (1,), (2,)))
    t.write_parquet("out", "out", mode="overwrite")
    with scheduler(protocol="tls", security=security, n_workers=1, threads_per_worker=1, memory_limit=0) as address:
        options = RunOptions(cluster=Cluster(address=address, **certificates))
        assert pipeline.run(engine="dask", options=options).report.sinks[0].rows == 2
        plain = address.replace("tls", "tcp")
        assert told(address) == [
            f"cannot connect to a scheduler at {address}: no certificates were given.",
            f"Give the certificates that it was started with by {FILES}, or name one without TLS as {plain}.",
        ]
        assert told(plain)[1] == f"One with TLS is reached by --cluster {address} {FILES}.  {LOG}"


def test_a_scheduler_without_tls_is_told_from_one_with_it(certificates):
    """It says so, and no more of certificates."""
    with scheduler(protocol="tcp") as address:
        encrypted = address.replace("tcp", "tls")
        first, hint = told(encrypted, **certificates)
    assert "WRONG_VERSION_NUMBER" in first
    assert hint.endswith(f"or name one without TLS as {address}.")
