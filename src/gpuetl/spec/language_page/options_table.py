"""Tables of keys on the language's page: what each takes, its default, and its meaning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field
from typing import Any

from gpuetl.formats.registry import format_named
from gpuetl.places.storage import OPTIONS
from gpuetl.spec.fields import form_of, keys_of
from gpuetl.spec.format_keys import Entry, formats_of, options_of
from gpuetl.spec.model import SourceSpec
from gpuetl.spec.steps.step import Step


def options_table(cls: type[Any], other: Mapping[str, tuple[str, str]] | None = None) -> str:
    """Return the keys of a dataclass as a table; `other` are what further keys take, and their meaning."""
    rows = [f"| {name} | {what} | required | {doc} |" for name, (what, doc) in (other or {}).items()]
    return table(("key", "takes", "default", "meaning"), [*rows, *map(row_of, keys_of(cls), keys_of(cls).values())])


def step_table(step: type[Step]) -> str:
    """Return the keys of a step as a table; a key that need not be written is marked."""
    only = "the value" if step.bare else f"{step.main}, or the value"
    rows = [row_of(only if name == step.main else name, field) for name, field in keys_of(step).items()]
    return table(("key", "takes", "default", "meaning"), rows)


def format_tables(entry: Entry) -> str:
    """Return a table of options for each format that has some."""
    kind = "sources" if entry is SourceSpec else "sinks"
    parts = list[str]()
    for name in formats_of(entry):
        if keys_of(options := options_of(entry, name)):
            parts.append(f"Only {format_named(name).title} {kind} have these keys:\n\n{options_table(options)}")
    return "\n".join(parts)


def store_table() -> str:
    """Return the options of object stores as a table."""
    rows = [
        f"| `{name}` | {', '.join(f'`{scheme}://`' for scheme in option.schemes)} | {'yes' if option.secret else ''} |"
        for name, option in OPTIONS.items()
    ]
    return table(("option", "stores", "secret"), rows)


def table(titles: tuple[str, ...], rows: list[str]) -> str:
    """Return a Markdown table of rows that are written already."""
    return "\n".join([f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}", *rows, ""])


def row_of(name: str, field: Field[Any]) -> str:
    """Return the row of a key."""
    return f"| {name} | {form_of(field).what} | {default_of(field)} | {field.metadata['doc']} |"


def default_of(field: Field[Any]) -> str:
    """Return the default of a key as the page shows it."""
    if field.default is MISSING:
        return "required" if field.default_factory is MISSING else "none"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if field.default in ("", (), None):
        return "none"
    plain = form_of(field).write(field.default)
    return "none" if plain in (None, "") else f"`{json.dumps(plain) if isinstance(plain, list) else plain}`"
