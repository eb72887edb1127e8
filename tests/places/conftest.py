"""Servers of object stores for the tests of places."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
import urllib3
from obstore.store import S3Store

from servers.s3 import client, moto, options_of


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An S3 server."""
    with moto(tmp_path_factory.mktemp("s3")) as endpoint:
        yield endpoint


@pytest.fixture
def bucket_name(s3_endpoint: str) -> str:
    """A new bucket."""
    name = f"lake-{uuid.uuid4().hex[:8]}"
    with urllib3.PoolManager() as http:
        assert http.request("PUT", f"{s3_endpoint}/{name}").status == 200
    return name


@pytest.fixture
def s3(s3_endpoint: str, bucket_name: str) -> S3Store:
    """A client of the bucket."""
    return client(s3_endpoint, bucket_name)


@pytest.fixture
def s3_options(s3_endpoint: str) -> dict[str, str]:
    """The storage options of the server."""
    return options_of(s3_endpoint)


@pytest.fixture
def s3_environment(monkeypatch: pytest.MonkeyPatch, s3_options: dict[str, str]) -> None:
    """The options in the environment, where all AWS tools look."""
    names = {"endpoint": "AWS_ENDPOINT_URL", "region": "AWS_REGION"}
    for name, value in s3_options.items():
        monkeypatch.setenv(names.get(name, f"AWS_{name.upper()}"), value)
