"""Python functions over frames, and kernels in Triton."""

from gpuetl.error_codes.page import ErrorPage

FRAMES = """\
def doubled(frame):
    return {"y": frame["amount"] * 2}


def counted(frame):
    return {"y": range(len(frame))}


def endless(frame):
    while True:
        pass


def wrong(frame):
    return {"y": frame["amuont"] * 2}
"""
FILES = {"frames.py": FRAMES}
DOUBLED = "- kernel: {python: frames.py:doubled, inputs: amount, outputs: {y: float64}}"

PAGES = (
    ErrorPage(
        code="GE1890",
        title="function of a Python kernel not found",
        cause="The key python of a kernel step names a function in a Python file, as file.py:function.  The file cannot be "
        "read, is not Python, or has no such function, or the function does not take an argument of args.",
        fix="Correct the path, the name or the arguments.  The path is relative to the pipeline's folder.",
        example="- kernel: {python: frames.py:double, inputs: amount, outputs: {y: float64}}",
        message="""\
example.yaml:9:26: stage 'result', step 1: frames.py has no function 'double'  [GE1890]
    - kernel: {python: frames.py:double, inputs: amount, outputs: {y: float64}}
                       ^^^^^^^^^^^^^^^^
Functions: counted, doubled, endless, wrong. Did you mean 'doubled'?""",
        fixed=DOUBLED,
        files=FILES,
    ),
    ErrorPage(
        code="GE1891",
        title="result of a Python function is not as declared",
        cause="The function of a kernel step returned other columns, types or rows than outputs declares, or rows in "
        "another order than its frame has, or a null although the step has nulls: forbid.",
        fix="Return a column for each output, of the declared type, with a value for each row of the frame, in its order.",
        example="- kernel: {python: frames.py:counted, inputs: amount, outputs: {y: string}}",
        message="""\
example.yaml:9:9: stage 'result', step 1: counted in frames.py gave output 'y', which is not string: Expected bytes, got a 'int' object  [GE1891]
    - kernel: {python: frames.py:counted, inputs: amount, outputs: {y: string}}
      ^^^^^^""",
        fixed="- kernel: {python: frames.py:counted, inputs: amount, outputs: {y: int64}}",
        files=FILES,
    ),
    ErrorPage(
        code="GE1892",
        title="a Python function did not end in time",
        cause="One call of the function took longer than the `timeout` of the step, or than `--kernel-timeout`.  The message "
        "shows the line that was running.",
        fix="Look for a loop that does not end, or raise the limit.  The limit is for one call: for one group, or one "
        "partition.",
        example="- kernel: {python: frames.py:endless, inputs: amount, outputs: {y: float64}, timeout: 100 ms}",
        message="""\
example.yaml:9:9: stage 'result', step 1: endless in frames.py did not end within 0.1 s  [GE1892]
    - kernel: {python: frames.py:endless, inputs: amount, outputs: {y: float64}, timeout: 100 ms}
      ^^^^^^
frames.py:11:
    pass
Look for a loop that does not end, or raise the limit: timeout of the step, --kernel-timeout of the run.""",
        fixed="- kernel: {python: frames.py:doubled, inputs: amount, outputs: {y: float64}, timeout: 30 s}",
        files=FILES,
        untested="the line depends on when the time is over",
    ),
    ErrorPage(
        code="GE1893",
        title="a Python function raised an exception",
        cause="The function of a kernel step raised an exception.  The message shows its line, and the group for which it "
        "was called.",
        fix="Correct the function.  gpuetl kernel check calls it with frames that are empty or have nulls.",
        example="- kernel: {python: frames.py:wrong, inputs: amount, outputs: {y: float64}}",
        message="""\
example.yaml:9:9: stage 'result', step 1: wrong in frames.py raised KeyError: 'amuont'  [GE1893]
    - kernel: {python: frames.py:wrong, inputs: amount, outputs: {y: float64}}
      ^^^^^^
frames.py:15:
    return {"y": frame["amuont"] * 2}""",
        fixed=DOUBLED,
        files=FILES,
    ),
    ErrorPage(
        code="GE1894",
        title="frame of a Python function does not fit the step",
        cause="A function over cuDF frames needs a reference: the same function over pandas frames, which runs where there "
        "is no GPU.  Other functions run on every engine and have none.  cuDF frames have no structs, maps, binary values, "
        "times of day and nanoseconds here.",
        fix="Add or remove reference, or set frame to pandas or arrow.",
        example="- kernel: {python: frames.py:doubled, frame: cudf, inputs: amount, outputs: {y: float64}}",
        message="""\
example.yaml:9:26: stage 'result', step 1: a function over cuDF frames needs a reference  [GE1894]
    - kernel: {python: frames.py:doubled, frame: cudf, inputs: amount, outputs: {y: float64}}
                       ^^^^^^^^^^^^^^^^^
reference names the same over pandas frames, for engines without a GPU.""",
        fixed="- kernel: {python: frames.py:doubled, frame: cudf, reference: frames.py:doubled, inputs: amount, "
        "outputs: {y: float64}}",
        files=FILES,
    ),
    ErrorPage(
        code="GE1895",
        title="Triton is not installed",
        cause="A kernel step has a kernel written in Triton.  A run on a GPU compiles it, as does gpuetl kernel build, and the "
        "package triton is missing there, or cannot be imported.  On engines without a GPU the twin runs, and Triton is not needed.",
        fix="Install the extra triton on every machine that runs the pipeline on a GPU.  PyTorch is not needed.",
        example="- kernel: {triton: blocks.py:twice, inputs: amount, outputs: {y: float64}, reference: twins.py:twice}",
        message="""\
example.yaml:9:9: stage 'result', step 1: kernel 'twice' is written in Triton, and triton cannot be imported  [GE1895]
    - kernel: {triton: blocks.py:twice, inputs: amount, outputs: {y: float64}, reference: twins.py:twice}
      ^^^^^^
Install it: pip install 'gpuetl[triton]'.""",
        untested="needs a machine with a GPU and without Triton",
    ),
)
