"""Manifests of runs, and alerts."""

from gpuetl.error_codes.output import EXAMPLE
from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, SOURCES

PAGES = (
    ErrorPage(
        code="GE3020",
        title="the manifest of a run cannot be written",
        cause="The state folder of the pipeline cannot be written: its disk is full, or the rights are missing.  Or "
        "there is none: next to a file of an HTTP server, or outside of a sandbox.  The run goes on, and its exit code "
        "stays.  `gpuetl runs` does not list it.",
        fix="Make the folder writable, or name another one with `state`.",
        kind="command",
        files={**EXAMPLE, ".gpuetl": "a file in the place of the folder\n"},
        example="gpuetl run example.yaml --engine pandas",
        message="warning: the run leaves no manifest: cannot write to the state folder .gpuetl/example: Not a "
        "directory  [GE3020]",
    ),
    ErrorPage(
        code="GE3021",
        title="an alert failed",
        cause="A command of `on_failure` or `on_success` cannot be started, ends with another exit code than 0, or runs "
        "longer than 60 s.  Or a webhook does not answer in 10 s, or answers with an error; gpuetl tries it 3 times "
        "where the server may come back.  The run is over: its sinks, its error and its exit code stay.",
        fix="Run the command with a manifest on stdin, or look at the server.  The manifest is in the state folder.",
        kind="pipeline",
        example=SOURCES + "on_success: [{command: [no-such-program, done]}]\n" + OUT,
        message="warning: the alert by command 'no-such-program' failed: it cannot be started: No such file or "
        "directory  [GE3021]",
        fixed=SOURCES + "on_success: [{command: [cat]}]\n" + OUT,
    ),
    ErrorPage(
        code="GE3022",
        title="there is no such run",
        cause="The state folder of the pipeline has no manifest of the run: the id is wrong, the run has not ended, its "
        "process was killed, or its manifest was removed.  gpuetl keeps the last 1,000 of a pipeline.",
        fix="`gpuetl runs FILE` lists the runs.  Give the end of an id, such as the 8 signs after its dash, or `last`.",
        kind="command",
        files=EXAMPLE,
        example="gpuetl runs example.yaml 0a1b2c3d",
        message="there is no run '0a1b2c3d' in .gpuetl/example  [GE3022]\nThe newest runs: none.",
        fixed="gpuetl runs example.yaml",
    ),
    ErrorPage(
        code="GE3023",
        title="the runs of a pipeline cannot be read",
        cause="The state folder cannot be read, or the pipeline has none: its file is on an HTTP server, and it names "
        "no state.",
        fix="Check the rights to the folder or store, or name a folder with `state`.",
        kind="command",
        example="gpuetl runs https://example.com/daily.yaml",
        message="https://example.com/daily.yaml has no state folder  [GE3023]\nName one in the file: state: PATH.",
        untested="it needs a server",
    ),
)
