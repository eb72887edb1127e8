"""S3 servers: moto from PyPI, and s3rver from npm.

moto has conditions (`If-None-Match`) and checks no signatures.  s3rver checks signatures and ignores conditions, as some
stores do that speak S3.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from obstore.store import S3Store

from servers.node import program
from servers.processes import free_port, server
from servers.stores import Options, StoreServer

KEYS = {"access_key_id": "gpuetl", "secret_access_key": "s3-secret-of-tests", "region": "us-east-1"}
S3RVER_KEYS = {**KEYS, "access_key_id": "S3RVER", "secret_access_key": "S3RVER"}
VARIABLES = {
    "endpoint": "AWS_ENDPOINT_URL",
    "access_key_id": "AWS_ACCESS_KEY_ID",
    "secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "region": "AWS_REGION",
}


@contextmanager
def moto(folder: Path) -> Iterator[StoreServer]:
    """Run moto."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with server(command, port, folder / "moto.log"):
        yield s3_server("moto", f"http://127.0.0.1:{port}", KEYS)


@contextmanager
def s3rver(folder: Path) -> Iterator[StoreServer]:
    """Run s3rver."""
    port, objects = free_port(), folder / "objects"
    objects.mkdir()
    command = [*program("s3rver"), "-d", str(objects), "-a", "127.0.0.1", "-p", str(port), "--no-vhost-buckets"]
    with server(command, port, folder / "s3rver.log"):
        yield s3_server("s3rver", f"http://127.0.0.1:{port}", S3RVER_KEYS)


def s3_server(name: str, endpoint: str, keys: Options) -> StoreServer:
    """Return the server at an endpoint, which may be that of a proxy."""
    return StoreServer(name, "s3", {"endpoint": endpoint, **keys}, VARIABLES, make_bucket, make_client)


@contextmanager
def boto3_client(options: Options) -> Iterator[Any]:
    """Give a client of Amazon's own library."""
    client = boto3.client(
        "s3",
        endpoint_url=options["endpoint"],
        aws_access_key_id=options["access_key_id"],
        aws_secret_access_key=options["secret_access_key"],
        region_name=options["region"],
    )
    try:
        yield client
    finally:
        client.close()


def make_bucket(options: Options, name: str) -> None:
    """Make a bucket."""
    with boto3_client(options) as client:
        client.create_bucket(Bucket=name)


def make_client(options: Options, bucket: str) -> S3Store:
    """Return a client of obstore."""
    config: Any = dict(options)
    return S3Store(bucket, config=config, client_options={"allow_http": True})
