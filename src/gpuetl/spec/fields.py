"""The keys of sources, steps and sinks, declared as dataclass fields that know how to be read and written.

    class Limit(Step):
        count: int = key(COUNT)

A field's form gives a value or raises `BadValue` at the node that is wrong, and writes plain data for YAML.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from functools import cache
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from gpuetl.errors import InvalidPipeline, Problems
from gpuetl.format_options import BadOption, Form, JsonSchema
from gpuetl.messages import coded, recoded
from gpuetl.records import dataclass
from gpuetl.spec.deferred import Deferred, names_parameter, python_node, read_constant
from gpuetl.spec.deferred import written as escaped
from gpuetl.spec.document import Node, plain_data, plain_node
from gpuetl.spec.synonyms import keys_hint, word_suggestion
from gpuetl.spec.values import BadExpression, BadValue

T = TypeVar("T")


@dataclass(frozen=True)
class Field(Generic[T]):
    """How a key's value is read from a node, and written back.

    `checked` gives the plain data that reading checks where the value was built in Python: what is written, unless
    that costs more than it tells.  Parameters may stand in the place of a `constant`.
    `schema` is the JSON Schema of the value, if it is known; editors complete and check by it.
    """

    what: str
    read: Callable[[Node], T]
    write: Callable[[T], Any] = lambda value: value
    checked: Callable[[T], Any] | None = None
    constant: bool = False
    schema: JsonSchema | None = None


def key(form: Field[Any], default: Any = MISSING, *, name: str = "", doc: str = "") -> Any:
    """Declare a dataclass field that is a key of the language; without a default it must be given.

    `doc` says what it means, in a line without a full stop.
    """
    metadata = {"form": form, "key": name, "doc": doc}
    if default is not MISSING and isinstance(default, dict | list):
        return dataclasses.field(default_factory=type(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def keys_of(cls: Any) -> Mapping[str, dataclasses.Field[Any]]:
    """Return the declared keys of a dataclass, by the names that users write."""
    return _keys_of(cls)


@cache
def _keys_of(cls: Any) -> Mapping[str, dataclasses.Field[Any]]:
    declared = (f for f in dataclasses.fields(cls) if "form" in f.metadata)
    return MappingProxyType({f.metadata["key"] or f.name: f for f in declared})


def required_keys(cls: Any) -> list[str]:
    """Return the names of the keys that must be given."""
    return [name for name, f in keys_of(cls).items() if is_required(f)]


def is_required(field: dataclasses.Field[Any]) -> bool:
    """Return whether a key has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def key_doc(field: dataclasses.Field[Any]) -> str:
    """Return what a key means as a sentence; of a key without documentation what it takes."""
    doc = field.metadata.get("doc") or f"takes {form_of(field).what}"
    return f"{doc[0].upper()}{doc[1:]}."


def form_of(field: dataclasses.Field[Any]) -> Field[Any]:
    """Return the form of a key; that of an option of a format reads the plain data of a node."""
    form = field.metadata["form"]
    return option_field(form) if isinstance(form, Form) else form


def option_field(form: Form[T]) -> Field[T]:
    """Return the field of a format's option."""

    def read(node: Node) -> T:
        try:
            return form.read(plain_data(node))
        except BadOption as error:
            hint = error.hint or (word_suggestion(error.word, error.choices) if error.word else "")
            raise BadValue(coded("GE1008", error.message), part_of(node, error.path), hint) from None

    return Field(form.what, read, form.write, constant=True, schema=form.schema)


def part_of(node: Node, path: Iterable[str | int]) -> Node:
    """Return the node below another one that keys and numbers lead to."""
    for step in path:
        node = node.value[step]
    return node


def read_keys(cls: type[T], node: Node, problems: Problems, within: str, **given: Any) -> T | None:
    """Read a mapping into a dataclass; returns None, with every problem kept, where a key is wrong or missing.

    A key whose expressions are wrong, and nothing else, is read as far as that goes: what follows is checked.
    `given` are the dataclass's fields that are no keys.
    """
    values = read_values(keys_of(cls), node, problems, within)
    return None if values is None else cls(**given, **values)


def read_values(
    declared: Mapping[str, dataclasses.Field[Any]], node: Node, problems: Problems, within: str
) -> dict[str, Any] | None:
    """Read a mapping of declared keys into values by the names of their fields, as `read_keys` does."""
    if not isinstance(node.value, dict):
        hint = f"Keys: {', '.join(declared)}."
        problems.add(coded("GE1008", f"takes a map, got {node.kind}"), hint, node.place(), within)
        return None
    values: dict[str, Any] = {}
    meant = ""
    complete = True
    for name, value in node.items():
        if name not in declared:
            meant += word_suggestion(name, declared)
            problems.add(coded("GE1006", f"unknown key '{name}'"), keys_hint(name, declared), node.keys[name], within)
            complete = False
            continue
        try:
            form = form_of(declared[name])
            named = "" if node.keys[name] == value.place() else name  # a bare value has no key
            values[declared[name].name] = (
                read_constant(form, value, named, within) if form.constant else form.read(value)
            )
        except BadValue as error:
            for one in error.each:
                bare = isinstance(one, BadExpression) or node.keys[name] == value.place()  # a bare value has no key
                message = one.message if bare else recoded(f"{name}: {one.message}", one.message)
                problems.add(message, one.hint, (one.node or value).place(), within)
            if error.usable is None:
                complete = False
            values[declared[name].name] = error.usable
    for name in filter(lambda name: is_required(declared[name]), declared):
        if f"'{name}'" in meant:
            continue  # misspelt, and told
        if name not in node.value:
            what = form_of(declared[name]).what
            problems.add(coded("GE1007", f"the key '{name}' is missing"), f"It takes {what}.", node.place(), within)
            complete = False
    return values if complete else None


def write_keys(value: Any) -> dict[str, Any]:
    """Return a dataclass's keys as plain data, without those at their default."""
    written: dict[str, Any] = {}
    for name, f in keys_of(type(value)).items():
        own = getattr(value, f.name)
        if own != _default(f):
            written[name] = write_key(form_of(f), own)
    return written


def write_key(form: Field[Any], value: Any) -> Any:
    """Return the value of a key as plain data."""
    if isinstance(value, Deferred):
        return plain_lists(value.data)
    plain = form.write(value)
    return escaped(plain) if form.constant else plain


def plain_lists(data: Any) -> Any:
    """Return plain data with lists for tuples, as YAML is written from."""
    if isinstance(data, Mapping):
        return {name: plain_lists(part) for name, part in data.items()}
    return [plain_lists(part) for part in data] if isinstance(data, list | tuple) else data


def _default(f: dataclasses.Field[Any]) -> Any:
    return f.default if f.default_factory is MISSING else f.default_factory()


def check_keys(value: Any, within: str) -> None:
    """Check the keys of a dataclass that was built in Python as reading checks those of a file.

    Raises
    ------
    InvalidPipeline
        With every key whose form does not take its value.
    """
    problems = Problems()
    for name, f in keys_of(type(value)).items():
        own, form = getattr(value, f.name), form_of(f)
        if own == _default(f) or isinstance(own, Deferred):
            continue
        try:
            form.read(plain_node((form.checked or form.write)(own)))
        except BadValue as error:
            for one in error.each:
                problems.add(recoded(f"{name}: {one.message}", one.message), one.hint, within=within)
    problems.check()


def check_names(declared: Mapping[str, object], given: Iterable[str], within: str) -> None:
    """Raise `InvalidPipeline` for a name among `given` that is none of the declared keys."""
    for name in given:
        if name not in declared:
            message = coded("GE1006", f"unknown key '{name}'")
            raise InvalidPipeline.because(message, keys_hint(name, declared), within)


def read_plain(form: Field[T], value: Any, within: str) -> T:
    """Read plain Python data as a key's value; raise `InvalidPipeline` where its form does not take it."""
    try:
        if form.constant:
            part, _, key = within.rpartition(": ")
            return read_constant(form, python_node(value), key, part or within)  # type: ignore[return-value]
        return form.read(plain_node(value))
    except BadValue as error:
        raise InvalidPipeline.because(error.message, error.hint, within) from None


def with_parameters(part: T, within: str) -> T:
    """Return a step, rule, source or sink that was built in Python, with its parameters as those of a file."""
    changes: dict[str, Any] = {}
    for name, f in keys_of(type(part)).items():
        value = getattr(part, f.name)
        if form_of(f).constant and names_parameter(value):
            changes[f.name] = read_constant(form_of(f), python_node(value), name, within)
    return dataclasses.replace(part, **changes) if changes else part  # type: ignore[type-var]
