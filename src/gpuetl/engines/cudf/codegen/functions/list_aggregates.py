"""Aggregates of lists: one thread walks a list."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Cast
from gpuetl.types.data_types import DURATION, is_floating
from gpuetl.types.decimal_types import is_decimal


def total(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return the text of a sum: exact, but for floats, which are added up one after the other."""
    if is_floating(call.dtype):
        return f"list_float_sum({arguments[0]})"
    return f"{'list_decimal_sum' if is_decimal(call.dtype) else 'list_integer_sum'}(at, {arguments[0]})"


def mean(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return the text of a mean: of exact sums the nearest value."""
    assert isinstance(call, Call)
    if call.dtype == DURATION:
        return f"list_duration_mean({arguments[0]})"
    element = call.args[0].dtype.value_type
    if is_floating(element):
        return f"list_float_mean({arguments[0]})"
    return f"list_exact_mean<{element.scale if is_decimal(element) else 0}>({arguments[0]})"


HEADER = "list_aggregates.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "list_sum": Device(total, result_form="maybe"),
    "list_mean": Device(mean, result_form="maybe"),
    "list_fsum": Device("list_fsum", result_form="maybe"),
    "list_product": Device("list_product", result_form="maybe"),
    "list_min": Device("list_min", result_form="maybe"),
    "list_max": Device("list_max", result_form="maybe"),
    "list_count": Device("list_count"),
    "list_any_value": Device("list_any_value", result_form="maybe"),
    "list_place_of_any": Device("list_place_of_any", result_form="maybe"),
    "list_bool_and": Device(lambda _, args: f"list_truth<true>({args[0]})", result_form="maybe"),
    "list_bool_or": Device(lambda _, args: f"list_truth<false>({args[0]})", result_form="maybe"),
    "array_to_string": Device("array_to_string", result_form="text"),
    "list_dot_product": Device("list_dot_product"),
    "list_distance": Device("list_distance"),
    "list_cosine_similarity": Device("list_cosine_similarity", result_form="maybe"),
}
