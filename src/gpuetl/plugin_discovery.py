"""Plugins: steps, functions, formats and checks of other packages, found by their entry points.

    [project.entry-points."gpuetl.steps"]
    top = "gpuetl_shop.steps:Top"

The name of an entry point is the word that users write.  A plugin is imported when a pipeline uses its word, and no
package is looked at before gpuetl meets a word that is not its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from gpuetl.messages import coded
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
GROUPS = {"step": "gpuetl.steps", "function": "gpuetl.functions", "format": "gpuetl.formats", "check": "gpuetl.checks"}
"""The groups of entry points, by what messages call their plugins."""


class PluginProblem(Exception):
    """A plugin that cannot be used, worded for the user."""

    def __init__(self, message: str, hint: str) -> None:
        self.message, self.hint = message, hint
        super().__init__(message)


@dataclass(frozen=True)
class Plugin:
    """An entry point of an installed package."""

    kind: str
    name: str
    package: str
    version: str
    entry: EntryPoint

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.kind} '{self.name}' of package {self.package} {self.version}"

    def loaded(self) -> object:
        """Import the plugin, and return the object that its entry point names.

        Raises
        ------
        PluginProblem
            With the package, for one that cannot be imported.
        """
        try:
            return self.entry.load()
        except Exception as error:  # whatever the code of others raises
            message = coded("GE1040", f"{self.label} cannot be imported: {type(error).__name__}: {error}")
            raise PluginProblem(message, "Update the package, or uninstall it.") from error

    def refused(self, why: str) -> PluginProblem:
        """Return the error of an object that is no plugin of this kind."""
        return PluginProblem(
            coded("GE1042", f"{self.label} {why}"), "Tell its author: docs/plugins.md says what it takes."
        )


@cache
def plugins_of(kind: str) -> tuple[Plugin, ...]:
    """Return the plugins of a kind that are installed; none is imported."""
    from importlib.metadata import entry_points  # takes as long to import as a small pipeline to check

    found: dict[tuple[str, str], Plugin] = {}
    for entry in entry_points(group=GROUPS[kind]):
        package, version = (entry.dist.name, entry.dist.version) if entry.dist else (entry.module, "")
        found.setdefault((entry.name, package), Plugin(kind, entry.name, package, version, entry))
    return tuple(sorted(found.values(), key=lambda plugin: (plugin.name, plugin.package)))


def plugin_named(kind: str, name: str) -> Plugin | None:
    """Return the plugin of a name, if there is one.

    Raises
    ------
    PluginProblem
        For a name that two packages give to their plugins.
    """
    found = [plugin for plugin in plugins_of(kind) if plugin.name == name]
    if len(found) > 1:
        packages = " and ".join(plugin.package for plugin in found)
        raise PluginProblem(coded("GE1041", f"{packages} both have a {kind} '{name}'"), "Uninstall one of them.")
    return found[0] if found else None


def label_of(kind: str, name: str) -> str:
    """Return what messages call a plugin, with its package if it comes from an installed one."""
    plugin = next((one for one in plugins_of(kind) if one.name == name), None)
    return plugin.label if plugin else f"{kind} '{name}'"


class PluginTable(dict[str, T], Generic[T]):
    """A table of the language by the words of users, which plugins extend.

    Parameters
    ----------
    kind
        What its plugins are: a key of `GROUPS`.
    made
        Returns the entry of a plugin's object; raises `PluginProblem` for one that is of another kind.
    own
        gpuetl's own entries.
    """

    def __init__(self, kind: str, made: Callable[[Plugin, object], T], own: dict[str, T]) -> None:
        super().__init__(own)
        self.kind, self.made = kind, made

    def find(self, name: str) -> T | None:
        """Return the entry of a word, which may be that of a plugin; None where there is none.

        Raises
        ------
        PluginProblem
            For a plugin that cannot be used.
        """
        if name not in self and (plugin := plugin_named(self.kind, name)) is not None:
            self[name] = self.made(plugin, plugin.loaded())
        return self.get(name)

    def names(self) -> list[str]:
        """Return all words: gpuetl's own, then those of plugins, which are not imported for that."""
        return list(dict.fromkeys([*self, *(plugin.name for plugin in plugins_of(self.kind))]))

    def load_all(self) -> Iterator[PluginProblem]:
        """Import all plugins; yield what is wrong with those that cannot be used."""
        for name in self.names():
            try:
                self.find(name)
            except PluginProblem as error:
                yield error


def shadowed(kind: str, own: Iterable[str]) -> list[Plugin]:
    """Return plugins whose words are gpuetl's own: they are never used."""
    words = set(own)
    return [plugin for plugin in plugins_of(kind) if plugin.name in words]
