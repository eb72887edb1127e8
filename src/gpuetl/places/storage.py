"""Options of an object store as a pipeline gives them: endpoint, region, credentials."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from gpuetl.records import dataclass

PREFIXES = ("aws_", "google_", "azure_storage_", "azure_")
"""Prefixes that obstore and Polars take, too: `aws_region` is `region`."""
SYNONYMS = {
    "endpoint_url": "endpoint",
    "base_url": "endpoint",
    "default_region": "region",
    "token": "bearer_token",
    "service_account_path": "service_account",
    "sas_key": "sas_token",
    "access_key": "account_key",
}


class StoreOption(NamedTuple):
    """An option: the schemes whose stores take it, whether its value is a secret, and whether it is true or false."""

    schemes: tuple[str, ...]
    secret: bool = False
    is_boolean: bool = False


OPTIONS = {
    "endpoint": StoreOption(("s3", "gs", "az")),
    "region": StoreOption(("s3",)),
    "profile": StoreOption(("s3",)),
    "access_key_id": StoreOption(("s3",), secret=True),
    "secret_access_key": StoreOption(("s3",), secret=True),
    "session_token": StoreOption(("s3",), secret=True),
    "virtual_hosted_style_request": StoreOption(("s3",), is_boolean=True),
    "request_payer": StoreOption(("s3",), is_boolean=True),
    "service_account": StoreOption(("gs",)),
    "service_account_key": StoreOption(("gs",), secret=True),
    "application_credentials": StoreOption(("gs",)),
    "account_name": StoreOption(("az",)),
    "account_key": StoreOption(("az",), secret=True),
    "sas_token": StoreOption(("az",), secret=True),
    "client_id": StoreOption(("az",)),
    "client_secret": StoreOption(("az",), secret=True),
    "tenant_id": StoreOption(("az",)),
    "bearer_token": StoreOption(("gs", "az"), secret=True),
    "skip_signature": StoreOption(("s3", "gs", "az"), is_boolean=True),
}
"""The options of storage by name."""
PLACE_OPTIONS = ("endpoint", "account_name")
"""Options that tell one store from another one with the same bucket."""
PLACE_VARIABLES = {
    ("s3", "endpoint"): ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    ("gs", "endpoint"): ("GOOGLE_BASE_URL",),
    ("az", "endpoint"): ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
    ("az", "account_name"): ("AZURE_STORAGE_ACCOUNT_NAME",),
}
"""The environment variables that stand in for them."""


def is_secret(name: str) -> bool:
    """Tell whether the value of an option must never be shown; an unknown one's may be secret."""
    return name not in OPTIONS or OPTIONS[name].secret


BOOLEANS = {"true": ("true", "1", "yes", "on"), "false": ("false", "0", "no", "off")}
"""How stores' clients write true and false."""


def stored_value(name: str, value: str) -> str | None:
    """Return the value of an option as a store's client takes it; None for one that should be true or false."""
    if not OPTIONS[name].is_boolean:
        return value
    return next((known for known, others in BOOLEANS.items() if value.lower() in others), None)


def option_name(name: str) -> str | None:
    """Return the name of an option that may be written as another tool has it; None for an unknown one."""
    plain = name.lower()
    for prefix in PREFIXES:
        plain = plain.removeprefix(prefix)
    plain = SYNONYMS.get(plain, plain)
    return plain if plain in OPTIONS else None


class EndpointProblem(NamedTuple):
    """Why a value is no endpoint, without the value, the next step, and whether the value has credentials in it."""

    message: str
    hint: str
    shows_secret: bool = False


def endpoint_problem(value: str) -> EndpointProblem | None:
    """Return what is wrong with an endpoint; None for the URL of a server without user, password and query."""
    url_hint = "Write a URL such as https://minio.example.com:9000."
    if "@" in value or "?" in value:
        hint = "Take them out, and give credentials by options of their own, such as access_key_id."
        return EndpointProblem("has a user, a password or a query, which may be secret", hint, shows_secret=True)
    try:
        url = urlsplit(value)
        is_server = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_server = False
    if not is_server or any(character.isspace() for character in value):
        return EndpointProblem("is no URL that begins with https:// or http://", url_hint)
    return None


@dataclass(frozen=True)
class Storage:
    """Options by name, of one store.  Values are never shown: the text of the object has the names alone."""

    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Storage:
        """Return options from a map; the order of the names does not matter."""
        return cls(tuple(sorted(options.items())))

    def __repr__(self) -> str:
        return f"Storage({', '.join(name for name, _ in self.options)})"

    @property
    def place(self) -> tuple[tuple[str, str], ...]:
        """The options that tell one store from another: other credentials read the same rows."""
        return tuple((name, value) for name, value in self.options if name in PLACE_OPTIONS)

    def server(self, scheme: str) -> tuple[str, ...]:
        """Return what tells the store from others of its scheme, by the options or else the environment."""
        given = dict(self.place)
        found = (given.get(name) or first_variable(scheme, name) for name in PLACE_OPTIONS)
        return tuple(value.rstrip("/").lower() for value in found)


def first_variable(scheme: str, name: str) -> str:
    """Return the value of the first environment variable that stands in for an option, nothing where none is set."""
    values = (os.environ.get(variable, "") for variable in PLACE_VARIABLES.get((scheme, name), ()))
    return next(filter(None, values), "")


DEFAULT = Storage()
"""Only the standard credentials of the store: environment, profile, instance."""
