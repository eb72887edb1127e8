"""A pipeline's model to YAML text; reading it back gives an equal model."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

from gpuetl.errors import InvalidPipeline
from gpuetl.expressions.unparse import constant_text
from gpuetl.messages import coded
from gpuetl.places.storage import is_secret
from gpuetl.spec.alerts import write_alerts
from gpuetl.spec.fields import write_keys
from gpuetl.spec.files.based import one_file_path
from gpuetl.spec.model import FrameSpec, ParameterSpec, PipelineSpec, SinkSpec, SourceSpec, StageSpec
from gpuetl.spec.profile import ProfileSpec
from gpuetl.spec.read import VERSION
from gpuetl.spec.state import write_state
from gpuetl.spec.storage import parameters_in, write_storage_options
from gpuetl.spec.tests import Plain, write_test
from gpuetl.types.data_types import type_name


class Representer(RoundTripRepresenter):
    """Writes also characters that stand without quotes."""

    def plain(self, text: Plain) -> ScalarNode:
        """Return the node of such characters."""
        return self.represent_scalar(text.tag, str(text))


Representer.add_representer(Plain, Representer.plain)


def write_pipeline(spec: PipelineSpec) -> str:
    """Return the pipeline as YAML text."""
    return yaml_text(pipeline_data(spec))


def yaml_text(data: Any) -> str:
    """Return plain data as YAML text."""
    yaml = YAML()
    yaml.Representer = Representer
    yaml.width = 1 << 20  # an expression stays on its line
    yaml.indent(mapping=2, sequence=4, offset=2)
    text = io.StringIO()
    yaml.dump(_styled(data), text)
    return text.getvalue()


def _styled(value: Any) -> Any:
    """Return lists of names in flow style, everything else as it is."""
    if isinstance(value, CommentedMap | CommentedSeq):
        return value
    if isinstance(value, dict):
        return {key: _styled(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    styled = CommentedSeq(map(_styled, value))
    if not any(isinstance(item, dict) for item in value):
        styled.fa.set_flow_style()
    return styled


def pipeline_data(spec: PipelineSpec) -> dict[str, Any]:
    """Return the pipeline as plain data."""
    refuse_secret_defaults(spec)
    for profile in spec.profiles.values():
        defaults = {name: replace(one, default=profile.params.get(name)) for name, one in spec.parameters.items()}
        refuse_secret_defaults(replace(spec, parameters=defaults, storage={**spec.storage, **profile.storage}))
    sections: dict[str, Any] = {
        "params": {name: _parameter(p) for name, p in spec.parameters.items()},
        "storage": {name: write_storage_options(options) for name, options in spec.storage.items()},
        "profiles": {name: _profile(profile) for name, profile in spec.profiles.items()},
        "on_failure": write_alerts(spec.on_failure),
        "on_success": write_alerts(spec.on_success),
        "telemetry": write_keys(spec.telemetry),
        "sources": {name: _source(name, s) for name, s in spec.sources.items()},
        "stages": {name: _stage(s) for name, s in spec.stages.items()},
        "sinks": {name: _located(s) for name, s in spec.sinks.items()},
        "tests": [write_test(test) for test in spec.tests],
    }
    head = {"gpuetl": VERSION, "name": str(spec.name)}
    described = {"description": spec.description} if spec.description else {}
    if spec.state is not None:
        described["state"] = write_state(spec.state)
    return {**head, **described, **{key: value for key, value in sections.items() if value}}


def refuse_secret_defaults(spec: PipelineSpec) -> None:
    """Refuse a parameter that is the value of a secret option, and has a default.

    Raises
    ------
    InvalidPipeline
        With the parameter.
    """
    for name, option in secret_parameters(spec).items():
        if name in spec.parameters and spec.parameters[name].default is not None:
            message = coded("GE1483", f"the default of parameter '{name}' is a secret ({option})")
            raise InvalidPipeline.because(message, "Make the parameter required, or write {env: NAME}.")


def secret_parameters(spec: PipelineSpec) -> dict[str, str]:
    """Return the parameters whose values are secrets of object stores, and the option that each is the value of."""
    entries = (*spec.sources.values(), *spec.sinks.values())
    own = (entry.storage_options for entry in entries if not isinstance(entry, FrameSpec))
    options = (option for options in (*spec.storage.values(), *own) for option in options if is_secret(option.name))
    return {name: option.name for option in options for name in parameters_in((option,))}


def _parameter(parameter: ParameterSpec) -> dict[str, Any]:
    written: dict[str, Any] = {"type": type_name(parameter.dtype)}
    if parameter.required:
        return {**written, "required": True}
    return {**written, "default": _value(parameter.default)}


def _profile(profile: ProfileSpec) -> dict[str, Any]:
    params = {name: _value(value) for name, value in profile.params.items()}
    storage = {name: write_storage_options(options) for name, options in profile.storage.items()}
    sections = {"params": params, "storage": storage}
    return {**write_keys(profile), **{name: section for name, section in sections.items() if section}}


def _value(value: Any) -> Any:
    if isinstance(value, timedelta):
        return constant_text(value).removeprefix("INTERVAL ").strip("'")
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, dict):
        return {str(_value(name)): _value(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [_value(part) for part in value]
    return value.isoformat() if isinstance(value, date | datetime) else value


def _source(name: str, source: SourceSpec | FrameSpec) -> dict[str, Any]:
    if isinstance(source, FrameSpec):
        hint = "Write it to Parquet, and declare it with read_parquet."
        message = coded("GE3008", "a frame in memory cannot be written as YAML")
        raise InvalidPipeline.because(message, hint, f"source '{name}'")
    return _located(source)


def _located(entry: SourceSpec | SinkSpec) -> dict[str, Any]:
    return {entry.format: one_file_path(entry.path), **write_keys(entry), **write_keys(entry.options)}


def _stage(stage: StageSpec) -> dict[str, Any]:
    written = {"from": str(stage.from_), "steps": [{step.verb: step.written()} for step in stage.steps if step]}
    written |= {"expect": [rule.written() for rule in stage.expect if rule]} if stage.expect else {}
    return {**written, **({"checkpoint": True} if stage.checkpoint else {})}
