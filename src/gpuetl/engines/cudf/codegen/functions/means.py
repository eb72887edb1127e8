"""What partitions carry of means, divided: only the planner calls these."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Cast

HEADER = "means.cuh"


def exact_mean(call: Call | Cast, arguments: Sequence[str]) -> str:
    """Return the text of a mean: of a count, a total in units of its scale, and perhaps what counts 10^19 of these."""
    assert isinstance(call, Call)
    count, total, *high = arguments
    units = f"{high[0]}, {total}, 10000000000000000000ULL" if high else total
    return f"mean_of<{call.args[1].dtype.scale}>(wide_sum({units}), {count})"


FUNCTIONS: dict[str, Device | Library] = {
    "exact_mean": Device(exact_mean),
    "exact_duration_mean": Device(lambda _, arguments: f"whole_mean_of({arguments[1]}, {arguments[0]})"),
}
