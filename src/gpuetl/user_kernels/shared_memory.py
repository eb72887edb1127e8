"""The shared memory of a kernel's blocks: what the step gives, compared with the kernel's text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gpuetl.messages import coded
from gpuetl.user_kernels.contract import KernelContract, KernelMismatch
from gpuetl.user_kernels.cuda_headers import COMMENTS
from gpuetl.user_kernels.size_expression import SizeExpression

MOST_BYTES = 227 << 10
"""No CUDA device gives a block more: H100, H200 and B200 give this much, A100 163 KiB, most others 99 KiB."""
DYNAMIC = re.compile(r"\bextern\s+__shared__\b")


def check_shared(contract: KernelContract, text: str, block: int, arguments: Iterable[str]) -> None:
    """Compare a step's `shared_bytes` with the kernel; raise `KernelMismatch` where they do not fit each other."""
    dynamic = DYNAMIC.search(COMMENTS.sub(" ", contract.source)) is not None
    if not text:
        used = dynamic and DYNAMIC.search(body_with_calls(contract)) is not None
        if used:
            what = f"kernel '{contract.entry}' has extern __shared__ memory, and the step gives it none"
            raise KernelMismatch(coded("GE1902", f"{what}.  Set shared_bytes, such as shared_bytes: 8 * block"))
        return
    size, names = SizeExpression("shared_bytes", text), [*arguments]
    size.check_names({"block", *names}, ", ".join(["block", *names]))
    if not dynamic:
        what = f"the step gives kernel '{contract.entry}' shared_bytes, and its file has no extern __shared__ array"
        raise KernelMismatch(coded("GE1902", f"{what}.  Remove shared_bytes, or declare extern __shared__ int tile[]"))
    if size.names <= {"block"}:
        shared_bytes(text, block, {})


def body_with_calls(contract: KernelContract) -> str:
    """Return the statements of the kernel: other kernels of its file may have shared memory of their own."""
    source = COMMENTS.sub(" ", contract.source)
    found = re.search(rf"__global__[^;{{]*?\b{re.escape(contract.entry)}\s*\([^)]*\)\s*\{{", source)
    if found is None:
        return ""
    depth, place = 1, found.end()
    while depth and place < len(source):
        depth += {"{": 1, "}": -1}.get(source[place], 0)
        place += 1
    return source[found.end() : place]


def shared_bytes(text: str, block: int, arguments: Mapping[str, Any]) -> int:
    """Return the bytes that a launch gives each block; raise `KernelMismatch` where no device has so many."""
    if not text:
        return 0
    size = SizeExpression("shared_bytes", text)
    values = {**arguments, "block": block}
    found = size.value(values)
    if found > MOST_BYTES:
        what = f"shared_bytes '{text}' is {found:,}{size.given(values)}, and a block has at most {MOST_BYTES:,}"
        raise KernelMismatch(coded("GE1902", f"{what}.  Set a smaller block, or work in tiles"))
    return found
