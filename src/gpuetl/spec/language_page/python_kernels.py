"""The section of the language's page on Python functions over frames."""

from __future__ import annotations

from gpuetl.spec.language_page.example import Example, Given, Run, shown

RIDES = Given(
    {"driver": "string", "day": "int64", "fare": "float64"},
    [("ann", 2, 30.0), ("bob", 1, 8.0), ("ann", 1, 10.0), ("bob", 2, None), ("ann", 3, 20.0)],
)
FEES = """\
def with_fee(frame, fee):
    return {"paid": frame["fare"] + fee}
"""
FRAMES = """\
def against_best(frame):
    best = frame["fare"].cummax()
    return {"best": best, "share": frame["fare"] / best}
"""
ROWS = Example(
    "- kernel: {python: fees.py:with_fee, inputs: fare, outputs: {paid: float64}, args: {fee: 1.5}}\n",
    {"rides": RIDES},
    files={"fees.py": FEES},
)
GROUPS = Example(
    "- kernel:\n    python: frames.py:against_best\n    inputs: fare\n    outputs: {best: float64, share: float64}\n"
    "    by: driver\n    order_by: day\n    timeout: 30s\n",
    {"rides": RIDES},
    files={"frames.py": FRAMES},
)
ARROW = Example(
    "- kernel: {python: arrow.py:rounded, inputs: fare, outputs: {whole: int64}, frame: arrow}\n",
    {"rides": RIDES},
    files={
        "arrow.py": "import pyarrow as pa\nimport pyarrow.compute as pc\n\n\ndef rounded(table):\n"
        '    return pa.table({"whole": pc.cast(pc.round(table["fare"]), pa.int64())})\n'
    },
)
EXAMPLES = (ROWS, GROUPS, ARROW)
HEAD = """\
## Python kernels

A [kernel step](#kernel) with `python` runs a Python function of yours. It gets a frame of the inputs, and returns a
frame, or a dict of columns, with the outputs:
"""
ROWS_TEXT = """\
Without `by` and `order_by`, a frame has any rows of the input: a partition. So the result of a row must not depend on
the other rows. With `by`, the function gets each group by itself, and with `order_by` its rows are in order:
"""
ARROW_TEXT = """\
With `order_by` alone, all rows are one group. Rows of groups leave the step in the order of the groups.

`frame` says what the function gets and returns. Here it is an Arrow table:
"""
RULES = """\
| frame | the function gets | where it runs |
|---|---|---|
| `pandas` | a pandas frame with Arrow types (`pd.ArrowDtype`), and an index from 0 | on the CPU |
| `arrow` | a `pyarrow.Table` | on the CPU |
| `cudf` | a cuDF frame, with an index from 0 | on the GPU |

- On the engine `cudf`, the inputs of `pandas` and `arrow` functions are copied to the host, and the outputs back. `gpuetl
  plan` says "on the CPU" for such a step, and the report notes the copy.
- A function over cuDF frames needs a `reference`: the same function over pandas frames. It runs on engines without a
  GPU. `reference: file.py:function` can be the same function where its code suits both libraries.
- `args` are passed by name, as Python values. They are constants or parameters, of any type. A null is `None`.

| nulls | rows with a null input |
|---|---|
| `pass`, the default | are in the frame |
| `propagate` | are left out of the frame, and get null |
| `forbid` | stop the run ([GE2005](errors/GE2005.md)), and so does a null in an output |

The outputs are checked ([GE1891](errors/GE1891.md)):

- They have the declared names, and no others.
- They have the declared types. Integers are not taken for floats, or the other way round. What differs only in its
  layout is converted: categories and large strings to strings, nanoseconds to microseconds if nothing is lost, and
  Python objects to the declared type. Use this for dates, decimals, lists and structs.
- They have as many rows as the frame. A pandas or cuDF column whose index differs from the frame's, such as one that
  was sorted, is an error.

cuDF and pandas differ in places, for example `upper` of "ß" and sums with NaN. Write the reference so that it means the same
on your data.

pandas makes a null of a NaN that it computes with. To keep both apart, use `frame: arrow`, or write
`pd.options.future.distinguish_nan_and_na = True` in your file.

`timeout: 30s` is the time for one call: of a group, or of a partition. Other units are `ms`, `min` and `h`. A function
that takes longer ends the run, and the error names the line where the function was ([GE1892](errors/GE1892.md)).
`--kernel-timeout` sets a limit for all steps. Code in C that does not return cannot be interrupted. It goes on in its
thread until the process ends, and the run does not wait for it.

A partition without rows does not call the function. An exception ends the run with the line of your file
([GE1893](errors/GE1893.md)). gpuetl reads the file when it plans the pipeline, and sends the text to workers. Modules
that it imports must be installed there. `--sandbox` refuses the step, as all steps that run code.

`gpuetl kernel check FILE` calls each function with generated frames: empty, of one row, with and without nulls. It
checks that two calls give the same, and that the result of a row does not depend on how rows are split. For groups
without `order_by`, it checks that the order of rows does not matter. On a machine with a GPU it also compares functions
over cuDF frames with their references, on ordinary values: the two libraries treat NaN in different ways. Functions over pandas and Arrow frames need no GPU for this.

`gpuetl kernel bench FILE` [times the function](kernels.md#triton-kernels-and-python-functions) on partitions of several sizes.

In Python:

```python
rides.python_kernel(
    "frames.py:against_best", "fare", {"best": "float64", "share": "float64"}, by="driver", order_by="day"
)
```
"""


def python_kernels_markdown(run: Run) -> str:
    """Return the section; `run` runs its examples."""
    return "\n".join([HEAD, shown(ROWS, run), ROWS_TEXT, shown(GROUPS, run), ARROW_TEXT, shown(ARROW, run), RULES])
