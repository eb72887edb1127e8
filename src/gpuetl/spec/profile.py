"""`profiles`: what differs between places where a pipeline runs, such as a laptop and production.

    profiles:
      dev:  {engine: pandas, params: {run_date: 2026-11-01}}
      prod: {engine: cudf, memory: 60GB, storage: {lake: {region: eu-central-1}}}

`gpuetl run FILE --profile prod` applies one.  Its values of parameters are defaults.  Its storage replaces the
storage of the same name.  Its options of a run count where the command line, or Python, gives none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from gpuetl.errors import InvalidPipeline, Problems, have_hint
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.spec.alerts import ALERTS, AlertSpecs
from gpuetl.spec.document import Node
from gpuetl.spec.fields import Field, key, keys_of, read_values
from gpuetl.spec.forms import read_count, read_name
from gpuetl.spec.nested_values import parse_node
from gpuetl.spec.state import STATE, StateSpec
from gpuetl.spec.storage import StorageOptions
from gpuetl.spec.synonyms import keys_hint
from gpuetl.spec.telemetry import TELEMETRY, Telemetry
from gpuetl.spec.values import BadValue
from gpuetl.units import read_size

if TYPE_CHECKING:
    from gpuetl.spec.model import ParameterSpec, PipelineSpec

VARIABLE = "GPUETL_PROFILE"
"""The environment variable that names the profile where the command line does not."""
SECTIONS = ("params", "storage")


def read_bytes(node: Node) -> int:
    """Read a size such as 8GB, or a number of bytes."""
    if isinstance(node.value, int) and not isinstance(node.value, bool) and node.value > 0:
        return node.value
    try:
        return read_size(str(node.value))
    except ValueError as error:
        raise BadValue(coded("GE1008", f"takes a size such as 8GB: {error}"), node) from None


def read_positive(node: Node) -> int:
    """Read a whole number from 1."""
    count = read_count(node)
    if count < 1:
        raise BadValue(coded("GE1008", f"takes a whole number from 1, got {count}"), node)
    return count


SIZE: Field[int | None] = Field("a size such as 8GB", read_bytes, schema={"type": ["string", "integer"]})
COUNT_FROM_1: Field[int | None] = Field(
    "a whole number from 1", read_positive, schema={"type": "integer", "minimum": 1}
)
WORD: Field[str] = Field("a name", read_name, str, schema={"type": "string"})


@dataclass(frozen=True)
class ProfileSpec:
    """Values of parameters, storage by name, and options of a run."""

    engine: str = key(WORD, "", doc="the engine of `--engine auto`")
    memory: int | None = key(SIZE, None, doc="the most memory that a run may use, as --memory")
    partition_rows: int | None = key(COUNT_FROM_1, None, doc="the most rows of a partition, as --partition-rows")
    spill_folder: str = key(WORD, "", doc="where to put data that does not fit in memory, as --spill-folder")
    workers: int | None = key(COUNT_FROM_1, None, doc="workers of a cluster that the run starts, as --workers")
    worker_memory: int | None = key(SIZE, None, doc="memory from which a worker spills, as --worker-memory")
    cluster: str = key(WORD, "", doc="the address of a scheduler, as --cluster")
    checkpoint_limit: int | None = key(SIZE, None, doc="the most room of all checkpoints, as --checkpoint-limit")
    state: StateSpec | None = key(STATE, None, doc="the folder of what the pipeline remembers between its runs")
    on_failure: AlertSpecs | None = key(ALERTS, None, doc="who is told of a run that failed, in place of the file's")
    on_success: AlertSpecs | None = key(ALERTS, None, doc="who is told of a run that succeeded, in place of the file's")
    telemetry: Telemetry = key(TELEMETRY, Telemetry(), doc="where runs report to, before the pipeline's `telemetry`")
    params: Mapping[str, Any] = field(default_factory=dict)
    storage: Mapping[str, StorageOptions] = field(default_factory=dict)


ReadStorage = Callable[[str, Node], StorageOptions]


def read_profile(
    name: str, node: Node, parameters: Mapping[str, ParameterSpec], problems: Problems, read_storage: ReadStorage
) -> ProfileSpec | None:
    """Read a profile; its values have the types of the parameters.  None, with the problems kept, for a wrong one."""
    within = f"profile '{name}'"
    if not isinstance(node.value, dict):
        keys = ", ".join((*SECTIONS, *keys_of(ProfileSpec)))
        problems.add(coded("GE1008", f"takes a map, got {node.kind}"), f"Keys: {keys}.", node.place(), within)
        return None
    declared = keys_of(ProfileSpec)
    for one in node.value:
        if one not in declared and one not in SECTIONS:
            hint = keys_hint(one, (*SECTIONS, *declared))
            problems.add(coded("GE1006", f"unknown key '{one}'"), hint, node.keys[one], within)
    own = replace(node, value={one: value for one, value in node.items() if one in declared})
    values = read_values(declared, own, problems, within) or {}
    params = read_params(node.value.get("params"), parameters, problems, within)
    storage: dict[str, StorageOptions] = {}
    if (given := node.value.get("storage")) is not None and isinstance(given.value, dict):
        storage = {one: read_storage(f"{within}, storage '{one}'", options) for one, options in given.items()}
    elif given is not None and given.value is not None:
        problems.add(coded("GE1008", f"storage takes a map of names, got {given.kind}"), "", given.place(), within)
    return ProfileSpec(**values, params=params, storage=storage)


def read_params(
    node: Node | None, parameters: Mapping[str, ParameterSpec], problems: Problems, within: str
) -> dict[str, Any]:
    """Return a profile's values of parameters, typed; what is wrong is kept."""
    if node is None or node.value is None:
        return {}
    if not isinstance(node.value, dict):
        message = coded("GE1008", f"params takes a map of parameters to values, got {node.kind}")
        problems.add(message, "", node.place(), within)
        return {}
    values: dict[str, Any] = {}
    for name, value in node.items():
        if name not in parameters:
            hint = have_hint(name, parameters, noun="Parameters")
            problems.add(coded("GE1021", f"unknown parameter '{name}'"), hint, node.keys[name], within)
            continue
        try:
            values[name] = parse_node(value, parameters[name].dtype)
        except ValueError as error:
            problems.add(coded("GE1017", f"parameter '{name}': {error}"), "", value.place(), within)
    return values


def chosen_profile(name: str | None, spec: PipelineSpec) -> str:
    """Return the profile to apply, by default that of the environment, for pipelines that have profiles; "" is none.

    Raises
    ------
    InvalidPipeline
        For a profile that the pipeline does not have.
    """
    found = name or (spec.environment.get(VARIABLE, "") if spec.profiles else "")
    if found and found not in spec.profiles:
        hint = have_hint(found, spec.profiles, noun="Profiles")
        by = "" if name else f" (of {VARIABLE})"
        raise InvalidPipeline.because(coded("GE1030", f"unknown profile '{found}'{by}"), hint)
    return found


def with_profile(spec: PipelineSpec, name: str) -> PipelineSpec:
    """Return a pipeline with a profile's storage and telemetry, and its values of parameters as their defaults."""
    profile = spec.profiles[name]
    parameters = {
        one: replace(parameter, required=False, default=profile.params[one]) if one in profile.params else parameter
        for one, parameter in spec.parameters.items()
    }
    state, telemetry = profile.state or spec.state, profile.telemetry.over(spec.telemetry)
    storage = {**spec.storage, **profile.storage}
    on_failure = spec.on_failure if profile.on_failure is None else profile.on_failure
    on_success = spec.on_success if profile.on_success is None else profile.on_success
    return replace(
        spec, parameters=parameters, storage=storage, state=state, profile=profile, profile_name=name,
        on_failure=on_failure, on_success=on_success, telemetry=telemetry,
    )  # fmt: skip


def no_environment() -> Mapping[str, str]:
    """Return the process's environment."""
    return os.environ


def profiled(spec: PipelineSpec, name: str | None, problems: Problems) -> PipelineSpec:
    """Return a pipeline with a profile applied, if one is chosen; one that may be unreadable is no second mistake."""
    try:
        chosen = chosen_profile(name, spec)
    except InvalidPipeline:
        problems.check()
        raise
    return with_profile(spec, chosen) if chosen else spec
