"""Checkpoints of stages, and runs of a part of a pipeline."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import SOURCES

KEPT = """\
stages:
  clean: {from: sales, steps: [{filter: amount > 0}], checkpoint: true}
sinks:
  out: {from: clean, parquet: out.parquet, mode: overwrite}
"""
FILE = {"example.yaml": SOURCES + KEPT}

PAGES = (
    ErrorPage(
        code="GE1557",
        title="the state folder cannot be written",
        cause="A stage has `checkpoint: true`, and gpuetl cannot write to the state folder.  The run ends before it reads "
        "a row.",
        fix="Make the folder writable, name another one with the key `state`, or take `checkpoint` out.",
        kind="pipeline",
        files={"taken": ""},
        example=SOURCES + "state: taken\n" + KEPT,
        message="""\
checkpoint 'clean': cannot write to the state folder taken: Not a directory  [GE1557]
Make it writable, name another with the key state, or leave checkpoint out.""",
        fixed=SOURCES + "state: state\n" + KEPT,
    ),
    ErrorPage(
        code="GE1558",
        title="a checkpoint was not written",
        cause="The disk is full, a file of a source changed during the run, or a stage uses `run_id()`, whose value is "
        "another one in each run.  The run goes on: its sinks do not need checkpoints.",
        fix="Free space, or make it with `gpuetl clean FILE`.  Take `checkpoint: true` out of a stage that cannot have "
        "one.",
        kind="command",
        files=FILE,
        example="gpuetl run example.yaml",
        message="warning: stage 'clean': the checkpoint was not written: cannot write part-00000.parquet: No space left on "
        "device.  The sinks are not concerned; look at the state folder .gpuetl/example  [GE1558]",
        untested="needs a disk that is full",
    ),
    ErrorPage(
        code="GE1559",
        title="a checkpoint is damaged",
        cause="A file of the checkpoint is missing, has another size, or has another content than its manifest says.  The "
        "run does not read it, and computes the stage again.",
        fix="Nothing is to be done: the run writes the checkpoint anew.  If this comes up again, look for a program that "
        "changes the state folder.",
        kind="command",
        files=FILE,
        example="gpuetl run example.yaml --resume",
        message="warning: stage 'clean': the checkpoint is not used, and the stage is computed again: "
        ".gpuetl/example/checkpoints/…/part-00000.parquet does not exist  [GE1559]",
        untested="needs a damaged checkpoint",
    ),
    ErrorPage(
        code="GE1560",
        title="a selection names nothing",
        cause="--select or --until names a stage, source or sink that the pipeline does not have.",
        fix="Correct the name.",
        kind="command",
        files=FILE,
        example="gpuetl run example.yaml --until claen",
        message="until: unknown stage 'claen'  [GE1560]\nStages: clean. Did you mean 'clean'?",
        fixed="gpuetl run example.yaml --until clean",
    ),
    ErrorPage(
        code="GE1561",
        title="options for a part of a pipeline contradict each other",
        cause="`--select` and `--until` are both given, `--limit` is not a number of rows from 1, or a part would append "
        "rows of an incremental source that the next run appends again.",
        fix="Give one of them.  Set `run_key` on the sink that appends, or write elsewhere: `--write-to FOLDER`.",
        kind="command",
        files=FILE,
        example="gpuetl run example.yaml --select clean --until clean",
        message="select and until exclude each other  [GE1561]\nWrite --select +clean to write the sinks up to a stage.",
        fixed="gpuetl run example.yaml --select +clean",
    ),
    ErrorPage(
        code="GE1562",
        title="write_to is the place of a sink",
        cause="--write-to names the folder of a sink, so that the run would replace what it must leave alone.",
        fix="Give it a folder of its own.",
        kind="command",
        files={"example.yaml": (SOURCES + KEPT).replace("out.parquet", "kept/out.parquet")},
        example="gpuetl run example.yaml --limit 100 --write-to kept",
        message="kept/out.parquet is the path of a sink  [GE1562]\nGive write_to a folder that no sink writes to.",
        fixed="gpuetl run example.yaml --limit 100 --write-to trial",
    ),
    ErrorPage(
        code="GE1563",
        title="an option of gpuetl clean needs a pipeline",
        cause="`--older-than`, `--keep-last` and `--dry-run` choose checkpoints, and the path is no pipeline's YAML file.",
        fix="Name the pipeline's file, or leave the options out.",
        kind="command",
        files=FILE,
        example="gpuetl clean out --dry-run",
        message="--older-than, --keep-last and --dry-run are for checkpoints, and out is no pipeline  [GE1563]\n"
        "Name the pipeline's YAML file, or leave these options out.",
        fixed="gpuetl clean example.yaml --dry-run",
    ),
)
