"""A block kernel written in Triton: what its Python declares, checked against the pipeline before anything runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
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
TUNING = re.compile(r"\b(autotune|heuristics)\b")
"""Decorators that choose a block when a kernel is launched by Triton, which gpuetl does not do."""
POINTER = re.compile(r"_ptrs?$")
"""What authors put behind the name of a column."""


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
        self.check_form(function)
        last = function.args.args[-1:]
        if not last or last[0].annotation is None or "constexpr" not in ast.unparse(last[0].annotation):
            what = f"the last parameter of kernel '{self.entry}' is not the block.  Declare it as block: tl.constexpr"
            raise KernelMismatch(coded("GE1302", what))
        expected = [what for what, _, _ in expected_parameters(inputs, outputs, arguments, groups, masks)]
        if len(self.parameters) != len(expected):
            order = ", ".join([*expected, "block"])
            counts = f"has {len(self.parameters) + 1} parameters, the step gives {len(expected) + 1}"
            raise KernelMismatch(coded("GE1302", f"kernel '{self.entry}' {counts}: {order}"))

    def check_form(self, function: ast.FunctionDef) -> None:
        """The function has the decorator, and parameters that a launch gives; raise `KernelMismatch` otherwise."""
        if not any("jit" in ast.unparse(each) for each in function.decorator_list):
            raise KernelMismatch(coded("GE1302", f"function '{self.entry}' has no decorator @triton.jit"))
        for decorator in map(ast.unparse, function.decorator_list):
            if TUNING.search(decorator):
                what = (
                    f"kernel '{self.entry}' has the decorator {decorator.partition('(')[0]}, which gpuetl does not run"
                )
                raise KernelMismatch(coded("GE1302", f"{what}.  Remove it, and set block and warps in the step"))
        takes = function.args
        if takes.vararg or takes.kwarg or takes.kwonlyargs or takes.posonlyargs:
            what = f"kernel '{self.entry}' has parameters with *, ** or /"
            raise KernelMismatch(coded("GE1302", f"{what}.  Declare each one by a name of its own"))
        for parameter in takes.args[:-1]:
            if parameter.annotation is not None and "constexpr" in ast.unparse(parameter.annotation):
                what = f"parameter '{parameter.arg}' of kernel '{self.entry}' is a constexpr, and only the block is one"
                raise KernelMismatch(coded("GE1302", f"{what}.  Remove the annotation: args are passed by value"))

    def misplaced_names(
        self, inputs: Iterable[str], outputs: Iterable[str], arguments: Iterable[str], groups: bool, masks: bool
    ) -> list[str]:
        """Say, in words, which parameters have the name of what another parameter gets: names may be swapped."""
        untyped = {name: pa.null() for name in inputs}, {name: pa.null() for name in outputs}
        gets = [what for what, _, _ in expected_parameters(*untyped, tuple(arguments), groups, masks)]
        names = [name_in(what) for what in gets]
        return [
            f"parameter {place} of kernel '{self.entry}' is called '{parameter.name}', and gets {what}"
            for place, (parameter, what, name) in enumerate(zip(self.parameters, gets, names, strict=False), 1)
            if (own := POINTER.sub("", parameter.name)) != name and own in names
        ]

    def check_block(self, block: int) -> None:
        """Triton's blocks are powers of two; raise `KernelMismatch` for another one."""
        if block & (block - 1) or not LEAST_BLOCK <= block <= MOST_BLOCK:
            found = f"block of a Triton kernel is a power of two from {LEAST_BLOCK} to {MOST_BLOCK:,}, got {block}"
            raise KernelMismatch(coded("GE1302", found))


def name_in(what: str) -> str:
    """Return the name of a column or argument in words such as `input 'x'`; those of validity words have none."""
    role, quote, name = what.partition("'")
    return ("" if "validity" in role else name.rstrip("'")) if quote else what


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
