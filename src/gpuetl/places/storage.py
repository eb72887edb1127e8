"""Options of an object store as a pipeline gives them: endpoint, region, credentials."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.records import dataclass

OPEN_OPTIONS = ("endpoint", "region", "profile", "skip_signature", "virtual_hosted_style_request")
"""Options whose values are no secrets, and tell one store from another."""


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
    def open(self) -> tuple[tuple[str, str], ...]:
        """The options whose values are no secrets."""
        return tuple((name, value) for name, value in self.options if name in OPEN_OPTIONS)


DEFAULT = Storage()
"""Only the standard credentials of the store: environment, profile, instance."""
