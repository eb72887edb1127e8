"""JSON in strings: a value at a path is a chain of calls, one for each step."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_int, c_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library, Spelling
from gpuetl.engines.cudf.codegen.functions.lists import split
from gpuetl.expressions.ir import Call, Literal
from gpuetl.expressions.json_path import Element, Member, MemberOrElement, Step, parse_path


def found(call: Call, args: Sequence[str]) -> str:
    """Return the code of the value at a path."""
    path = call.args[1].value if len(call.args) > 1 and isinstance(call.args[1], Literal) else "$"
    return f"json::read(at, {args[0]}){''.join(map(step_call, parse_path(path)))}"


def step_call(step: Step) -> str:
    """Return the call that follows a step."""
    if isinstance(step, Element):
        return f".element({c_int(step.place)})"
    if isinstance(step, MemberOrElement):
        return f".member_or_element({c_text(step.key)}, {c_int(int(step.key))})"
    assert isinstance(step, Member)
    return f".member({c_text(step.key)})"


def of_found(name: str) -> Spelling:
    """Return how a function of the value at a path is spelled."""
    return lambda call, args: f"{name}({found(call, args)})"


def put_found(name: str) -> Spelling:
    """Return how a function is spelled that writes the value at a path."""
    return lambda call, args: f"{name}(out, {found(call, args)})"


HEADER = "json.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "json_extract": Device(put_found("json::put"), result_form="maybe_text"),
    "json_extract_string": Device(put_found("json::put_plain"), result_form="maybe_text"),
    "json_value": Device(put_found("json::put_scalar"), result_form="maybe_text"),
    "json_type": Device(of_found("json::type_of"), result_form="maybe"),
    "json_array_length": Device(of_found("json::count_elements"), result_form="maybe"),
    "json_exists": Device(of_found("json::exists")),
    "json_valid": Device("json::is_valid"),
    "json_parts": Library(split),
}
