"""The client of an object store: one for each bucket and its options, shared by all threads of a process.

Credentials come from the options of the pipeline, and else from where each cloud's own tools look: environment
variables, AWS profiles (with boto3), Google's application default credentials, and the metadata of an instance.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import AzureStore, GCSStore, HTTPStore, S3Store

from gpuetl.errors import StoreFailure
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import StorePath
from gpuetl.places.storage import Storage, endpoint_problem

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

T = TypeVar("T")
RETRIES: RetryConfig = {
    "max_retries": 6,
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=10), "base": 2},
    "retry_timeout": timedelta(seconds=90),
}
"""Errors of the server, slow-downs and cut connections are tried again; the last one comes after about 20 seconds."""
CONNECT_TIMEOUT, READ_TIMEOUT = timedelta(seconds=10), timedelta(seconds=60)
VARIABLES = (b"AWS_", b"AZURE_", b"GOOGLE_", b"SSL_CERT_")
HTTP_SCHEMES = ("https", "http")
STORES: dict[str, Any] = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}


def client_of(path: StorePath) -> ObjectStore:
    """Return the client of the bucket, or of the server, of a path.

    Raises
    ------
    DatasetError
        For options that the store does not know, and for a path without a bucket.
    """
    if not path.parts:
        message = coded("GE1409", f"{path} has no bucket")
        raise DatasetError(message, f"Write {path.scheme}://bucket/key.")
    return _client(path.scheme, path.parts[0], path.storage, environment())


def environment() -> tuple[tuple[str, str], ...]:
    """Return the variables from which clients read their options: a notebook may set other ones later.

    Names are compared as bytes, since `os.environ` decodes all values, which takes 100 µs.
    """
    names = sorted(os.fsdecode(name) for name in os.environb if name.startswith(VARIABLES))
    return tuple((name, os.environ[name]) for name in names)


@cache
def _client(scheme: str, bucket: str, storage: Storage, variables: tuple[tuple[str, str], ...]) -> ObjectStore:
    options = dict(storage.options)
    client: ClientConfig = {"connect_timeout": CONNECT_TIMEOUT, "read_timeout": READ_TIMEOUT}
    endpoint = storage.server(scheme)[0]
    if endpoint and (problem := endpoint_problem(endpoint)):
        message = coded("GE1409", f"the endpoint of {scheme}://{bucket} {problem.message}")
        raise DatasetError(message, problem.hint)
    if endpoint.startswith("http:"):
        client["allow_http"] = True
    shared: dict[str, Any] = {"client_options": client, "retry_config": RETRIES}
    try:
        if scheme in HTTP_SCHEMES:
            client["allow_http"] = scheme == "http"
            return HTTPStore(f"{scheme}://{bucket}", **shared)
        if scheme == "s3" and (provider := given_keys(options) or aws_profile(options)):
            shared["credential_provider"] = provider
        if scheme == "gs" and "endpoint" in options:
            options["base_url"] = options.pop("endpoint")
        store: ObjectStore = STORES[scheme](bucket, config=options, **shared)
        return store
    except (BaseError, ValueError, TypeError) as error:
        message = coded("GE1409", f"the options of {scheme}://{bucket} are wrong: {unknown_option(error, options)}")
        raise DatasetError(message, "docs/language.md lists the options of each store, under Storage.") from None


def unknown_option(error: Exception, options: dict[str, str]) -> str:
    """Say what is wrong with options, without their values."""
    text = str(error).split("\n", 1)[0]
    for value in sorted(filter(None, options.values()), key=len, reverse=True):
        text = text.replace(value, "…")
    return text


def given_keys(options: dict[str, str]) -> Any:
    """Return what gives the keys among the options, without those of the environment; None without keys."""
    if not {"access_key_id", "secret_access_key"} <= options.keys():
        return None
    key, secret, token = (options.pop(name, None) for name in ("access_key_id", "secret_access_key", "session_token"))
    credential = {"access_key_id": key, "secret_access_key": secret, "token": token, "expires_at": None}
    return lambda: credential


def aws_profile(options: dict[str, str]) -> Any:
    """Return what gives the credentials of an AWS profile; None where keys are given, or there is no profile.

    Raises
    ------
    DatasetError
        For a profile that is asked for, without boto3.
    """
    name = options.pop("profile", os.environ.get("AWS_PROFILE", ""))
    has_keys = any(key.endswith("access_key_id") for key in options) or "AWS_ACCESS_KEY_ID" in os.environ
    folder = Path.home() / ".aws"
    if not name and (has_keys or options.get("skip_signature") == "true" or not (folder / "credentials").exists()):
        return None
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        message = coded("GE1409", f"AWS profiles need boto3{f' (profile {name})' if name else ''}")
        raise DatasetError(message, "pip install boto3, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.") from None
    try:
        session = boto3.Session(profile_name=name or None)
    except BotoCoreError as error:
        message = coded("GE1409", f"cannot use AWS profiles: {error}")
        raise DatasetError(message, "Look at ~/.aws/config and ~/.aws/credentials.") from None
    if session.region_name and "region" not in options:
        options["region"] = session.region_name
    return Boto3CredentialProvider(session)


@contextmanager
def store_errors(name: str) -> Iterator[None]:
    """Raise what a client raises as an `OSError` with an `errno`, in the user's words and without secrets.

    `name` is the key or the path.  An object that is not there is a `FileNotFoundError`, one that is there already, or
    has changed, a `FileExistsError`, and anything else a `StoreFailure`.
    """
    try:
        yield
    except (FileNotFoundError, NotFoundError) as error:
        raise FileNotFoundError(errno.ENOENT, reason(error, "there is no such object"), name) from None
    except (AlreadyExistsError, PreconditionError):
        raise FileExistsError(errno.EEXIST, "there is another object", name) from None
    except (UnauthenticatedError, PermissionDeniedError, PermissionError) as error:
        raise StoreFailure(errno.EACCES, reason(error, "the store denies it"), name) from None
    except InvalidPathError as error:
        key = QUOTED.search(str(error))
        why = "a key has an empty part, '.', '..' or a control character, which gpuetl does not support"
        raise StoreFailure(errno.EINVAL, f"{why}: {key[1]}" if key else why, name) from None
    except BaseError as error:
        raise StoreFailure(errno.EIO, reason(error, "the store fails"), name) from None


QUOTED = re.compile(r'Path "([^"]*)"')
NO_LENGTH = "Content-Length Header missing"
CUT = "kind: Interrupted"
REASONS = (
    ("NoSuchBucket", "there is no such bucket.  Create it, or correct the name"),
    ("ContainerNotFound", "there is no such container.  Create it, or correct the name"),
    ("ExpiredToken", "the credentials have expired.  Get new ones and run again"),
    ("InvalidAccessKeyId", "the store does not know the access key.  Check the credentials"),
    ("SignatureDoesNotMatch", "the secret key is wrong.  Check the credentials"),
    ("AccessDenied", "access is denied.  Check the credentials and the rights of their user"),
    ("status code: 403", "access is denied.  Check the credentials and the rights of their user"),
    ("status code: 401", "the store asks for credentials.  Set them in the environment, or in storage_options"),
    ("SlowDown", "the store answered again and again that it gets too many requests.  Run again later"),
    ("status code: 503", "the store is not available.  Run again later"),
    ("status code: 500", "the store answered with an error of its own (500).  Run again later"),
    (
        "status code: 400",
        "the store refuses the request (400).  The credentials may have expired, or the region is wrong",
    ),
    ("Received redirect without LOCATION", "the bucket is in another region.  Set the region"),
    (NO_LENGTH, "the server does not report the length of the file (Content-Length).  Download it and read the copy"),
    ("169.254.169.254", "there are no credentials.  Set them in the environment, or in storage_options"),
    ("dns error", "the name of the host is not known.  Check the endpoint"),
    ("Connection refused", "the host refuses the connection.  Check the endpoint"),
    ("tcp connect error", "the host cannot be reached.  Check the endpoint"),
    ("invalid peer certificate", "the certificate of the server is not trusted.  Name yours in SSL_CERT_FILE"),
    ("kind: Timeout", "the store does not answer in time.  Run again later"),
    (CUT, "the connection is cut again and again.  Run again later"),
)
"""What clients and servers write, and what it means."""


def is_cut(error: Exception) -> bool:
    """Tell whether a connection was cut in the middle of an answer, which clients do not always ask for again."""
    return CUT in str(error)


def again_if_cut(request: Callable[[], T]) -> T:
    """Return what a request does; make it again where its answer is cut, as often as other requests.

    Raises
    ------
    BaseError
        Of obstore, where it fails otherwise, or the last time.
    """
    for pause_s in pauses():
        try:
            return request()
        except BaseError as error:
            if not is_cut(error):
                raise
            time.sleep(pause_s)
    return request()


def pauses() -> Iterator[float]:
    """Yield how long to wait before each request that is made again, in seconds."""
    backoff = RETRIES["backoff"]
    for number in range(RETRIES["max_retries"]):
        yield min(backoff["init_backoff"] * backoff["base"] ** number, backoff["max_backoff"]).total_seconds()


def is_status(error: Exception, *statuses: int) -> bool:
    """Tell whether a server answered with one of some HTTP statuses."""
    return any(f"status code: {status}" in str(error) for status in statuses)


def reason(error: Exception, otherwise: str) -> str:
    """Return what happened, by what the server or the client wrote."""
    text = str(error)
    return next((meaning for mark, meaning in REASONS if mark in text), otherwise)
