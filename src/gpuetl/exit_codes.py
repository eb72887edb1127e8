"""The exit codes of the command `gpuetl`."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended, as shells and schedulers see it; `meaning` says it in words."""

    meaning: str

    def __new__(cls, number: int, meaning: str) -> ExitCode:
        """Keep the meaning beside the number."""
        self = int.__new__(cls, number)
        self._value_ = number
        self.meaning = meaning
        return self

    DONE = 0, "done"
    FAILED = 1, "the run failed, or another command did"
    INVALID = 2, "the pipeline or the command line is wrong, or the engine cannot run here"
    DIFFERENT = 3, "`verify` or `kernel check` found a difference"
    CONTRACT_BROKEN = 4, "a contract failed"
    TEST_FAILED = 5, "a test of `gpuetl test` failed"
    HUNG_UP = 129, "stopped by SIGHUP"
    INTERRUPTED = 130, "stopped by SIGINT: Ctrl-C"
    TERMINATED = 143, "stopped by SIGTERM"


def exit_code_of(error: BaseException | None) -> int:
    """Return the exit code of a command that ended with an exception; None is a command that did its work."""
    if error is None:
        return ExitCode.DONE
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else ExitCode.FAILED if error.code else ExitCode.DONE
    own = getattr(error, "exit_code", None)
    if isinstance(own, int):
        return own
    return ExitCode.INTERRUPTED if isinstance(error, KeyboardInterrupt) else ExitCode.FAILED


def table() -> str:
    """Return the table of docs/commands.md."""
    rows = "\n".join(f"| {code.value} | {code.meaning} |" for code in ExitCode)
    return f"| exit code | meaning |\n|---|---|\n{rows}\n"
