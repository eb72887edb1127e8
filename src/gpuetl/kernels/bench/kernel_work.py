"""What a kernel has to do for a row: bytes by its declared columns, arithmetic by its declaration or an estimate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from gpuetl.engines.pandas.columns.column import storage_type
from gpuetl.kernels.bench.triton_work import triton_flops
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import KernelReduction
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType
from gpuetl.user_kernels.contract import KernelContract, KernelMismatch
from gpuetl.user_kernels.cuda_headers import COMMENTS
from gpuetl.user_kernels.kernel_code import KernelCode
from gpuetl.user_kernels.triton_kernel import TritonKernel

MASK_BYTES = 1 / 8
"""A validity bit."""
LOOPS = re.compile(r"\b(for|while|do|goto)\b")
POINTERS = re.compile(r"\b(?:double|float|int|unsigned|long|bool|char|short|u?int\d+_t)\s*\*")
STRINGS_AND_INDEXES = re.compile(r'"[^"\n]*"|\[[^\[\]]*\]|\b(blockIdx|threadIdx|blockDim|gridDim)\.[xyz]')
EXPONENTS = re.compile(r"(?<=[0-9.])[eE][+-]?\d+")
MATH = re.compile(
    r"\b(?:f?abs|sqrt|rsqrt|cbrt|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh"
    r"|tanh|erf|erfc|tgamma|lgamma|hypot|fma|fmin|fmax|min|max|floor|ceil|round|trunc|fmod)f?\s*\("
)
STEPS = re.compile(r"\+\+|--|->")
OPERATORS = re.compile(r"(?<=[\w)\].])\s*[-+*/%]=?(?=\s*[\w(.+-])")
ADDRESS = re.compile(
    r"^\s*(?:const\s+)?(?:long long|int64_t|int|unsigned|size_t)\s+(?:row|i|index|stride)\b.*?;", re.MULTILINE
)


@dataclass(frozen=True)
class KernelWork:
    """The bytes that a row is read and written by, and its arithmetic: how many operations, and who says so."""

    read_bytes: float
    written_bytes: float
    flops_per_row: float | None
    flops_by: str = ""

    def bytes(self, rows: int, rows_out: int) -> float:
        """Return what has to cross the memory's link at least."""
        return rows * self.read_bytes + rows_out * self.written_bytes


def work_of(operation: Any) -> KernelWork:
    """Return the work of a kernel step by its declaration."""
    schema = operation.source.schema
    masked = MASK_BYTES * (operation.nulls == "masks" or not isinstance(operation.contract, KernelContract))
    read = sum(width(schema[name]) + masked for name in operation.reads)
    written = sum(width(dtype) + masked for dtype in operation.outputs.values())
    declared = getattr(operation.contract, "flops_per_row", 0)
    if declared:
        return KernelWork(read, written, float(declared), "declared")
    estimate = estimated_flops(operation)
    return KernelWork(read, written, estimate, "" if estimate is None else "estimated from the text")


def width(dtype: DataType) -> int:
    """Return the bytes of a value as it lies in memory."""
    return int(np.dtype(storage_type(dtype).to_pandas_dtype()).itemsize)


def estimated_flops(operation: Node) -> float | None:
    """Count operators and calls in a kernel's text that has no loop; None for one that has, and for other kernels.

    Each operator and each call of a function of <math.h> counts as one, in all branches.  It is an estimate: the
    compiler fuses and removes operations, and a sine takes dozens.
    """
    contract: Any = getattr(operation, "contract", None)
    if isinstance(contract, TritonKernel):
        return None if contract.declared is None else triton_flops(contract.declared)
    if isinstance(contract, KernelCode):
        texts: Iterable[str] = (text for name, text in contract.snippets.items() if name != "identity")
        if isinstance(operation, KernelReduction):  # once for a group
            texts = (contract.snippets["map"], contract.snippets["reduce"])
        whole = "\n".join(texts)
    elif isinstance(contract, KernelContract):
        try:
            whole = body_of(contract.source, contract.entry)
        except KernelMismatch:
            return None
    else:
        return None
    text = COMMENTS.sub(" ", whole)
    if LOOPS.search(text) or not text.strip():
        return None
    return float(operations_in(text))


def body_of(source: str, entry: str) -> str:
    """Return the statements of a CUDA function; nothing where it calls functions of its own, which are not counted."""
    source = COMMENTS.sub(" ", source)
    found = re.search(rf"__global__[^;{{]*?\b{re.escape(entry)}\s*\([^)]*\)\s*\{{", source)
    if found is None:
        return ""
    depth, place = 1, found.end()
    while depth and place < len(source):
        depth += {"{": 1, "}": -1}.get(source[place], 0)
        place += 1
    body = source[found.end() : place - 1]
    own = set(re.findall(r"__device__[^;{(]*?(\w+)\s*\(", source)) | set(re.findall(r"#\s*define\s+(\w+)", source))
    return "" if own & set(re.findall(r"\w+", body)) else body


def operations_in(text: str) -> int:
    """Count operators and calls, without those that compute a row's place."""
    text = re.sub(r"^\s*#.*$", " ", ADDRESS.sub(" ", text), flags=re.MULTILINE)
    while (shorter := STRINGS_AND_INDEXES.sub("", text)) != text:
        text = shorter
    text = STEPS.sub("", POINTERS.sub("", EXPONENTS.sub("", text)))
    return len(OPERATORS.findall(text)) + len(MATH.findall(text))
