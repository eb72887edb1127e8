"""The keys of sources and sinks: those that all have, and the options that their format declares."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from gpuetl.errors import InvalidPipeline, Problems
from gpuetl.format_options import FormatOptions, option_names
from gpuetl.formats.registry import FORMATS, read_options_of, sink_formats, source_formats, write_options_of
from gpuetl.messages import coded
from gpuetl.spec.document import Node
from gpuetl.spec.fields import check_names, keys_of, read_values
from gpuetl.spec.model import SinkSpec, SourceSpec
from gpuetl.spec.values import Text

Entry = type[SourceSpec] | type[SinkSpec]


def formats_of(entry: Entry) -> tuple[str, ...]:
    """Return the formats that sources or sinks can have."""
    return source_formats() if entry is SourceSpec else sink_formats()


def formats_used(entry: Entry, node: Node) -> tuple[str, ...]:
    """Return the formats that sources or sinks can have; that of a plugin is loaded where one of the keys names it.

    Raises
    ------
    PluginProblem
        For a plugin that cannot be used.
    """
    formats = formats_of(entry)
    if isinstance(node.value, dict) and not any(name in node.value for name in formats):
        known = keys_of(entry)
        for name in node.value:
            if name not in known:
                FORMATS.find(name)
    return formats_of(entry)


def options_of(entry: Entry, name: str) -> type[FormatOptions]:
    """Return the class of the options that sources or sinks of a format take."""
    return read_options_of(name) if entry is SourceSpec else write_options_of(name)


def keys_in(entry: Entry, name: str) -> dict[str, dataclasses.Field[Any]]:
    """Return the keys of sources or sinks of a format, beside the path."""
    return {**keys_of(entry), **keys_of(options_of(entry, name))}


def other_option(entry: Entry, name: str, key: str) -> tuple[str, str] | None:
    """Word an option of other formats that a source or sink of a format has, with a hint; None for any other key."""
    others = [one for one in formats_of(entry) if key in option_names(options_of(entry, one))]
    if not others or key in keys_in(entry, name):
        return None
    titles = " and ".join(FORMATS[one].title for one in others)
    own, kind = option_names(options_of(entry, name)), "sources" if entry is SourceSpec else "sinks"
    title = FORMATS[name].title
    have = f"Options of {title} {kind}: {', '.join(own)}." if own else f"{title} {kind} have no options of their own."
    return coded("GE1430", f"{key} is an option of {titles} {kind}"), f"Take it out.  {have}"


def read_entry(entry: Entry, name: str, path: Text, node: Node, problems: Problems, within: str) -> Any:
    """Read a source or sink of a format from a map without the path; None, with every problem kept, for a wrong key."""
    values, refused = dict[str, Node](), False
    for key, value in node.items():
        if problem := other_option(entry, name, key):
            message, hint = problem
            problems.add(message, hint, node.keys[key], within)
            refused = True
        else:
            values[key] = value
    own = dataclasses.replace(node, value=values)
    read = read_values(keys_in(entry, name), own, problems, within)
    return None if read is None or refused else made_entry(entry, name, path, read)


def made_entry(entry: Entry, name: str, path: Text, values: Mapping[str, Any]) -> Any:
    """Return a source or sink of a format, with values by the names of their fields."""
    options = options_of(entry, name)
    own = {key: value for key, value in values.items() if key in option_names(options)}
    rest = {key: value for key, value in values.items() if key not in own}
    return entry(name, path, options=options(**own), **rest)


def check_entry_names(entry: Entry, name: str, given: Iterable[str], within: str) -> None:
    """Raise `InvalidPipeline` for a name that is no key of sources or sinks of a format."""
    for key in given:
        if problem := other_option(entry, name, key):
            raise InvalidPipeline.because(*problem, within)
    check_names(keys_in(entry, name), given, within)
