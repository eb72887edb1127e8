"""JSON in strings: a constant path is a chain of calls, one for each step; a path in a column is read row by row."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_int, c_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library, Spelling
from gpuetl.engines.cudf.codegen.functions.lists import split
from gpuetl.expressions.functions.json import KEYS, WHOLE
from gpuetl.expressions.ir import Call, Literal
from gpuetl.expressions.json_path import (
    Below,
    Each,
    Element,
    End,
    Member,
    MemberOrElement,
    MemberOrEnd,
    Step,
    parse_path,
)
from gpuetl.types.data_types import STRING


def found(call: Call, args: Sequence[str]) -> str:
    """Return the code of the value at a path."""
    path = call.args[1] if len(call.args) > 1 else WHOLE
    value = f"json::read(at, {args[0]})"
    if isinstance(path, Literal):
        return f"{value}{''.join(map(step_call, parse_path(path.value)))}"
    return f"json::at_path(at, {value}, {args[1]})" if path.dtype == STRING else f"{value}.element({args[1]})"


def step_call(step: Step) -> str:
    """Return the call that follows a step."""
    if isinstance(step, Element):
        return f".element({c_int(step.place)})"
    if isinstance(step, MemberOrElement):
        return f".member_or_element({key(step.key)}, {c_int(int(step.key))})"
    if isinstance(step, End):
        return ".none()"
    assert isinstance(step, Member | MemberOrEnd)
    return f".member({key('-' if isinstance(step, MemberOrEnd) else step.key)})"


def key(text: str) -> str:
    """Return the code of a key that is looked for."""
    return f"json::Key{{{c_text(text)}}}"


def matches(call: Call, text: str) -> str:
    """Return the object that lists what a path finds in a text, or its keys."""
    path = call.args[1]
    assert isinstance(path, Literal)
    if path == KEYS:
        return f"json::Keys({text})"
    steps = parse_path(path.value)
    return f"json::Matches<{len(steps)}>({', '.join([text, *map(step_value, steps)])})"


def step_value(step: Step) -> str:
    """Return the code of a step."""
    name, text, place = "END", "", 0
    if isinstance(step, Member | MemberOrElement):
        name, text = ("MEMBER" if isinstance(step, Member) else "MEMBER_OR_PLACE"), step.key
        place = int(step.key) if isinstance(step, MemberOrElement) else 0
    elif isinstance(step, MemberOrEnd):
        name, text = "MEMBER_OR_END", "-"
    elif isinstance(step, Element):
        name, place = "PLACE", step.place
    elif isinstance(step, Each):
        name = "VALUES" if step.members else "ELEMENTS"
    elif isinstance(step, Below):
        name = "BELOW"
    return f"json::Step{{json::Step::{name}, {key(text)}, {c_int(place)}}}"


def of_found(name: str) -> Spelling:
    """Return how a function of the value at a path is spelled."""
    return lambda call, args: f"{name}({found(call, args)})"


def put_found(name: str) -> Spelling:
    """Return how a function is spelled that writes the value at a path."""
    return lambda call, args: f"{name}(out, {found(call, args)})"


HEADER = "json_path.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "json_extract": Device(put_found("json::put"), result_form="maybe_text"),
    "json_extract_string": Device(put_found("json::put_plain"), result_form="maybe_text"),
    "json_value": Device(put_found("json::put_scalar"), result_form="maybe_text"),
    "json_type": Device(of_found("json::type_of"), result_form="maybe"),
    "json_array_length": Device(of_found("json::count_elements"), result_form="maybe"),
    "json_exists": Device(of_found("json::exists")),
    "json_valid": Device("json::is_valid"),
    "json_text": Device("json::checked"),
    "json_parts": Library(split),
}
