"""Azurite: Microsoft's emulator of Azure's blobs, from npm."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import urllib3
from obstore.store import AzureStore

from servers.node import program
from servers.processes import free_port, server
from servers.stores import Options, StoreServer

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account of Azurite and its key, which Microsoft's documentation prints."""
VARIABLES = {
    "endpoint": "AZURE_STORAGE_ENDPOINT",
    "account_name": "AZURE_STORAGE_ACCOUNT_NAME",
    "account_key": "AZURE_STORAGE_ACCOUNT_KEY",
}


@contextmanager
def azurite(folder: Path) -> Iterator[StoreServer]:
    """Run Azurite."""
    port = free_port()
    command = [*program("azurite-blob"), "--blobPort", str(port), "--silent", "--disableTelemetry"]
    command += ["--skipApiVersionCheck", "--inMemoryPersistence"]
    options = {"endpoint": f"http://127.0.0.1:{port}/{ACCOUNT}", "account_name": ACCOUNT, "account_key": KEY}
    with server(command, port, folder / "azurite.log"):
        yield StoreServer("azurite", "az", options, VARIABLES, make_container, make_client)


def make_container(options: Options, name: str) -> None:
    """Make a container, by the request that the emulator's documentation describes; obstore makes none."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    lines = ["PUT", *[""] * 11, *(f"{key}:{value}" for key, value in sorted(headers.items()))]
    lines += [f"/{ACCOUNT}/{ACCOUNT}/{name}", "restype:container"]
    digest = hmac.digest(base64.b64decode(options["account_key"]), "\n".join(lines).encode(), hashlib.sha256)
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    with urllib3.PoolManager() as http:
        answer = http.request("PUT", f"{options['endpoint']}/{name}?restype=container", headers=headers)
    if answer.status != 201:
        raise RuntimeError(f"Azurite makes no container: {answer.data.decode(errors='replace')}")


def make_client(options: Options, bucket: str) -> AzureStore:
    """Return a client of obstore."""
    config: Any = dict(options)
    return AzureStore(bucket, config=config, client_options={"allow_http": True})
