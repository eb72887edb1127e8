"""Running: values without a result, memory, bugs."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE2001",
        title="a value overflows its type",
        cause=(
            "The result of an operation, a sum or a window leaves the range of its type, such as int64 or "
            "decimal(38, 2)."
        ),
        fix="Cast an operand to decimal(38, 0) or float64, or filter such rows out.",
        example="- select: {big: id * 9000000000000000000}",
        message="""\
example.yaml:9:23: stage 'result', step 1: column 'big': id * 9000000000000000000 has no result, for 2, 9000000000000000000: overflow of int64  [GE2001]
    - select: {big: id * 9000000000000000000}
                    ^^^^^^^^^^^^^^^^^^^^^^^^
Row 3 of sales.csv: id = 2
Cast an operand to decimal(38, 0) or float64, or filter such rows out.""",
        fixed="- select: {big: CAST(id AS float64) * 9000000000000000000}",
    ),
    ErrorPage(
        code="GE2002",
        title="a value cannot be cast",
        cause=(
            "CAST has no result for a value: the string is not a valid value of the type, or the type cannot hold the value exactly."
        ),
        fix=("Choose a type that holds all values, round before the cast, or use TRY_CAST, which gives null instead."),
        example="- select: {whole: CAST(amount AS int64)}",
        message="""\
example.yaml:9:25: stage 'result', step 1: column 'whole': CAST(amount AS int64) has no result, for 10.5: int64 cannot hold it exactly  [GE2002]
    - select: {whole: CAST(amount AS int64)}
                      ^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: amount = 10.5
TRY_CAST gives null instead.""",
        fixed="- select: {whole: CAST(round(amount) AS int64)}",
    ),
    ErrorPage(
        code="GE2003",
        title="a value has no result",
        cause=(
            "A function has no result for a value: a date beyond the range of its type, parts that make up no "
            "date, or a string in another format."
        ),
        fix="Filter such rows out, or use the variant of the function that gives null, such as try_strptime.",
        example="- select: {due: 'make_date(2026, 2, 28 + id)'}",
        message="""\
example.yaml:9:23: stage 'result', step 1: column 'due': make_date(2026, 2, 28 + id) has no result, for 2026, 2, 29: not a valid date  [GE2003]
    - select: {due: 'make_date(2026, 2, 28 + id)'}
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Row 2 of sales.csv: id = 1""",
        fixed="- select: {due: 'add_days(make_date(2026, 2, 28), id)'}",
    ),
    ErrorPage(
        code="GE2004",
        title="a join does not pass its validation",
        cause="A join has `validate`, and a key repeats on a side on which it must not.",
        fix=("Make the keys of that side distinct before the join, for example with `distinct`, or relax `validate`."),
        example="""\
- select: {day: day}
- join: {with: sales, on: day, validate: many_to_one}""",
        message="""\
example.yaml:10:9: stage 'result', step 2: the join is not many_to_one: day repeats on the right side, day = 2026-01-02 is in more than one row.  Make the keys distinct, or relax validate  [GE2004]
    - join: {with: sales, on: day, validate: many_to_one}
      ^^^^""",
        fixed="""\
- select: {day: day}
- join: {with: sales, on: day, validate: many_to_many}""",
    ),
    ErrorPage(
        code="GE2005",
        title="a kernel forbids nulls, and an input is null",
        cause="A kernel step has `nulls: forbid`, and a row has a null in one of its inputs.",
        fix="Filter such rows out, fill the nulls, or set `nulls: propagate`, which gives null for these rows.",
        files={
            "kernels.py": """\
def doubled(amount):
    return {"y": amount * 2}
"""
        },
        example=(
            "- kernel: {body: y = amount * 2;, inputs: amount, outputs: {y: float64}, reference: "
            "kernels.py:doubled, nulls: forbid}"
        ),
        message="""\
example.yaml:9:9: stage 'result', step 1: kernel 'doubled' forbids nulls, and input 'amount' is null  [GE2005]
    - kernel: {body: y = amount * 2;, inputs: amount, outputs: {y: float64}, reference: kernels.py:doubled, nulls: forbid}
      ^^^^^^
Row 4 of sales.csv: amount = null
Filter them out, or set nulls: propagate.""",
        fixed=(
            "- kernel: {body: y = amount * 2;, inputs: amount, outputs: {y: float64}, reference: "
            "kernels.py:doubled, nulls: propagate}"
        ),
    ),
    ErrorPage(
        code="GE2006",
        title="the NumPy twin of a kernel raised an exception",
        cause="The Python function that stands in for a kernel raised an exception.  The message shows its line.",
        fix="Correct the function.  `gpuetl kernel check` compares it with the kernel.",
        files={
            "kernels.py": """\
def doubled(amount):
    return {"y": amuont * 2}
""",
            "right.py": """\
def doubled(amount):
    return {"y": amount * 2}
""",
        },
        example=(
            "- kernel: {body: y = amount * 2;, inputs: amount, outputs: {y: float64}, reference: kernels.py:doubled}"
        ),
        message="""\
example.yaml:9:9: stage 'result', step 1: doubled in kernels.py raised NameError: name 'amuont' is not defined  [GE2006]
    - kernel: {body: y = amount * 2;, inputs: amount, outputs: {y: float64}, reference: kernels.py:doubled}
      ^^^^^^
kernels.py:2:
    return {"y": amuont * 2}""",
        fixed=("- kernel: {body: y = amount * 2;, inputs: amount, outputs: {y: float64}, reference: right.py:doubled}"),
    ),
    ErrorPage(
        code="GE2007",
        title="out of memory",
        cause=(
            "A step needs more memory than the GPU or the host has, also after the run freed what it could and "
            "used smaller partitions."
        ),
        fix=(
            "Follow the advice in the message: filter or aggregate earlier, read fewer columns, write sources "
            "in smaller row groups, or run where there is more memory."
        ),
        example="- sort: amount",
        message="""\
example.yaml:9:9: stage 'result', step 1: out of memory: 4.0 GB were asked for, with 13 GB in use of 16 GB.  Smaller partitions give this step no fewer rows.  Give it fewer before, or fewer columns, or run where there is more memory.  [GE2007]
          - sort: amount
            ^^^^""",
        untested="a test cannot use up the memory of the machine",
    ),
    ErrorPage(
        code="GE2008",
        title="too many rows or elements",
        cause=(
            "The result of a step has more rows in one partition than a frame holds, 2,147,483,647, or more "
            "than the memory holds.  Often a join repeats rows for keys that are not distinct."
        ),
        fix=(
            "Join on more columns, make the keys of one side distinct, filter or aggregate before, or run with "
            "smaller partitions: `--partition-rows`."
        ),
        example="- join: {with: sales, on: day}",
        message="""\
example.yaml:9:9: stage 'result', step 1: the join would have 6,000,000,000 rows (about 144.0 GB): a frame holds 2,147,483,647 at most, and this machine has 64.0 GB.  day = 2026-01-02 repeats most: in 60,000 rows on the left side, 100,000 on the right.  Join on more columns, or make the keys of one side distinct  [GE2008]
          - join: {with: sales, on: day}
            ^^^^""",
        untested="the message has the memory of the machine",
    ),
    ErrorPage(
        code="GE2009",
        title="a bug in gpuetl",
        cause="gpuetl met an error that it does not expect.  The pipeline may be right.",
        fix=("Report it with the message and the step.  Try another engine meanwhile: `--engine pandas`."),
        example="- filter: amount > 0",
        message="""\
example.yaml:9:9: stage 'result', step 1: gpuetl failed unexpectedly: KeyError: 'amount'  [GE2009]
          - filter: amount > 0
            ^^^^^^
This is a bug in gpuetl 0.1.0 (gpuetl/engines/pandas/relational/row_operations.py:20). Report it with this message and the step's text.""",
        untested="a bug that is known is fixed",
    ),
    ErrorPage(
        code="GE2010",
        title="a clock time is ambiguous or does not exist",
        cause=(
            "The clock of a time zone shows a local time twice or never, because daylight saving time begins or ends."
        ),
        fix="Choose which time to take: `ambiguous` and `nonexistent` of `assume_zone` are 'earliest' or 'latest'.",
        example="- select: {at: \"assume_zone(TIMESTAMP '2026-03-29 02:30:00', 'Europe/Berlin')\"}",
        message="""\
example.yaml:9:22: stage 'result', step 1: column 'at': assume_zone(TIMESTAMP '2026-03-29 02:30:00', 'Europe/Berlin') has no result, for 2026-03-29 02:30:00, Europe/Berlin: the zone's clock never shows it; see assume_zone's nonexistent  [GE2010]
    - select: {at: "assume_zone(TIMESTAMP '2026-03-29 02:30:00', 'Europe/Berlin')"}
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^""",
        fixed=(
            "- select: {at: \"assume_zone(TIMESTAMP '2026-03-29 02:30:00', 'Europe/Berlin', 'earliest', 'latest')\"}"
        ),
    ),
    ErrorPage(
        code="GE2011",
        title="the system refuses access during the run",
        cause=(
            "The system did not let a step read or write, because a disk is full, a file is gone or its "
            "permissions changed."
        ),
        fix="Check the disk and the permissions of the folder, then run again.  No sink has changed.",
        example="- sort: amount",
        message="""\
example.yaml:9:9: stage 'result', step 1: No space left on device  [GE2011]
          - sort: amount
            ^^^^
Check the disk and the folder's permissions, then run again.""",
        untested="a test cannot fill the disk",
    ),
    ErrorPage(
        code="GE2012",
        title="a kernel stopped the GPU",
        cause=(
            "A CUDA kernel read or wrote beyond the rows of its arrays, used a misaligned address, or has an assert() "
            "that failed.  No sink has changed.  The process cannot use the GPU any more; a worker of a cluster starts "
            "again."
        ),
        fix="Check the index against `n_rows` in the kernel.  `gpuetl kernel check` runs it on small tables, and "
        "`gpuetl run --sanitize` finds writes that the GPU does not notice.",
        example=(
            "- kernel: {cuda: kernels.cu, entry: shifted, inputs: amount, outputs: {y: float64}, reference: "
            "kernels.py:shifted}"
        ),
        message="""\
example.yaml:9:9: stage 'result', step 1: kernel 'shifted' (kernels.cu) read or wrote memory outside its arrays, \
and the GPU stopped  [GE2012]
          - kernel: {cuda: kernels.cu, entry: shifted, inputs: amount, outputs: {y: float64}, reference: kernels.py:shifted}
            ^^^^^^
Find the access with `gpuetl kernel check`, or with `gpuetl run --sanitize`.""",
        untested="it needs a GPU",
    ),
    ErrorPage(
        code="GE2013",
        title="a kernel did not end in time",
        cause=(
            "A CUDA kernel ran longer than --kernel-timeout allows.  No sink has changed.  A kernel that accesses memory "
            "far outside its arrays may hang, too, where others stop the GPU at once."
        ),
        fix="Look for a loop that does not end, and at the indices.  If the kernel is only slow, raise --kernel-timeout.",
        example=(
            "- kernel: {cuda: kernels.cu, entry: endless, inputs: amount, outputs: {y: float64}, reference: "
            "kernels.py:endless}"
        ),
        message="""\
example.yaml:9:9: stage 'result', step 1: kernel 'endless' (kernels.cu) did not end within 5 s  [GE2013]
          - kernel: {cuda: kernels.cu, entry: endless, inputs: amount, outputs: {y: float64}, reference: kernels.py:endless}
            ^^^^^^
Look for a loop that does not end, or raise --kernel-timeout.  Start Python again to use the GPU.""",
        untested="it needs a GPU",
    ),
    ErrorPage(
        code="GE2014",
        title="the GPU is lost to this process",
        cause=(
            "An earlier run in the same process ended in an illegal access, or its kernel did not end.  CUDA then "
            "refuses every call of the process."
        ),
        fix="Start Python, or the notebook's kernel, again.",
        example="- sort: amount",
        message="""\
example.yaml:9:9: stage 'result', step 1: the GPU stopped, or a kernel on it did not end, earlier in this process  [GE2014]
          - sort: amount
            ^^^^
Start Python again to use the GPU.""",
        untested="it needs a GPU",
    ),
    ErrorPage(
        code="GE2020",
        title="the memory limit is too small for a step",
        cause=(
            "A step is expected to need more memory than --memory allows, also with the smallest partitions: one row "
            "group of each source, or all rows where a step needs them in one place."
        ),
        fix=(
            "Raise --memory to what the message says. To need less, write the sources in smaller row groups, read fewer "
            "columns, or write to a folder instead of one file."
        ),
        example="- sort: amount",
        message="""\
sort of stage 'result', step 1 is expected to need 312.0 MB at once, even in the smallest partitions, and may take 200.0 MB.  The run may take more than that, or run out of memory.  Give it --memory 312.0 MB or more, write its sources in smaller row groups, or read fewer columns  [GE2020]""",
        untested="the numbers depend on the files and on --memory",
    ),
    ErrorPage(
        code="GE2021",
        title="a run took more memory than its limit",
        cause=(
            "gpuetl keeps the resident memory of a run below --memory by small partitions and spilled frames. A step took "
            "more than was expected, such as a join whose keys repeat more often than the files' metadata says."
        ),
        fix="Raise --memory, write the sources in smaller row groups, read fewer columns, or make keys distinct.",
        example="- join: {with: sales, on: day}",
        message="""\
the run took 612.0 MB of memory, and --memory allows 500.0 MB.  Give it that much with --memory, write its sources in smaller row groups, or read fewer columns  [GE2021]""",
        untested="the numbers depend on the files and on --memory",
    ),
)
