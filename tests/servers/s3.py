"""An S3 server: moto, from PyPI."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from obstore.store import S3Store

from servers.processes import free_port, server

KEYS = {"access_key_id": "gpuetl", "secret_access_key": "s3-secret-of-tests", "region": "us-east-1"}


@contextmanager
def moto(folder: Path) -> Iterator[str]:
    """Give the endpoint of a moto server."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with server(command, port, folder / "moto.log"):
        yield f"http://127.0.0.1:{port}"


def options_of(endpoint: str) -> dict[str, str]:
    """Return the storage options of a server of this module."""
    return {"endpoint": endpoint, **KEYS}


def client(endpoint: str, bucket: str) -> S3Store:
    """Return a client of obstore, for what tests put there and look at."""
    options: Any = options_of(endpoint)
    return S3Store(bucket, config=options, client_options={"allow_http": True})
