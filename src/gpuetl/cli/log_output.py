"""`--log-json` and `--log-level`: the records of a run, as JSON lines or as text, on stderr or in a file.

    {"time": "2026-11-28T02:20:11.482+00:00", "level": "INFO", "logger": "gpuetl.stage",
     "message": "stage routes finished: 10 rows in 34.2 ms", "run_id": "20261128T022011-31df149d",
     "pipeline": "hello", "stage": "routes", "rows": 10, "seconds": 0.034211}

Where stderr has JSON lines, all that a command prints there is one.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from gpuetl.cli.arguments import leave
from gpuetl.errors import GpuetlError, InvalidPipeline, system_reason
from gpuetl.messages import coded, redacted
from gpuetl.output_files import whole
from gpuetl.report.failure import code_of
from gpuetl.run.observability.log_records import FIELDS
from gpuetl.signals import Stopped
from gpuetl.uncaught import unexpected

STDERR = "-"
WORDS = ("error: ", "warning: ", "note: ")


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        at = datetime.fromtimestamp(record.created, UTC).astimezone().isoformat(timespec="milliseconds")
        data: dict[str, Any] = {
            "time": at, "level": record.levelname, "logger": record.name, "message": redacted(record.getMessage()),
        }  # fmt: skip
        data |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info:
            data["error"] = redacted(self.formatException(record.exc_info))
        return json.dumps(whole(data))


class PlainLines(logging.Formatter):
    """Formats a record as text: `2026-11-28T02:20:11.482+00:00 INFO gpuetl.run: run finished: …`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text, without its end."""
        at = datetime.fromtimestamp(record.created, UTC).astimezone().isoformat(timespec="milliseconds")
        return f"{at} {record.levelname} {record.name}: {redacted(record.getMessage())}"


class LineRecords:
    """Stands for stderr: each text that is printed there becomes a record."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        """Write a record of a text."""
        if line := text.strip("\n"):
            level = logging.ERROR if line.startswith("error: ") else logging.WARNING
            for word in WORDS:
                line = line.removeprefix(word)
            logging.getLogger("gpuetl.cli").log(level, "%s", line)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing: records are written at once."""

    def isatty(self) -> bool:
        """Return that no terminal shows it."""
        return False


@contextmanager
def log_output(json_to: str | None, level: str | None) -> Iterator[bool]:
    """Write the records of the block where the options say; give whether stderr has them.

    Raises
    ------
    InvalidPipeline
        Where the file cannot be written.
    SystemExit
        For an error, where stderr has JSON lines: one of them is the error.
    """
    if json_to is None and level is None:
        yield False
        return
    stderr = sys.stderr
    stream = stderr if json_to in (None, STDERR) else opened(Path(str(json_to)))
    handler = logging.StreamHandler(stream)
    handler.setFormatter(PlainLines() if json_to is None else JsonLines())
    logger = logging.getLogger("gpuetl")
    before = logger.level
    logger.setLevel((level or "info").upper())
    logger.addHandler(handler)
    if json_to == STDERR:
        sys.stderr = LineRecords()
    try:
        try:
            yield stream is stderr
        except (Exception, Stopped) as error:
            if getattr(error, "report", None) is None:  # else the run has logged it
                log_error(error)
            if json_to != STDERR:
                raise
            sys.stderr = stderr
            leave("", getattr(error, "exit_code", 1))
    finally:
        sys.stderr = stderr
        logger.removeHandler(handler)
        logger.setLevel(before)
        handler.flush()
        if stream is not stderr:
            with suppress(OSError):
                stream.close()


def log_error(error: BaseException) -> None:
    """Write the record of an error that came before the run, such as a mistake in the pipeline."""
    if isinstance(error, GpuetlError):
        text, code = str(error), code_of(error)
    elif isinstance(error, Stopped):
        text, code = f"interrupted ({error})", ""
    else:
        text, code = "\n".join(unexpected(error)), ""
    logging.getLogger("gpuetl.run").error("%s", text, extra={"code": code} if code else None)


def opened(path: Path) -> TextIO:
    """Return a file to add lines to."""
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        message = coded("GE3035", f"cannot write the log to {path}: {system_reason(error)}")
        raise InvalidPipeline.because(message, "Name another file with --log-json.") from None
