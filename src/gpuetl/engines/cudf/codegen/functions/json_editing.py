"""JSON that is changed: what a path leads to, and whole documents."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library, Spelling
from gpuetl.engines.cudf.codegen.functions.json import step_value
from gpuetl.expressions.ir import Call, Literal
from gpuetl.expressions.json_path import parse_path


def changed(how: str) -> Spelling:
    """Return how a function is spelled that changes the value at a path."""

    def spelling(call: Call, args: Sequence[str]) -> str:
        value = args[2] if len(args) > 2 else args[0]
        return f"json::put_changed<json::{how}>(out, at, {args[0]}, {value}, {path(call, args)})"

    return spelling


def path(call: Call, args: Sequence[str]) -> str:
    """Return the code of a path: its steps where it is constant."""
    constant = call.args[1]
    if not isinstance(constant, Literal):
        return f"json::ColumnPath{{{args[1]}}}"
    steps = parse_path(constant.value)
    return f"json::ConstantPath<{len(steps)}>{{{{{', '.join(map(step_value, steps))}}}}}"


def of_document(name: str) -> Spelling:
    """Return how a function is spelled that writes a document anew."""
    return lambda call, args: f"{name}(out, json::read(at, {args[0]}))"


HEADER = "json_merge.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "json_set": Device(changed("SET"), result_form="maybe_text"),
    "json_insert": Device(changed("INSERT"), result_form="maybe_text"),
    "json_replace": Device(changed("REPLACE"), result_form="maybe_text"),
    "json_remove": Device(changed("REMOVE"), result_form="maybe_text"),
    "json_merge_patch": Device("json::put_merged<json::PATCH>", result_form="maybe_text"),
    "json_merge_patch_diff": Device("json::put_patch_between", result_form="maybe_text"),
    "json_deep_merge": Device("json::put_merged<json::DEEP>", result_form="maybe_text"),
    "json_strip_nulls": Device(of_document("json::put_without_nulls"), result_form="maybe_text"),
    "json_normalize": Device(of_document("json::put_normalised"), result_form="maybe_text"),
    "json_contains": Device("json::contains"),
}
