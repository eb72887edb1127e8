"""The section of the language's page on users' kernels."""

KERNELS = """\
## Kernels

A [kernel step](#kernel) runs a CUDA kernel of yours, [one written in Triton](#triton-kernels), or [a Python function
over frames](#python-kernels). [The tutorial](tutorial/4-first-kernel.md) builds a kernel. A step with CUDA code has one
of six kinds. gpuetl finds the kind from the keys that you give, or `kind` names it:

| kind | keys | computes |
|---|---|---|
| `rows` | `cuda`, `entry` | each row by one thread of a kernel in a file |
| `groups` | `cuda`, `entry`, `order_by`, with or without `by` | each group by a kernel in a file |
| `table` | `cuda`, `entry`, `rows`, and `per` or `by` | rows of its own, from each row, group or partition |
| `elementwise` | `body` | each row by statements |
| `reduction` | `map`, `reduce`, `identity`, `post`, `by` | one row for each group |
| `scan` | `map`, `combine`, `identity`, `state`, `post`, `by`, `order_by` | a running value in each group |

### Kernels in files

```yaml
- kernel: {cuda: scale.cu, entry: scaled, inputs: x, outputs: {y: float64}, args: {scale: 2.0}, reference: k.py:scaled}
```

    extern "C" __global__ void entry(const T* input…, U* output…, args by value…, long long n_rows)

One thread computes one row. `T` and `U` are the types of the columns. The kernel must write every row of its outputs.

- A kernel over groups gets rows sorted by group and order. It has two more parameters before `n_rows`:
  `const int* offsets, int n_groups`. `offsets[g]` is the first row of group g, and `offsets[n_groups]` is the number
  of rows.
- The grid has a thread for each row, or a block for each group. `block` is the number of threads in a block.
- `shared_bytes: 8 * block` gives each block shared memory, for a kernel with `extern __shared__ double tile[];`. It is
  a number or arithmetic of `block` and args. gpuetl compares it with the device's limit. Static arrays, such as
  `__shared__ double tile[256];`, need no key.
- `#include "own.cuh"` reads a header next to the file that includes it, or next to the kernel's file. gpuetl reads
  headers when it plans the pipeline, and sends them to workers. A missing header is an error, even where `#if` leaves
  it out.
- Write `#include <cuda_fp16.h>` for headers of the CUDA toolkit.

| nulls | rows with a null input |
|---|---|
| `propagate` | are not passed to the kernel, and get null |
| `forbid` | stop the run ([GE2005](errors/GE2005.md)) |
| `masks` | are passed: the validity words of each array follow it as a parameter |

### Kernels that make rows

```yaml
- kernel: {cuda: k.cu, entry: repeated, per: row, rows: 4 * input, keep: id, inputs: [x, n], outputs: {y: float64},
           reference: k.py:repeated}
```

    extern "C" __global__ void entry(const T* input…, U* output…, args by value…, const long long* starts, int* counts,
                                     long long n_rows)

A kernel of kind `table` makes other rows than it gets. The result has the outputs and, with `per: row`, the columns of
`keep`, or the columns of `by`.

| key | a unit is | threads | across partitions |
|---|---|---|---|
| `per: row` | a row | one for each row | the same in every partitioning |
| `by: [k]`, or `per: group` without `by` for all rows | the rows of a group, in order of `order_by` | a block for each group, and `offsets`, `n_groups` before `starts` | the rows of a group meet in one partition |
| `per: partition` | all rows of a partition | one for each row | **one result for each partition**: add them up in a step after |

- `rows` is the most rows that one unit makes: a number, or arithmetic of args and of `input`, the number of rows of the
  unit. So `4 * input` is 4 for a row, and 400 for a group of 100 rows.
- The rows of unit u go to the slots from `starts[u]` on. `starts[u + 1] - starts[u]` is the value of `rows`. Outputs
  begin as 0.
- The kernel sets `counts[u]` to the number of rows that the unit has, for each unit. If a unit has more than slots, the
  run stops ([GE1903](errors/GE1903.md)): compare with the room before you write, but count all.
- Rows follow in the order of their units, and in a unit in that of their slots. Groups come in the order of their keys,
  in each partition. Without `order_by`, the rows of a group have no order of their own.
- Rows with a null input make no rows, or stop the run with `nulls: forbid`. A group or partition without rows makes none.
- The number of partitions differs between engines, and with the memory. Use `per: partition` only where a step after it
  makes the result the same, such as `aggregate: {by: bin, columns: {n: sum(n)}}` after a histogram.
- The twin returns `counts` beside the outputs: how many rows each unit has. Its outputs have the rows one after another,
  without empty slots. For groups it gets `offsets` first.
- `gpuetl kernel check` compares such kernels on the first rows of the pipeline, which it repeats, since generated values
  could ask for any number of rows.

```python
def repeated(x, n):
    return {"y": np.repeat(x, n), "counts": n}
```

[Kernels by example](kernel-examples.md#histogram) has a histogram in shared memory.

### The twin

```python
def scaled(x, scale):
    return {"y": x * scale}
```

The twin is a NumPy function that computes the same as the kernel. It gets the inputs as arrays, in the same order:
`offsets` first, and masks as booleans after each array. It gets args by keyword, and returns a dict of arrays.

### Elementwise kernels

```yaml
- kernel: {body: y = x * scale;, inputs: x, outputs: {y: float64}, args: {scale: 2.0}, reference: k.py:scaled}
```

You write only the statements for one row. gpuetl generates the kernel around them, which reads and writes rows and
nulls. Inputs, outputs and args are variables of these names. Outputs start as 0, and `return` ends the row. With
`nulls: masks`, the booleans `x_valid` and `y_valid` exist as well. An output is valid unless you set its boolean to
false.

### Reductions

```yaml
- kernel: {map: x * x, reduce: a + b, identity: 0, post: sqrt(a), inputs: x, outputs: {norm: float64}, by: k,
           reference: k.py:norm}
```

A reduction gives one row for each group, like `aggregate`: the columns of `by`, and one output.

| key | computes | can be left out |
|---|---|---|
| `map` | a value of the output's type from a row's inputs | with one input |
| `reduce` | one value from two, `a` and `b`, in any order and grouping | |
| `identity` | the value that changes no other | |
| `post` | the result from the last value, `a` | yes |

`map` and `post` can use args. Rows with a null input do not count. A group that has no other row gets null. The twin
gets `offsets` first: the start of each group, then the number of rows. It returns one value for each group. No group
is empty, but there may be no group.

### Scans

```yaml
- kernel: {state: {total: float64, n: int64}, identity: total = 0; n = 0;, map: total = x; n = 1;,
           combine: total = a.total + b.total; n = a.n + b.n;, post: mean = total / n;, inputs: x,
           outputs: {mean: float64}, by: k, order_by: t, reference: k.py:running_mean}
```

A scan adds to each row the result over the rows of its group up to that row, in the order of `order_by`. Its code
consists of statements:

| key | sets | can be left out |
|---|---|---|
| `state` | the fields of the state and their types | yes: the outputs are the fields |
| `identity` | a state that changes no other; fields start as this in `map` and `combine` | |
| `map` | the state of one row, from its inputs | with one input and one field |
| `combine` | the state of earlier rows, `a`, and later rows, `b`; grouping varies, order does not | |
| `post` | the outputs of a row, from its state | without `state` |

All code can use args, which are constants. Rows with a null input get null and change no state. With `nulls: masks`,
`map` can read `x_valid`, and `post` can set `mean_valid`. The twin gets the same arguments as for a kernel over
groups. It can scan whole arrays without a loop over rows:

```python
from gpuetl.kernels.scan import scan_groups


def running_mean(offsets, x):
    def combine(a, b):
        return a[0] + b[0], a[1] + b[1]

    total, n = scan_groups(offsets, combine, x, np.ones(len(x), np.int64))
    return {"mean": total / n}
```

On every engine, a sum of n floats is within 4·n·ε·Σ|x| of the exact sum. Each engine gives the same bits in every
run.

### Checks and faults

| command or option | does |
|---|---|
| `gpuetl kernel check FILE` | compares every kernel with its twin on a GPU |
| `gpuetl kernel bench FILE` | times every kernel: see [what a kernel pays](kernels.md#when-a-kernel-pays) |
| `gpuetl kernel build FILE` | compiles kernels before a run, without a GPU: see [compiled kernels](kernels.md) |
| `gpuetl run FILE --sanitize` | finds writes outside of a kernel's outputs |
| `gpuetl run FILE --kernel-timeout 60` | ends a run whose kernel takes longer than 60 seconds |

A GPU only detects accesses to memory that is not allocated. A kernel that writes a little outside of its outputs may
go unnoticed. `--sanitize` puts guard values before and after each output, and the error names the kernel
([GE1308](errors/GE1308.md)). It takes time, and memory for one more copy of the outputs.

An access to memory that is not allocated stops the GPU ([GE2012](errors/GE2012.md)). The run ends with the kernel's
name, and no sink changes. Without `--kernel-timeout`, an endless kernel runs until you press Ctrl-C. In Python write
`RunOptions(sanitize=True, kernel_timeout_s=60)`.

After a fault or a timeout, the process cannot use the GPU any more ([GE2014](errors/GE2014.md)): start Python again.
A worker of a cluster starts again by itself.
"""
