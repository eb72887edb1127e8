"""Lists, structs and maps as text: checked and taken apart."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.cuda_types import c_text
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.lists import split
from gpuetl.expressions.ir import Call, Literal
from gpuetl.types.data_types import parse_type
from gpuetl.types.nested_types import field_names, is_list, is_map


def of_form(call: Call, args: Sequence[str]) -> str:
    """Return the code of whether a text has the form of a type."""
    dtype = parse_type(constant(call))
    if is_list(dtype):
        return f"nested_text::is_list({args[0]})"
    if is_map(dtype):
        return f"nested_text::is_map({args[0]})"
    return f"nested_text::is_struct({', '.join([args[0], *map(c_text, field_names(dtype))])})"


def constant(call: Call) -> str:
    """Return the constant beside the text."""
    assert isinstance(call.args[1], Literal)
    return str(call.args[1].value)


HEADER = "nested_text.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "checked_text": Device(lambda call, args: f"nested_text::checked(at, {of_form(call, args)}, {args[0]})"),
    "try_checked_text": Device(lambda call, args: f"only_if({of_form(call, args)}, {args[0]})", result_form="maybe"),
    "text_field": Device(
        lambda call, args: f"nested_text::field({args[0]}, {c_text(constant(call))})", result_form="maybe"
    ),
    "plain_text": Device("nested_text::plain", result_form="text"),
    "text_parts": Library(split),
}
