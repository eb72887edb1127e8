"""The steps of a `Table` that run kernels of the user: docs/kernels.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from gpuetl.column_arguments import formulas, names_of, order_of
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.operands import Names, OrderBy, Scalar
from gpuetl.spec import steps as verbs
from gpuetl.spec.fields import read_plain
from gpuetl.spec.forms import TYPES
from gpuetl.spec.values import Formula, Text
from gpuetl.types.data_types import DataType

if TYPE_CHECKING:
    from gpuetl.table import Table

Nulls: TypeAlias = Literal["propagate", "forbid", "masks"]
KernelArguments: TypeAlias = Mapping[str, Expression | Scalar]


class TableKernels:
    """The part of a `Table` that runs kernels."""

    if TYPE_CHECKING:

        def step(self, step: verbs.Step) -> Table: ...  # noqa: D102

    def kernel(
        self, cuda: str, entry: str, inputs: Names, outputs: Mapping[str, str], reference: str, *,
        kind: Literal["", "rows", "groups", "elementwise", "reduction", "scan"] = "",
        args: KernelArguments | None = None, nulls: Nulls = "propagate",
        by: Names = (), order_by: OrderBy = (), block: int = 256, shared_bytes: str | int = "",
        flops_per_row: int = 0,
    ) -> Table:  # fmt: skip
        """Add columns computed by a CUDA kernel, or its NumPy twin `reference` (file.py:function)."""
        return self.step(
            verbs.Kernel(
                cuda=cuda, entry=entry, block=block, order_by=order_of("kernel", order_by), kind=kind,
                shared_bytes=str(shared_bytes), flops_per_row=flops_per_row,
                **_kernel_keys(inputs, outputs, reference, args, nulls, by),
            )
        )  # fmt: skip

    def table_kernel(
        self, cuda: str, entry: str, inputs: Names, outputs: Mapping[str, str], reference: str, *, rows: str | int,
        per: Literal["", "row", "group", "partition"] = "", keep: Names = (), by: Names = (), order_by: OrderBy = (),
        args: KernelArguments | None = None, nulls: Literal["propagate", "forbid"] = "propagate", block: int = 256,
        shared_bytes: str | int = "", flops_per_row: int = 0,
    ) -> Table:  # fmt: skip
        """Rows that a CUDA kernel makes of each row, group or partition, at most `rows` of each, as `4 * input`."""
        return self.step(
            verbs.Kernel(
                cuda=cuda, entry=entry, block=block, order_by=order_of("kernel", order_by), kind="table", per=per,
                rows=str(rows), keep=names_of("kernel: keep", keep), shared_bytes=str(shared_bytes),
                flops_per_row=flops_per_row, **_kernel_keys(inputs, outputs, reference, args, nulls, by),
            )
        )  # fmt: skip

    def elementwise_kernel(
        self, body: str, inputs: Names, outputs: Mapping[str, str], reference: str, *,
        args: KernelArguments | None = None, nulls: Nulls = "propagate",
    ) -> Table:  # fmt: skip
        """Add columns that C++ statements compute from a row's inputs, such as `y = x * scale;`."""
        keys = _kernel_keys(inputs, outputs, reference, args, nulls, ())
        return self.step(verbs.Kernel(body=body, kind="elementwise", **keys))

    def python_kernel(
        self, python: str, inputs: Names, outputs: Mapping[str, str], *,
        frame: Literal["pandas", "arrow", "cudf"] = "pandas", timeout: str = "", args: KernelArguments | None = None,
        nulls: Literal["pass", "propagate", "forbid"] = "pass", by: Names = (), order_by: OrderBy = (),
        reference: str = "",
    ) -> Table:  # fmt: skip
        """Add the columns that a Python function (file.py:function) gives for frames of the inputs.

        Each frame has the rows of a group of `by`, in the order of `order_by`; without both, any rows, and a row's
        result must not depend on the others.  `timeout`, such as `30s`, is for one call.
        """
        keys = _kernel_keys(inputs, outputs, reference, args, nulls, by, "pass")
        kind, order = "" if frame == "pandas" else frame, order_of("kernel", order_by)
        return self.step(verbs.Kernel(python=python, frame=kind, timeout=timeout, order_by=order, **keys))

    def triton_kernel(
        self, triton: str, inputs: Names, outputs: Mapping[str, str], reference: str, *,
        args: KernelArguments | None = None, nulls: Nulls = "propagate", by: Names = (), order_by: OrderBy = (),
        block: int = 256, warps: int = 4, flops_per_row: int = 0,
    ) -> Table:  # fmt: skip
        """Add columns computed by a Triton kernel (file.py:function), or its NumPy twin `reference`.

        A block of the kernel computes `block` rows, a power of two; with `order_by`, the rows of a group of `by`.
        """
        return self.step(
            verbs.Kernel(
                triton=triton, block=block, warps=warps, flops_per_row=flops_per_row,
                order_by=order_of("kernel", order_by), **_kernel_keys(inputs, outputs, reference, args, nulls, by),
            )
        )  # fmt: skip

    def reduction_kernel(
        self, inputs: Names, outputs: Mapping[str, str], reference: str, *, reduce: str, identity: str | float,
        map: str = "", post: str = "", by: Names = (), args: KernelArguments | None = None,  # noqa: A002
        nulls: Nulls = "propagate",
    ) -> Table:  # fmt: skip
        """One row a group: C++ expressions `map` its rows, `reduce` values `a` and `b` to one, and end by `post`."""
        keys = _kernel_keys(inputs, outputs, reference, args, nulls, by)
        return self.step(
            verbs.Kernel(reduce=reduce, identity=str(identity), map=map, post=post, kind="reduction", **keys)
        )

    def scan_kernel(
        self, inputs: Names, outputs: Mapping[str, str], reference: str, *, combine: str, identity: str,
        order_by: OrderBy, by: Names = (), map: str = "", post: str = "", state: Mapping[str, str] | None = None,  # noqa: A002
        args: KernelArguments | None = None, nulls: Nulls = "propagate",
    ) -> Table:  # fmt: skip
        """Add columns from what the rows of a group up to each one `combine` to, states `a` and `b` to one, in order.

        `map` sets the fields of a row's `state`, by default the outputs; `post` sets the outputs of them.
        """
        keys = _kernel_keys(inputs, outputs, reference, args, nulls, by)
        fields = read_plain(TYPES, state, "kernel: state") if state else {}
        return self.step(
            verbs.Kernel(
                combine=combine, identity=identity, map=map, post=post, state=fields, kind="scan",
                order_by=order_of("kernel", order_by), **keys,
            )
        )  # fmt: skip


class KernelKeys(TypedDict):
    """The keys that kernels of all kinds have."""

    inputs: tuple[Text, ...]
    outputs: Mapping[str, DataType]
    reference: str
    args: Mapping[str, Formula]
    nulls: str
    by: tuple[Text, ...]


def _kernel_keys(
    inputs: Names, outputs: Mapping[str, str], reference: str, args: KernelArguments | None, nulls: str, by: Names,
    usual_nulls: str = "propagate",
) -> KernelKeys:  # fmt: skip
    return {
        "inputs": names_of("kernel: inputs", inputs), "outputs": read_plain(TYPES, outputs, "kernel"),
        "reference": reference, "args": formulas(args or {}),
        "nulls": "" if nulls == usual_nulls else nulls, "by": names_of("kernel: by", by),
    }  # fmt: skip
