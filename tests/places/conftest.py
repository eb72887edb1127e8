"""Servers of object stores for the tests of places: each is started by the first test that needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servers.azure import azurite
from servers.s3 import moto, s3rver
from servers.stores import StoreServer

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SERVERS: dict[str, Callable[[Path], AbstractContextManager[StoreServer]]] = {
    "moto": moto,
    "s3rver": s3rver,
    "azurite": azurite,
}
OTHER_ENGINES = "other engines than pandas on s3rver and Azurite: engines read every store by the same requests"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave tests of other engines on further stores to `make test-all`."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    if params.get("store_server", "moto") != "moto" and params.get("engine", "pandas") != "pandas":
        item.add_marker(pytest.mark.full(reason=OTHER_ENGINES))


@pytest.fixture(scope="session")
def running_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], StoreServer]]:
    """Return a server by its name, which runs until the last test has ended."""
    running: dict[str, tuple[AbstractContextManager[StoreServer], StoreServer]] = {}

    def run(name: str) -> StoreServer:
        if name not in running:
            context = SERVERS[name](tmp_path_factory.mktemp(name))
            running[name] = context, context.__enter__()
        return running[name][1]

    yield run
    for context, _ in running.values():
        context.__exit__(None, None, None)


@pytest.fixture(params=SERVERS)
def store_server(request: pytest.FixtureRequest, running_servers: Callable[[str], StoreServer]) -> StoreServer:
    """Each server of an object store."""
    return running_servers(request.param)


@pytest.fixture
def store_environment(monkeypatch: pytest.MonkeyPatch, store_server: StoreServer) -> None:
    """The options of the server in the environment, where all tools of its cloud look."""
    for name, value in store_server.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def store_bucket(store_server: StoreServer, store_environment: None) -> str:
    """The name of a new bucket on the server, which the environment makes known."""
    return store_server.new_bucket()


@pytest.fixture
def store(store_server: StoreServer, store_bucket: str) -> ObjectStore:
    """A client of the new bucket."""
    return store_server.client(store_bucket)


@pytest.fixture
def s3_server(running_servers: Callable[[str], StoreServer]) -> StoreServer:
    """The S3 server that knows conditions."""
    return running_servers("moto")


@pytest.fixture
def s3_endpoint(s3_server: StoreServer) -> str:
    """The address of an S3 server."""
    return s3_server.options["endpoint"]


@pytest.fixture
def bucket_name(s3_server: StoreServer) -> str:
    """A new bucket of the S3 server."""
    return s3_server.new_bucket()


@pytest.fixture
def s3(s3_server: StoreServer, bucket_name: str) -> ObjectStore:
    """A client of the bucket."""
    return s3_server.client(bucket_name)


@pytest.fixture
def s3_options(s3_server: StoreServer) -> dict[str, str]:
    """The storage options of the S3 server."""
    return dict(s3_server.options)


@pytest.fixture
def s3_environment(monkeypatch: pytest.MonkeyPatch, s3_server: StoreServer) -> None:
    """The options in the environment, where all AWS tools look."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
