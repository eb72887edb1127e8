"""Engines, options and the Python interface."""

from gpuetl.error_codes.page import PIPELINE, ErrorPage

EXAMPLE = {"example.yaml": PIPELINE.format(steps="      - filter: amount > 0")}

PAGES = (
    ErrorPage(
        code="GE3001",
        title="engine cannot run on this machine",
        cause="The engine cudf needs an NVIDIA GPU, a driver for CUDA 12 or 13, and the packages of the extra "
        "gpuetl[cu12] or gpuetl[cu13].  The message names what is missing.",
        fix="Install what is missing, or run with --engine pandas.  gpuetl doctor lists what it finds.",
        example="gpuetl run example.yaml --engine cudf",
        message="""\
engine 'cudf' cannot run here: no NVIDIA driver was found.  [GE3001]
Install a driver for CUDA 12 or 13, or let the process see a GPU, or run with --engine pandas.  `gpuetl doctor` says \
more.""",
        fixed="gpuetl run example.yaml --engine pandas",
        kind="command",
        files=EXAMPLE,
        untested="depends on the machine",
    ),
    ErrorPage(
        code="GE3002",
        title="package missing",
        cause="An engine or a method such as to_torch needs a package that is not installed.",
        fix="Install the package with the command that the message gives.",
        example="gpuetl run example.yaml --engine dask",
        message="engine 'dask' needs the package distributed.  Install it: pip install \"gpuetl[dask]\"  [GE3002]",
        fixed="gpuetl run example.yaml --engine pandas",
        kind="command",
        files=EXAMPLE,
        untested="depends on the installed packages",
    ),
    ErrorPage(
        code="GE3003",
        title="unknown engine",
        cause="--engine, or engine= in Python, names an engine that does not exist.",
        fix="Choose one of the engines that the message lists.",
        example="gpuetl run example.yaml --engine panda",
        message="""\
unknown engine 'panda'. Engines: auto, pandas, cudf, dask, dask-cuda. Did you mean 'pandas'?  [GE3003]""",
        fixed="gpuetl run example.yaml --engine pandas",
        kind="command",
        files=EXAMPLE,
    ),
    ErrorPage(
        code="GE3004",
        title="option not valid",
        cause="An option of a command, or of RunOptions or Cluster in Python, does not exist, has a value that it "
        "does not take, or does not fit the engine.",
        fix="Correct the option.  gpuetl COMMAND --help lists the options of a command.",
        example="gpuetl run example.yaml --engine pandas --workers 2",
        message="""\
engine 'pandas' does not run on a cluster  [GE3004]
Choose engine dask or dask-cuda.""",
        fixed="gpuetl run example.yaml --engine pandas",
        kind="command",
        files=EXAMPLE,
    ),
    ErrorPage(
        code="GE3005",
        title="no connection to the cluster",
        cause="No scheduler answers at the address that --cluster gives, or a cluster on this machine cannot be "
        "started.",
        fix="Start the scheduler, or correct the address.  A scheduler that was started with TLS needs a tls:// "
        "address and its certificates.",
        example="gpuetl run example.yaml --engine dask --cluster tcp://localhost:8786",
        message="""\
cannot connect to a scheduler at tcp://localhost:8786: Connection refused.  [GE3005]
Start one on that host by `dask scheduler --port 8786`, or check the address.  A scheduler's log has its address after \
'Scheduler at:'.""",
        kind="command",
        files=EXAMPLE,
        untested="needs a port at which nothing listens",
    ),
    ErrorPage(
        code="GE3006",
        title="workers are lost or not alike",
        cause="A cluster has no worker, has lost workers more than once, or its workers have other versions of "
        "Python, gpuetl or Arrow than the process that starts the run.",
        fix="See in the workers' logs why they ended.  If memory ran out, make partitions smaller with "
        "--partition-rows.  Install the same versions everywhere.",
        example="gpuetl run example.yaml --engine dask --cluster tcp://scheduler:8786",
        message="the cluster has had no worker for 60 s  [GE3006]",
        kind="command",
        files=EXAMPLE,
        untested="needs a cluster that loses its workers",
    ),
    ErrorPage(
        code="GE3008",
        title="wrong use of the Python interface",
        cause="A value is not what a function takes, such as a dict in place of a table, a result is asked for that "
        "the run did not keep, or a column cannot become an array.",
        fix="Give what the message asks for.  Name the stages that you need in run(keep=[…]).",
        example="""\
import gpuetl

done = gpuetl.load("example.yaml").run(keep=["result"], engine="pandas")
print(done["sales"].to_arrow())""",
        message="""\
gpuetl.errors.InvalidPipeline: the run did not keep 'sales'  [GE3008]
It kept: result. Keep others with run(keep=['sales']).""",
        fixed="""\
import gpuetl

done = gpuetl.load("example.yaml").run(keep=["result", "sales"], engine="pandas")
print(done["sales"].to_arrow())""",
        kind="python",
        files=EXAMPLE,
    ),
)
