"""A kernel step that runs a block kernel written in Triton: its keys, and its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.spec.steps.python_file import Wording, function_in_file
from gpuetl.spec.steps.step import Context
from gpuetl.user_kernels.triton_kernel import WARPS, TritonKernel

if TYPE_CHECKING:
    from gpuetl.spec.steps.kernel import Kernel

TRITON = Wording("GE1301", "triton", "the Triton file", "the kernel", "Write the kernel there.")


def triton_contract(
    step: Kernel, context: Context, reference: FilePath, function: str, twin: bytes | None
) -> TritonKernel:
    """Return the kernel, with the text of its file; what is wrong with it is a problem."""
    file, entry, text = function_in_file(context, step.triton, (), TRITON)
    return TritonKernel(file, entry, reference, function, twin, step.flops_per_row, warps=step.warps, text=text)


def check_triton_keys(step: Kernel, context: Context) -> None:
    """Compare the kind, if it is given, with `by` and `order_by`; warps are a power of two."""
    if step.kind and step.kind not in ("rows", "groups"):
        context.problem(
            coded("GE1307", f"a Triton kernel has no kind {step.kind}"), "It takes rows or groups.", step.kind
        )
    elif step.kind == "rows" and (step.by or step.order_by):
        message = coded("GE1307", "a kernel over rows has no by and order_by")
        context.problem(message, "Set kind: groups, or take them out.", step.triton)
    elif (step.kind == "groups" or step.by) and not step.order_by:
        message = coded("GE1307", "a kernel over groups needs order_by")
        context.problem(message, "Add by and order_by.", step.triton)
    if step.warps not in WARPS:
        allowed = ", ".join(map(str, WARPS))
        context.problem(coded("GE1307", f"warps takes {allowed}, got {step.warps}"), "", step.triton)
