"""Options of object stores in a pipeline: `storage_options` of a source or sink, and profiles in `storage`.

    storage:
      lake: {endpoint: "https://s3.example.com", access_key_id: {env: LAKE_ID}, secret_access_key: {env: LAKE_SECRET}}
    sources:
      sales: {parquet: "s3://shop/sales", storage: lake}

Values of secret options are never shown: messages, reports and written pipelines have the names alone.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from gpuetl.errors import InvalidPipeline, have_hint, nearest
from gpuetl.expressions.ir import Expr, Literal
from gpuetl.expressions.syntax import ParameterName
from gpuetl.messages import coded, hide_in_line, remember_value
from gpuetl.places.paths import FilePath, StorePath
from gpuetl.places.storage import OPTIONS, Storage, endpoint_problem, is_secret, option_name, stored_value
from gpuetl.records import dataclass
from gpuetl.spec.document import Node
from gpuetl.spec.fields import Field
from gpuetl.spec.parameters import UnboundScalar
from gpuetl.spec.values import BadValue, BadValues, KeyPlace, Located
from gpuetl.types.data_types import type_name
from gpuetl.types.nested_types import is_nested

PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
SECRET_ADVICE = "Write {env: NAME}, and set the environment variable NAME."
HIDDEN = "…"


@dataclass(frozen=True)
class Variable:
    """The value of an environment variable: `{env: NAME}`."""

    name: str


@dataclass(frozen=True)
class ParameterValue:
    """The value of a parameter: `$name`."""

    name: str


OptionValue: TypeAlias = str | Variable | ParameterValue


@dataclass(frozen=True)
class WrittenOption:
    """An option of a store: its name, its value, and where it stands.  Literal values of secrets are not shown."""

    name: str
    value: OptionValue
    node: Located | None = dataclasses.field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        hidden = isinstance(self.value, str) and is_secret(self.name)
        return f"{self.name}={HIDDEN if hidden else repr(self.value)}"


StorageOptions: TypeAlias = tuple[WrittenOption, ...]


def read_storage_options(node: Node) -> StorageOptions:
    """Read a map of options."""
    if not isinstance(node.value, dict) or not node.value:
        what = "an empty one" if node.value == {} else node.kind
        raise BadValue(coded("GE1008", f"takes a map of options of a store, got {what}"), node)
    options: dict[str, WrittenOption] = {}
    errors: list[BadValue] = []
    for written, value in node.items():
        try:
            option = read_option(written, value, KeyPlace(node.keys[written]))
            if option.name in options:
                message = coded("GE1480", f"'{written}' is the option {option.name}, which is given twice")
                raise BadValue(message, KeyPlace(node.keys[written]), "Take one out.")
            options[option.name] = option
        except BadValue as error:
            errors.append(error)
    if errors:
        raise BadValues(errors)
    return tuple(options[name] for name in sorted(options))


def read_option(written: str, node: Node, key: KeyPlace) -> WrittenOption:
    """Read one option; its value is not in messages."""
    name = option_name(written)
    if name is None:
        near = nearest(written, OPTIONS)
        if near is None or is_secret(near):
            key = hidden(node, key)
        hint = f"Did you mean '{near}'?" if near else f"Options: {', '.join(OPTIONS)}."
        raise BadValue(coded("GE1480", f"unknown option '{written}' of a store"), key, hint)
    at = hidden(node, key) if is_secret(name) else node
    value = read_value(name, node, at)
    if name == "endpoint" and isinstance(value, str) and (problem := endpoint_problem(value)):
        place = hidden(node, key) if problem.shows_secret else node
        raise BadValue(coded("GE1008", f"{name} {problem.message}"), place, problem.hint)
    if isinstance(value, str) and stored_value(name, value) is None:
        raise BadValue(coded("GE1008", no_boolean(name, value)), node, "Write true or false.")
    return WrittenOption(name, value, at)


def no_boolean(name: str, value: str) -> str:
    """Word an option that is neither true nor false."""
    return f"{name} takes true or false, got '{value}'"


def hidden(node: Node, key: KeyPlace) -> KeyPlace:
    """Return the place of a key; no message shows its value from now on, nor its line with the value, however short."""
    for part in scalars_in(node):
        if isinstance(part.value, str):
            remember_value(part.value, HIDDEN)
        place = part.place()
        hide_in_line(place.source, part.column, part.width)
    return key


def scalars_in(node: Node) -> Iterator[Node]:
    """Yield the values of a node that may be secret: names of environment variables and parameters are not."""
    if isinstance(node.value, tuple):
        for part in node.value:
            yield from scalars_in(part)
    elif isinstance(node.value, dict):
        for name, part in node.items():
            if name != "env":
                yield from scalars_in(part)
    elif not isinstance(node.value, str) or not PARAMETER.fullmatch(node.value):
        yield node


def read_value(name: str, node: Node, at: Located) -> OptionValue:
    """Read the value of an option; errors stand at the option's key if the value is a secret."""
    value = node.value
    if isinstance(syntax := getattr(value, "syntax", None), ParameterName):  # `Pipeline.param` returns an expression
        return ParameterValue(syntax.name)
    if isinstance(value, dict):
        variable = value.get("env")
        if len(value) != 1 or variable is None or not isinstance(variable.value, str) or not variable.value:
            message = coded("GE1008", f"{name} takes a value or {{env: NAME}}, got another map")
            raise BadValue(message, at, SECRET_ADVICE)
        return Variable(variable.value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return node.written or str(value)
    if not isinstance(value, str) or not value:
        what = "an empty string" if value == "" else node.kind
        raise BadValue(coded("GE1008", f"{name} takes a string, number or boolean, got {what}"), at)
    if found := PARAMETER.fullmatch(value):
        return ParameterValue(found[1])
    if "${" in value:
        message = coded("GE1008", f"{name} has a ${{…}}, which stands in paths only")
        raise BadValue(message, at, "Write {env: NAME} or $parameter as the whole value.")
    return value


def parameters_in(options: StorageOptions) -> list[str]:
    """Return the parameters that options have as their values."""
    return [option.value.name for option in options if isinstance(option.value, ParameterValue)]


def write_storage_options(options: StorageOptions) -> dict[str, Any]:
    """Return options as plain data.

    Raises
    ------
    InvalidPipeline
        For a secret that is no environment variable and no parameter: a file is no place for it.
    """
    return {option.name: write_value(option) for option in options}


def write_value(option: WrittenOption) -> Any:
    """Return the value of an option as plain data."""
    if isinstance(option.value, Variable):
        return {"env": option.value.name}
    if isinstance(option.value, ParameterValue):
        return f"${option.value.name}"
    if is_secret(option.name):
        message = coded("GE1483", f"the value of {option.name} is a secret, which is not written into a file")
        raise InvalidPipeline.because(message, SECRET_ADVICE)
    return {"true": True, "false": False}.get(option.value, option.value)


def without_values(options: StorageOptions) -> dict[str, Any]:
    """Return options as data that can be read again, with no value."""
    return {option.name: {"env": "X"} for option in options}


STORAGE_OPTIONS: Field[StorageOptions] = Field(
    "a map of options of a store",
    read_storage_options,
    write_storage_options,
    without_values,
    schema={"$ref": "#/definitions/storage_options"},
)


# Options and profiles to what a path carries.


class StorageProblem(NamedTuple):
    """What is wrong with the storage of a source or sink: the message, the next step, and where.

    `within` names the profile that is wrong for all sources and sinks.
    """

    message: str
    hint: str
    at: Located | None
    within: str = ""


class WrongStorage(Exception):
    """Storage that a path cannot have; carries all problems, none for a profile that could not be read."""

    def __init__(self, problems: list[StorageProblem]) -> None:
        self.problems = problems
        super().__init__(*(problem.message for problem in problems))


@dataclass(frozen=True)
class StorageBinder:
    """Gives paths their storage: `profiles` are the pipeline's `storage`, `parameters` its values."""

    profiles: Mapping[str, StorageOptions]
    parameters: Mapping[str, Expr]
    environment: Mapping[str, str] = dataclasses.field(default_factory=lambda: os.environ)

    def bound(self, path: FilePath, profile: str, options: StorageOptions) -> FilePath:
        """Return a path with the storage of its source or sink; without any, it is that of the path's folder.

        Raises
        ------
        WrongStorage
            For options that the store of the path does not take, and values that are not known.
        UnboundScalar
            For a required parameter without a value.
        """
        if not profile and not options:
            return path
        at = getattr(profile, "node", None) or options[0].node
        if profile and options:
            message = coded("GE1481", "has storage and storage_options")
            raise WrongStorage([StorageProblem(message, "Keep one of them.", at)])
        if not isinstance(path, StorePath):
            message = coded("GE1481", f"{path} is a path of this machine, which has no storage")
            raise WrongStorage([StorageProblem(message, "Take the storage out, or give a path such as s3://…", at)])
        if profile and profile not in self.profiles:
            message = coded("GE1482", f"unknown storage '{profile}'")
            raise WrongStorage([StorageProblem(message, have_hint(profile, self.profiles, noun="Storage"), at)])
        chosen = self.profiles[profile] if profile else options
        within = f"storage '{profile}'" if profile else ""
        wrong = [found for one in chosen if (found := self.problem(path.scheme, one, within))]
        if wrong or not chosen:
            raise WrongStorage(wrong)
        return replace(path, storage=Storage.of({one.name: self.value(one) for one in chosen}))

    def problem(self, scheme: str, option: WrittenOption, within: str) -> StorageProblem | None:
        """Return what is wrong with an option of a store; None where nothing is."""
        name, value = option.name, option.value
        if scheme not in OPTIONS[name].schemes:
            return StorageProblem(
                coded("GE1480", f"{scheme}:// has no option {name}"), listed(scheme), option.node, within
            )
        if isinstance(value, Variable) and not self.environment.get(value.name):
            message = coded("GE1019", f"{name}: the environment variable {value.name} is not set")
            return StorageProblem(message, f"Set it: export {value.name}=…", option.node, within)
        if isinstance(value, Variable):
            return self.boolean_problem(option, self.environment[value.name], within)
        if not isinstance(value, ParameterValue):
            return None
        if value.name not in self.parameters:
            message = coded("GE1021", f"{name}: unknown parameter '{value.name}'")
            return StorageProblem(
                message, have_hint(value.name, self.parameters, noun="Parameters"), option.node, within
            )
        bound = self.parameters[value.name]
        if is_nested(bound.dtype):
            kind = type_name(bound.dtype)
            message = coded("GE1031", f"{name} takes a single value, and parameter '{value.name}' is {kind}")
            return StorageProblem(message, "Give a parameter of type string.", option.node, within)
        if isinstance(bound, Literal) and bound.value in (None, ""):
            message = coded("GE1016", f"{name}: parameter '{value.name}' has no value")
            return StorageProblem(message, f"Give it with -p {value.name}=VALUE.", option.node, within)
        return self.boolean_problem(option, str(bound.value), within) if isinstance(bound, Literal) else None

    def boolean_problem(self, option: WrittenOption, value: str, within: str) -> StorageProblem | None:
        """Return what is wrong with a value from elsewhere of an option that is true or false."""
        if stored_value(option.name, value) is not None:
            return None
        message = coded("GE1008", no_boolean(option.name, value))
        return StorageProblem(message, "Give true or false.", option.node, within)

    def value(self, option: WrittenOption) -> str:
        """Return the value of an option, which messages do not show if it is a secret."""
        if isinstance(option.value, Variable):
            value, reference = self.environment[option.value.name], f"{{env: {option.value.name}}}"
        elif isinstance(option.value, ParameterValue):
            bound = self.parameters[option.value.name]
            if not isinstance(bound, Literal):
                raise UnboundScalar
            value = str(bound.value).lower() if isinstance(bound.value, bool) else str(bound.value)
            reference = f"${option.value.name}"
        else:
            value, reference = option.value, HIDDEN
        if is_secret(option.name):
            remember_value(value, reference)
        return stored_value(option.name, value) or value


def listed(scheme: str) -> str:
    """List the options of a store."""
    names = [name for name, option in OPTIONS.items() if scheme in option.schemes]
    return f"Options of {scheme}://: {', '.join(names)}." if names else f"Take it out: {scheme}:// takes no options."
