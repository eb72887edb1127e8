"""A block kernel written in Triton: what its Python declares, checked against the pipeline before anything runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

import pyarrow as pa

from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType
from gpuetl.user_kernels.contract import CParameter, KernelContract, KernelMismatch, device_type, expected_parameters

TRITON_TYPES: Mapping[DataType, str] = {
    pa.float64(): "fp64", pa.float32(): "fp32", pa.int64(): "i64", pa.int32(): "i32", pa.int16(): "i16",
    pa.int8(): "i8", pa.uint64(): "u64", pa.uint32(): "u32", pa.uint16(): "u16", pa.uint8(): "u8", pa.bool_(): "i1",
}  # fmt: skip
"""Triton's names of the types of values on the device; a pointer's begins with a star."""
MISSING = "GE1895"
LEAST_BLOCK, MOST_BLOCK = 16, 65_536
WARPS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class TritonKernel(KernelContract):
    """A function with `@triton.jit`, and its NumPy twin.

    `cuda` is the file of the function.  Its parameters are those of a CUDA kernel, in the same order, and the block as
    the last one, a `tl.constexpr`.  `text` is the file's when the pipeline was planned.
    """

    warps: int = 4
    text: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def source(self) -> str:
        """The text of the file."""
        return (self.text or b"").decode("utf-8", "replace")

    @cached_property
    def declared(self) -> ast.FunctionDef | None:
        """The function, if the file has it."""
        tree = ast.parse(self.source)
        return next((item for item in tree.body if is_function(item, self.entry)), None)  # type: ignore[return-value]

    @property
    def parameters(self) -> tuple[CParameter, ...]:
        """The parameters of the function before the block; Triton's have no types."""
        arguments = self.declared.args.args if self.declared else []
        return tuple(CParameter(each.arg, None, False, each.arg) for each in arguments[:-1])

    def check(
        self,
        inputs: Mapping[str, DataType],
        outputs: Mapping[str, DataType],
        arguments: Sequence[str],
        groups: bool,
        masks: bool,
        table: bool = False,
    ) -> None:
        """Compare the declaration with the columns that the kernel gets; raise `KernelMismatch` where they differ."""
        for name, dtype in {**inputs, **outputs}.items():
            try:
                device_type(dtype)
            except KernelMismatch as error:
                raise KernelMismatch(coded("GE1302", f"kernel '{self.entry}': '{name}': {error}")) from None
        function = self.declared
        if function is None:
            return
        if not any("jit" in ast.unparse(each) for each in function.decorator_list):
            raise KernelMismatch(coded("GE1302", f"function '{self.entry}' has no decorator @triton.jit"))
        last = function.args.args[-1:]
        if not last or last[0].annotation is None or "constexpr" not in ast.unparse(last[0].annotation):
            what = f"the last parameter of kernel '{self.entry}' is not the block.  Declare it as block: tl.constexpr"
            raise KernelMismatch(coded("GE1302", what))
        expected = [what for what, _, _ in expected_parameters(inputs, outputs, arguments, groups, masks)]
        if len(self.parameters) != len(expected):
            order = ", ".join([*expected, "block"])
            counts = f"has {len(self.parameters) + 1} parameters, the step gives {len(expected) + 1}"
            raise KernelMismatch(coded("GE1302", f"kernel '{self.entry}' {counts}: {order}"))

    def check_block(self, block: int) -> None:
        """Triton's blocks are powers of two; raise `KernelMismatch` for another one."""
        if block & (block - 1) or not LEAST_BLOCK <= block <= MOST_BLOCK:
            found = f"block of a Triton kernel is a power of two from {LEAST_BLOCK} to {MOST_BLOCK:,}, got {block}"
            raise KernelMismatch(coded("GE1302", found))


def is_function(item: ast.stmt, name: str) -> bool:
    """Return whether a statement defines a function."""
    return isinstance(item, ast.FunctionDef) and item.name == name


def argument_types(
    inputs: Sequence[DataType], outputs: Sequence[DataType], arguments: Sequence[DataType], groups: bool, masks: bool
) -> tuple[str, ...]:
    """Return Triton's types of the arguments of a launch, in their order."""
    types = list[str]()
    for dtype in (*inputs, *outputs):
        types += [f"*{TRITON_TYPES[device_type(dtype)]}", *["*u32"] * masks]
    types += [TRITON_TYPES[device_type(dtype)] for dtype in arguments]
    return (*types, *(("*i32", "i32") if groups else ()), "i64")
