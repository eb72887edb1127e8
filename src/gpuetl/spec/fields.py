"""The keys of sources, steps and sinks, declared as dataclass fields that know how to be read and written.

    class Limit(Step):
        count: int = key(COUNT)

A field's form gives a value or raises `BadValue` at the node that is wrong, and writes plain data for YAML.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from typing import Any, Generic, TypeVar

from gpuetl.errors import Problems, suggestion
from gpuetl.spec.document import Node
from gpuetl.spec.values import BadExpression, BadValue

T = TypeVar("T")


@dataclass(frozen=True)
class Field(Generic[T]):
    """How a key's value is read from a node, and written back."""

    what: str
    read: Callable[[Node], T]
    write: Callable[[T], Any] = lambda value: value


def key(form: Field[Any], default: Any = MISSING, *, name: str = "") -> Any:
    """Declare a dataclass field that is a key of the language; without a default it must be given."""
    metadata = {"form": form, "key": name}
    if default is not MISSING and isinstance(default, dict | list):
        return dataclasses.field(default_factory=type(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def keys_of(cls: Any) -> dict[str, dataclasses.Field[Any]]:
    """Return the declared keys of a dataclass, by the names that users write."""
    declared = (f for f in dataclasses.fields(cls) if "form" in f.metadata)
    return {f.metadata["key"] or f.name: f for f in declared}


def read_keys(cls: type[T], node: Node, problems: Problems, within: str, **given: Any) -> T | None:
    """Read a mapping into a dataclass; returns None, with every problem kept, where a key is wrong or missing.

    `given` are the dataclass's fields that are no keys.
    """
    declared = keys_of(cls)
    if not isinstance(node.value, dict):
        problems.add(f"takes a map, got {node.kind}", f"keys: {', '.join(declared)}.", node.place(), within)
        return None
    values: dict[str, Any] = {}
    meant = ""
    count = len(problems.found)
    for name, value in node.items():
        if name not in declared:
            meant += suggestion(name, declared)
            problems.add(
                f"unknown key '{name}'",
                f"keys: {', '.join(declared)}.  {suggestion(name, declared)}".rstrip(),
                node.keys[name],
                within,
            )
            continue
        try:
            values[declared[name].name] = declared[name].metadata["form"].read(value)
        except BadExpression as error:
            problems.add(error.message, error.hint, error.node.place() if error.node else None, within)
        except BadValue as error:
            named = f"{name}: " if node.keys[name] != value.place() else ""  # a bare value has no key
            problems.add(f"{named}{error.message}", error.hint, (error.node or value).place(), within)
    for name, f in declared.items():
        if f"'{name}'" in meant:
            continue  # misspelt, and told
        if name not in node.value and f.default is MISSING and f.default_factory is MISSING:
            problems.add(f"the key '{name}' is missing", f"It takes {f.metadata['form'].what}.", node.place(), within)
    return cls(**given, **values) if len(problems.found) == count else None


def write_keys(value: Any) -> dict[str, Any]:
    """Return a dataclass's keys as plain data, without those at their default."""
    written: dict[str, Any] = {}
    for name, f in keys_of(type(value)).items():
        own = getattr(value, f.name)
        default = f.default if f.default_factory is MISSING else f.default_factory()
        if own != default:
            written[name] = f.metadata["form"].write(own)
    return written
