"""The section of the language's page on kernels written in Triton."""

from __future__ import annotations

from gpuetl.spec.language_page.example import Example, Given, Run, shown

POINTS = Given(
    {"k": "string", "t": "int64", "x": "float64"}, [("a", 2, 1.0), ("b", 1, 5.0), ("a", 1, 2.5), ("b", 2, None)]
)
BLOCKS = """\
import triton
import triton.language as tl


@triton.jit
def scaled(x, y, scale, n_rows, block: tl.constexpr):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    inside = rows < n_rows
    tl.store(y + rows, tl.load(x + rows, mask=inside) * scale, mask=inside)
"""
TOTALS = """\
import triton
import triton.language as tl


@triton.jit
def running(x, total, offsets, n_groups, n_rows, block: tl.constexpr):
    group = tl.program_id(0)
    last = tl.load(offsets + group + 1)
    before = tl.zeros((), tl.float64)
    for start in range(tl.load(offsets + group), last, block):
        rows = start + tl.arange(0, block)
        values = tl.load(x + rows, mask=rows < last, other=0.0)
        tl.store(total + rows, before + tl.cumsum(values, 0), mask=rows < last)
        before += tl.sum(values, 0)
"""
ROWS = Example(
    "- kernel: {triton: blocks.py:scaled, inputs: x, outputs: {y: float64}, args: {scale: 2.0}, block: 1024,\n"
    "           reference: twins.py:scaled}\n",
    {"points": POINTS},
    files={"blocks.py": BLOCKS, "twins.py": 'def scaled(x, scale):\n    return {"y": x * scale}\n'},
)
GROUPS = Example(
    "- kernel: {triton: totals.py:running, inputs: x, outputs: {total: float64}, by: k, order_by: t, block: 128,\n"
    "           reference: totals_twin.py:running}\n",
    {"points": POINTS},
    files={
        "totals.py": TOTALS,
        "totals_twin.py": "from gpuetl.kernels.scan import scan_groups\n\n\ndef running(offsets, x):\n"
        '    (total,) = scan_groups(offsets, lambda a, b: (a[0] + b[0],), x)\n    return {"total": total}\n',
    },
)
EXAMPLES = (ROWS, GROUPS)
HEAD = """\
## Triton kernels

A [kernel step](#kernel) with `triton` runs a block kernel written in [Triton](https://triton-lang.org). `reference` names
its NumPy twin, as for CUDA kernels:
"""
PARAMETERS = """\
The parameters are those of [a CUDA kernel in a file](#kernels-in-files), in the same order, and the block as the last one:

    def entry(input…, output…, args…, n_rows, block: tl.constexpr)
    def entry(input…, output…, args…, offsets, n_groups, n_rows, block: tl.constexpr)

- One program computes `block` rows, a power of two from 16 to 65,536. `warps` is the number of warps that share the work:
  1, 2, 4 (the default), 8, 16 or 32.
- Pointers have the types of their columns. Arguments have the types of their values: `2.0` is `float64`, `2` is `int64`.
  `n_rows` is `int64`.
- Mask every load and store with the rows that there are. As for CUDA kernels, the kernel must write every row of its
  outputs.
- With `order_by`, a program computes a group. `offsets` and `n_groups` are those of CUDA kernels, and the program loops
  over the group's rows:
"""
RULES = """\
`nulls` has the same meaning as for CUDA kernels. With `masks`, pointers to the validity words (`uint32`) follow each
array. Row r is valid if bit r % 32 of word r // 32 is set. All bits of an output are 0 at the start:

```python
valid = (tl.load(x_valid + rows // 32, mask=inside, other=0) >> (rows % 32).to(tl.uint32)) & 1
bits = (result >= 0).to(tl.uint32) << (rows % 32).to(tl.uint32)
tl.atomic_or(y_valid + rows // 32, bits, mask=inside)
```

Install `gpuetl[triton]` on the machines that run the kernel on a GPU ([GE1895](errors/GE1895.md)). PyTorch is not needed:
CuPy launches what Triton compiles. Engines without a GPU run the twin and do not import the kernel's file, so put the twin
into a file of its own if Triton is not installed there. The file is read when the pipeline is planned, and its text is
sent to workers.

`gpuetl kernel check`, `gpuetl kernel bench`, `--sanitize` and `--kernel-timeout` work as for CUDA kernels. `gpuetl validate`
compares the declaration with the step: the function, its decorator, the number of parameters and the block. It warns where two
parameters have each other's names. If Triton is installed, it also compiles the kernel, for the GPUs of the machine or else for
`sm_90`. `gpuetl kernel build FILE` [compiles it before a run](kernels.md#compile-before-the-run). Triton keeps the machine
code in the folder `triton` of [the kernel cache](kernels.md#where-a-run-looks), or in `TRITON_CACHE_DIR`. A product and a sum
may become one operation, as in CUDA kernels. Decorators that tune, such as `@triton.autotune`, are refused. A kernel cannot use
scratch memory, such as that of tensor descriptors made on the device.

In Python:

```python
points.triton_kernel("blocks.py:scaled", "x", {"y": "float64"}, "twins.py:scaled", args={"scale": 2.0}, block=1024)
```
"""


def triton_kernels_markdown(run: Run) -> str:
    """Return the section; `run` runs its examples."""
    return "\n".join([HEAD, shown(ROWS, run), PARAMETERS, shown(GROUPS, run), RULES])
