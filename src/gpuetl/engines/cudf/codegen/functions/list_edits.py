"""Lists made of lists: device functions that write the places of elements (`codegen/list_writers.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as Choice

from gpuetl.engines.cudf.codegen.cuda_types import c_int
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.engines.cudf.codegen.functions.nested import deferred
from gpuetl.expressions.ir import Call, Cast
from gpuetl.records import dataclass

Elements = Choice["first", "inner", "all", "numbers", "pairs"]


@dataclass(frozen=True)
class ListDevice(Device):
    """A function of a header that writes lists, as `void name(out, arguments…)`.

    Parameters
    ----------
    elements
        What is written: places among the elements of the `first` argument, of those of its lists (`inner`), or of
        `all` arguments below each other, whose texts then know where each one's begin (`b0`, `b1` …); `numbers`,
        which are the elements; or `pairs` of places of a map's keys and values.  The arguments of these are lists of
        keys and lists of values by turns.
    """

    elements: Elements = "first"


def writes(name: str, elements: Elements = "first") -> ListDevice:
    """Return the device function of a name."""
    return ListDevice(name, result_form="text", elements=elements)


def joined(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return the text that puts the elements of all lists."""
    return "; ".join(f"put_all(out, {argument}, b{place})" for place, argument in enumerate(arguments))


def ranged(name: str) -> ListDevice:
    """Return the device function of `range` or `generate_series`."""
    stops = str(name == "generate_series").lower()

    def text(call: Call | Cast, arguments: Sequence[str]) -> str:
        start, stop, step = {1: (c_int(0), *arguments, c_int(1)), 2: (*arguments, c_int(1))}.get(
            len(arguments), tuple(arguments)
        )
        return f"put_range<{stops}>(out, at, {start}, {stop}, {step})"

    return ListDevice(text, result_form="text", elements="numbers")


def sliced(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return the text that puts the elements between two places, all or those at a step."""
    assert isinstance(call, Call)
    if len(arguments) == 3:
        return f"list_slice(out, {', '.join(arguments)})"
    fault = "at" if call.function.fails_for(call.args) else "NoFault{}"
    return f"list_steps(out, {fault}, {', '.join(arguments)})"


def resized(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return the text that puts a list of a size; an element that is missing is that of a list of one, or null."""
    lists, *filler, size = arguments
    missing = f"b1 + {filler[0]}.value.start" if filler else "NO_ELEMENT"
    assert isinstance(call, Call)
    fault = "at" if call.function.fails_for(call.args) else "NoFault{}"
    return f"list_resized(out, {fault}, {lists}, b0, {size}, {missing})"


HEADER = "list_edits.cuh"
FUNCTIONS: dict[str, Device | Library] = {
    "list_value": Library(deferred("value_column")),
    "list_transform": Library(deferred("value_column")),
    "list_sort": Library(deferred("sorted_column")),
    "list_grade_up": Library(deferred("graded_column")),
    "list_distinct": Library(deferred("distinct_column")),
    "list_concat": ListDevice(joined, result_form="text", elements="all"),
    "list_slice": ListDevice(sliced, result_form="text"),
    "list_repeat": writes("list_repeat"),
    "list_of_size": writes("list_of_size"),
    "list_first_places": Library(deferred("first_places_column")),
    "list_shared_places": writes("list_shared_places", "numbers"),
    "list_reverse": writes("list_reverse"),
    "list_intersect": writes("list_intersect"),
    "list_select": writes("list_select"),
    "list_where": writes("list_where"),
    "flatten": writes("flatten", "inner"),
    "list_resized": ListDevice(resized, result_form="maybe_text", elements="all"),
    "list_padded": ListDevice(
        lambda _, args: f"put_resized(out, {args[0]}, b0, {args[1]}.value, NO_ELEMENT)",
        result_form="text",
        elements="all",
    ),
    "list_zipped": Library(deferred("zipped_column")),
    "range": ranged("range"),
    "generate_series": ranged("generate_series"),
}
"""`list_transform` is computed over elements: `codegen/list_lambdas.py`."""
