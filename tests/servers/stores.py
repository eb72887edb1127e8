"""A server of an object store, as tests see it: its storage options, and what makes buckets."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from obstore.store import ObjectStore

Options = Mapping[str, str]


@dataclass(frozen=True)
class StoreServer:
    """A server that runs.

    Attributes
    ----------
    name, scheme
        The program, and the scheme of its paths.
    options
        The storage options of its only user.
    variables
        The environment variables in which tools look for the options.
    make_bucket, make_client
        Make a bucket of a name; return a client of obstore for what tests put there and look at.
    """

    name: str
    scheme: str
    options: Options
    variables: Mapping[str, str]
    make_bucket: Callable[[Options, str], None]
    make_client: Callable[[Options, str], ObjectStore]

    def new_bucket(self) -> str:
        """Make an empty bucket, and return its name."""
        name = f"lake-{uuid.uuid4().hex[:8]}"
        self.make_bucket(self.options, name)
        return name

    def client(self, bucket: str) -> ObjectStore:
        """Return a client of a bucket."""
        return self.make_client(self.options, bucket)

    @property
    def environment(self) -> dict[str, str]:
        """The options as environment variables."""
        return {self.variables[name]: value for name, value in self.options.items()}
