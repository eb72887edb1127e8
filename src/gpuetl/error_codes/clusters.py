"""Clusters that stop answering."""

from gpuetl.error_codes.engines import EXAMPLE
from gpuetl.error_codes.page import ErrorPage

UNTESTED = "needs a process that is stopped: tests/executors/dask/test_silent.py has one"

PAGES = (
    ErrorPage(
        code="GE2040",
        title="the scheduler does not answer",
        cause="The scheduler of a cluster did not answer for --worker-timeout seconds (60 by default).  Its process is "
        "stopped or overloaded, or the link to its host is down.",
        fix="Look at the scheduler's process and at the network, then run again.  No sink has changed.",
        example="gpuetl run example.yaml --engine dask --cluster tcp://head:8786",
        message="""\
error: the scheduler at tcp://head:8786 did not answer for 60 s.  [GE2040]
Look at its process and at the link to its host, and run again.  --worker-timeout says how long to wait.""",
        kind="command",
        files=EXAMPLE,
        untested=UNTESTED,
    ),
    ErrorPage(
        code="GE2041",
        title="no worker answers",
        cause="The last workers of a cluster sent no heartbeat for --worker-timeout seconds (60 by default), and no nanny "
        "started them again.  Their processes are stopped, their hosts cannot be reached, or a task held Python's GIL "
        "all the time.",
        fix="Look at the workers' processes and hosts, then run again.  Give a task that holds the GIL for long a larger "
        "--worker-timeout.  No sink has changed.",
        example="gpuetl run example.yaml --engine dask --cluster tcp://head:8786",
        message="""\
error: no worker is left: tcp://10.0.0.7:40001 on host 10.0.0.7 sent no heartbeat for 60 s.  [GE2041]
Look at the process and at the link to its host, and run again.  A task that holds the GIL for longer needs a larger \
--worker-timeout.""",
        kind="command",
        files=EXAMPLE,
        untested=UNTESTED,
    ),
    ErrorPage(
        code="GE2042",
        title="a silent worker was given up",
        cause="A worker sent no heartbeat for --worker-timeout seconds (60 by default).  Others did its work again, or the "
        "process that took its place.  The result is complete.",
        fix="Look at the worker's host if it happens again.  Give a task that holds Python's GIL for long a larger "
        "--worker-timeout.",
        example="gpuetl run example.yaml --engine dask --cluster tcp://head:8786",
        message="""\
warning: the worker at tcp://10.0.0.7:40001 on host 10.0.0.7 sent no heartbeat for 60 s, and was given up; its work was \
done again  [GE2042]""",
        kind="command",
        files=EXAMPLE,
        untested=UNTESTED,
    ),
    ErrorPage(
        code="GE2043",
        title="workers fall silent during a step",
        cause="Several workers, one after another, sent no heartbeat while they ran the same step.  Its code, such as the "
        "reference of a kernel, may hold Python's GIL all the time, or never end.",
        fix="Run the step on few rows to see how long it takes.  Let it release the GIL, or set a larger --worker-timeout.",
        example="- kernel: {cuda: kernels.cu, entry: slow, inputs: amount, outputs: {y: float64}, reference: kernels.py:slow}",
        message="""\
example.yaml:9:9: stage 'result', step 1: 4 workers, one after another, sent no heartbeat for 60 s, or died, while they \
ran it: the last one was tcp://127.0.0.1:40001.  A step that holds the GIL all the time needs a larger --worker-timeout  \
[GE2043]""",
        untested=UNTESTED,
    ),
)
