"""CUDA kernels."""

from gpuetl.error_codes.page import ErrorPage

CUDA = """\
extern "C" __global__ void twice(const double* amount, double* y, long long n_rows) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n_rows) y[row] = 2 * amount[row];
}
"""
TILES = """\
extern "C" __global__ void twice(const double* amount, double* y, long long n_rows) {
    extern __shared__ double tile[];
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n_rows) tile[threadIdx.x] = amount[row];
    __syncthreads();
    if (row < n_rows) y[row] = 2 * tile[threadIdx.x];
}
"""
TABLES = """\
extern "C" __global__ void halves(const double* amount, double* half, const long long* starts, int* counts, long long n_rows) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    for (int i = 0; i < 2 && starts[row] + i < starts[row + 1]; ++i) half[starts[row] + i] = amount[row] / 2;
    counts[row] = 2;
}
"""
TABLES_TWIN = """\
import numpy as np


def halves(amount):
    return {"half": np.repeat(amount / 2, 2), "counts": np.full(len(amount), 2)}
"""
TWIN = """\
def twice(amount, factor=2):
    return {"y": factor * amount}


def shorter(amount):
    return {"y": amount[1:]}
"""
FILES = {"kernels.cu": CUDA, "kernels.py": TWIN}

PAGES = (
    ErrorPage(
        code="GE1301",
        title="kernel not found",
        cause="The CUDA file of a kernel step, or a header that it includes in quotes, cannot be read, or the file has no "
        "kernel of the name that entry gives.",
        fix="Correct the path or the name.  The kernel must be declared as __global__ void.  Write <name.h> for headers "
        "of the CUDA toolkit.",
        example="""\
- kernel:
    cuda: kernels.cu
    entry: double_it
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}""",
        message="""\
example.yaml:11:18: stage 'result', step 1: kernels.cu has no kernel 'double_it'.  It has: twice.  [GE1301]
    entry: double_it
           ^^^^^^^^^""",
        fixed="""\
- kernel:
    cuda: kernels.cu
    entry: twice
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}""",
        files=FILES,
    ),
    ErrorPage(
        code="GE1302",
        title="kernel's parameters do not match the step",
        cause="The parameters of the kernel in its file differ from the columns and arguments of the step in "
        "number, order or type, or a column has a type that kernels cannot take, such as string.  Of Triton kernels, "
        "it is also a warning: two parameters have each other's names.",
        fix="Declare the parameters that the message lists, or cast the column in a step before.",
        example="""\
- kernel:
    cuda: kernels.cu
    entry: twice
    reference: kernels.py:twice
    inputs: id
    outputs: {y: float64}""",
        message="""\
example.yaml:10:17: stage 'result', step 1: kernel 'twice': input 'id' must be float64, got int64.  Cast it, or declare int64 in the kernel.  [GE1302]
    cuda: kernels.cu
          ^^^^^^^^^^""",
        fixed="""\
- kernel:
    cuda: kernels.cu
    entry: twice
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}""",
        files=FILES,
    ),
    ErrorPage(
        code="GE1303",
        title="kernel's NumPy twin is missing or wrong",
        cause="reference names a Python function that computes the same as the kernel, with NumPy.  The file or the "
        "function does not exist, or the function returns other names, lengths or types than the step declares.",
        fix="Let the function return a dict with an array for each output, of the declared type, with a value for "
        "each row.",
        example="- kernel: {body: y = 2 * amount;, reference: kernels.py:shorter, inputs: amount, outputs: {y: float64}}",
        message="""\
example.yaml:9:9: stage 'result', step 1: shorter: output 'y' has shape (1,), and must have (2,): a value a row  [GE1303]
    - kernel: {body: y = 2 * amount;, reference: kernels.py:shorter, inputs: amount, outputs: {y: float64}}
      ^^^^^^""",
        fixed="- kernel: {body: y = 2 * amount;, reference: kernels.py:twice, inputs: amount, outputs: {y: float64}}",
        files=FILES,
    ),
    ErrorPage(
        code="GE1304",
        title="kernel code lacks a part",
        cause="The code of a kernel step does not set one of the outputs or a field of the state, does not use the "
        "values a and b that it combines, or uses a column whose name is not a valid name in C++.",
        fix="Add the missing statement, or rename the column in a step before.",
        example="- kernel: {body: z = 2 * amount;, reference: kernels.py:twice, inputs: amount, outputs: {y: float64}}",
        message="""\
example.yaml:9:24: stage 'result', step 1: the body does not set output 'y'  [GE1304]
    - kernel: {body: z = 2 * amount;, reference: kernels.py:twice, inputs: amount, outputs: {y: float64}}
                     ^^^^^^^^^^^^^^^
Write y = …;""",
        fixed="- kernel: {body: y = 2 * amount;, reference: kernels.py:twice, inputs: amount, outputs: {y: float64}}",
        files=FILES,
    ),
    ErrorPage(
        code="GE1305",
        title="kernel does not compile",
        cause="The CUDA compiler refuses the code of a kernel step.  The lines below the message are the compiler's.",
        fix="Correct the code.  gpuetl validate compiles kernels without running them.",
        example="- kernel: {body: y = twice amount;, reference: kernels.py:twice, inputs: amount, outputs: {y: float64}}",
        message="""\
example.yaml:9:24: stage 'result', step 1: kernel 'twice' does not compile  [GE1305]
    - kernel: {body: y = twice amount;, reference: kernels.py:twice, inputs: amount, outputs: {y: float64}}
                     ^^^^^^^^^^^^^^^^^
body:1: error: identifier "twice" is undefined
  y = twice amount;
      ^""",
        fixed="- kernel: {body: y = 2 * amount;, reference: kernels.py:twice, inputs: amount, outputs: {y: float64}}",
        files=FILES,
        untested="needs a CUDA compiler",
    ),
    ErrorPage(
        code="GE1306",
        title="argument of a kernel",
        cause="An argument of a kernel step is not a constant or a parameter, is not a number, a time or a boolean, "
        "or is null.",
        fix="Give a constant or a $parameter with a value.  Add a column to inputs, not to args.",
        example="""\
- kernel:
    body: y = factor * amount;
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}
    args: {factor: "'2'"}""",
        message="""\
example.yaml:14:26: stage 'result', step 1: argument 'factor' is a string  [GE1306]
    args: {factor: "'2'"}
                   ^^^^^
Kernels take numbers.""",
        fixed="""\
- kernel:
    body: y = factor * amount;
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}
    args: {factor: 2}""",
        files=FILES,
    ),
    ErrorPage(
        code="GE1307",
        title="keys do not fit the kind of kernel",
        cause="A kernel step lacks a key that its kind needs, or has one that its kind does not take.  The other "
        "keys give the kind: body makes it elementwise, reduce a reduction and combine a scan.",
        fix="Add or remove the key that the message names.",
        example="- kernel: {map: amount, reduce: a + b, reference: kernels.py:total, inputs: amount, "
        "outputs: {total: float64}}",
        message="""\
example.yaml:9:57: stage 'result', step 1: the key 'identity' is missing  [GE1307]
    - kernel: {map: amount, reduce: a + b, reference: kernels.py:total, inputs: amount, outputs: {total: float64}}
                                                      ^^^^^^^^^^^^^^^^
A kernel of kind reduction takes reduce and identity.""",
        fixed="- kernel: {map: amount, reduce: a + b, identity: 0, reference: kernels.py:total, inputs: amount, "
        "outputs: {total: float64}}",
        files={
            "kernels.py": "import numpy as np\n\n\ndef total(offsets, amount):\n"
            '    return {"total": np.add.reduceat(amount, offsets[:-1])}\n'
        },
    ),
    ErrorPage(
        code="GE1308",
        title="a kernel wrote outside of its outputs",
        cause="With --sanitize, guard values stand before and after each output of a CUDA kernel.  The kernel changed "
        "some of them.",
        fix="Compare the row with n_rows before you write.  `gpuetl kernel check` shows small examples.",
        example=(
            "- kernel: {cuda: kernels.cu, entry: shifted, inputs: amount, outputs: {y: float64}, reference: "
            "kernels.py:shifted}"
        ),
        message="""\
example.yaml:9:9: stage 'result', step 1: kernel 'shifted' (kernels.cu) wrote outside of its outputs: 1 values after \
the last row of output 'y', the nearest 1 away  [GE1308]
          - kernel: {cuda: kernels.cu, entry: shifted, inputs: amount, outputs: {y: float64}, reference: kernels.py:shifted}
            ^^^^^^
Compare the row with n_rows before you write.  `gpuetl kernel check` shows small examples.""",
        untested="needs a CUDA compiler",
    ),
    ErrorPage(
        code="GE1320",
        title="no compiler for kernels",
        cause="gpuetl kernel build found no NVRTC.  NVRTC is NVIDIA's compiler library for kernels.  It needs no GPU.",
        fix="Install its package, which the extras cu12 and cu13 also contain.",
        example="gpuetl kernel build --arch sm_90",
        message="""\
no NVRTC was found, which compiles kernels.  [GE1320]
Install it: pip install nvidia-cuda-nvrtc-cu12""",
        kind="command",
        untested="needs a machine without NVRTC",
    ),
    ErrorPage(
        code="GE1321",
        title="no GPU architecture to compile for",
        cause="gpuetl kernel build compiles for the GPUs of this machine, and there is none.  Or the installed NVRTC does "
        "not support the architecture that --arch names.",
        fix="Name the architectures of the GPUs that will run the pipelines: sm_80 is A100, sm_90 is H100 and H200, "
        "sm_100 is B200.",
        example="gpuetl kernel build",
        message="""\
this machine has no GPU to compile for  [GE1321]
Say for which GPUs to compile: --arch sm_90, or several as --arch sm_80,sm_90.  NVRTC 12.9 compiles for: sm_80, sm_90.""",
        fixed="gpuetl kernel build --arch sm_80,sm_90",
        kind="command",
        untested="the message depends on the NVRTC that is installed",
    ),
    ErrorPage(
        code="GE1322",
        title="a program does not compile",
        cause="gpuetl kernel build names the pipeline's file, the program and the architecture.  The lines below are the "
        "compiler's.  Kernels that were compiled before stay in the folder.",
        fix="Correct the CUDA file or the code of the kernel step.  If no step of yours is named, report it.",
        example="gpuetl kernel build --arch sm_90 daily.yaml",
        message="""\
daily.yaml: kernel 'haversine' (kernels/haversine.cu) for sm_90 does not compile  [GE1322]
haversine.cu:7: error: identifier "radian" is undefined
    double a = radian * x;
               ^""",
        kind="command",
        untested="needs a CUDA compiler",
    ),
    ErrorPage(
        code="GE1323",
        title="compiled kernels cannot be written",
        cause="gpuetl kernel build cannot write to the folder of --to, or to the cache.",
        fix="Give a folder that you may write to, and that has room.",
        example="gpuetl kernel build --arch sm_90 --to /proc/kernels",
        message="cannot write to /proc/kernels: No such file or directory  [GE1323]",
        kind="command",
        untested="needs a CUDA compiler",
    ),
    ErrorPage(
        code="GE1900",
        title="no row to time a kernel with",
        cause="gpuetl kernel bench repeats the rows that reach a kernel in the pipeline.  There is none: the source is "
        "empty, or a step before removes all rows.",
        fix="Give the sources some rows.  A few are enough.",
        example="gpuetl kernel bench daily.yaml",
        message="""\
daily.yaml:12:9: stage 'priced', step 1: no row reaches kernel 'tariff', so there is nothing to time  [GE1900]
Give the pipeline's sources some rows: `gpuetl kernel bench` repeats them.""",
        kind="command",
        untested="needs a GPU",
    ),
    ErrorPage(
        code="GE1901",
        title="not a size",
        cause="A kernel step states a size, such as shared_bytes, that is not arithmetic of whole numbers and of the names "
        "that it can use, or that is negative.",
        fix="Write a number, or an expression such as 8 * block.  min(a, b) and max(a, b) work, too.",
        example="""\
- kernel:
    cuda: tiles.cu
    entry: twice
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}
    shared_bytes: 8 * threads""",
        message="""\
example.yaml:15:25: stage 'result', step 1: shared_bytes '8 * threads' has an unknown name 'threads'.  It can use block.  [GE1901]
    shared_bytes: 8 * threads
                  ^^^^^^^^^^^""",
        fixed="""\
- kernel:
    cuda: tiles.cu
    entry: twice
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}
    shared_bytes: 8 * block""",
        files={**FILES, "tiles.cu": TILES},
    ),
    ErrorPage(
        code="GE1902",
        title="shared memory of a kernel",
        cause="A block of a kernel is given more shared memory than the device has, or a kernel with extern __shared__ "
        "memory is given none, or one without it is given some.",
        fix="Set shared_bytes to what the kernel's threads use.  A smaller block needs less.  For large tables, work in "
        "tiles.",
        example="""\
- kernel:
    cuda: tiles.cu
    entry: twice
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}
    shared_bytes: 4096 * block""",
        message="""\
example.yaml:15:25: stage 'result', step 1: shared_bytes '4096 * block' is 1,048,576, where block = 256, and a block has at most 232,448.  Set a smaller block, or work in tiles.  [GE1902]
    shared_bytes: 4096 * block
                  ^^^^^^^^^^^^""",
        fixed="""\
- kernel:
    cuda: tiles.cu
    entry: twice
    reference: kernels.py:twice
    inputs: amount
    outputs: {y: float64}
    shared_bytes: 8 * block""",
        files={**FILES, "tiles.cu": TILES},
    ),
    ErrorPage(
        code="GE1903",
        title="a kernel makes more rows than declared",
        cause="A kernel of kind table makes more rows of a row, a group or a partition than its key rows allows, or does "
        "not set counts for one of them.  The run fails, and no sink changes: no row is lost.",
        fix="Declare more rows.  The kernel counts all rows that it has, and writes those for which there is room.",
        example="""\
- kernel:
    cuda: tables.cu
    entry: halves
    reference: tables.py:halves
    per: row
    rows: 1
    inputs: amount
    outputs: {half: float64}""",
        message="""\
example.yaml:9:9: stage 'result', step 1: kernel 'halves' makes 2 rows of a row, and rows: 1 allows 1  [GE1903]
    - kernel:
      ^^^^^^
Row 2 of sales.csv: amount = 10.5
Declare more rows, or let the kernel make fewer.""",
        fixed="""\
- kernel:
    cuda: tables.cu
    entry: halves
    reference: tables.py:halves
    per: row
    rows: 2
    inputs: amount
    outputs: {half: float64}""",
        files={"tables.cu": TABLES, "tables.py": TABLES_TWIN},
    ),
)
