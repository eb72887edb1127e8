"""stdout and stderr of a command: output that cannot be written does not end it, and data cannot write commands there.

A run whose sinks are in place has done its work, even if the disk of its log is full.  A command that failed keeps its
exit code.  So a stream that fails is replaced by the null device, and `checked_output` says at the end what happened.

Control characters are written as escapes, whatever they come from.  Only the library that draws tables and colours
writes its own, through `raw_stream`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EBADF, EPIPE
from typing import Any, TextIO

from gpuetl import messages
from gpuetl.errors import system_reason
from gpuetl.exit_codes import ExitCode
from gpuetl.messages import coded, printable


class OutputStream:
    """A text stream that never fails: it keeps the first error, and drops what comes later.

    `stream` is None where the process was started without it, as by `>&-`.  Characters that the stream's encoding lacks
    are written as escapes.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream
        self.error: OSError | None = None
        self.is_reported = False

    def __getattr__(self, name: str) -> Any:
        if self.stream is None:
            raise AttributeError(name)
        return getattr(self.stream, name)

    @property
    def encoding(self) -> str:
        """The encoding of the stream."""
        return getattr(self.stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether a terminal shows what is written."""
        return self.stream is not None and self.stream.isatty()

    def fileno(self) -> int:
        """Return the number of the open file; raise `OSError` where there is none."""
        if self.stream is None:
            raise OSError(EBADF, os.strerror(EBADF))
        return self.stream.fileno()

    def write(self, text: str) -> int:
        """Write a text with escapes for its control characters, unless the stream has failed."""
        return self.write_raw(printable(text))

    def write_raw(self, text: str) -> int:
        """Write a text as it is, unless the stream has failed."""
        if self.error is None:
            try:
                if self.stream is None:
                    raise OSError(EBADF, os.strerror(EBADF))
                self._write(self.stream, text)
            except OSError as error:
                self.give_up(error)
        return len(text)

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            stream.write(text.encode(self.encoding, "backslashreplace").decode(self.encoding))

    def writelines(self, lines: Any) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what is kept in memory."""
        if self.error is None and self.stream is not None:
            try:
                self.stream.flush()
            except OSError as error:
                self.give_up(error)

    def give_up(self, error: OSError) -> None:
        """Keep the error, and send the rest to the null device: Python writes it once more when it ends."""
        self.error = error
        if self.stream is not None:
            with suppress(OSError, ValueError):  # a stream of a test has no number
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self.stream.fileno())
                os.close(null)


class RawStream:
    """An output stream whose texts are written as they are."""

    def __init__(self, stream: OutputStream) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write a text."""
        return self.stream.write_raw(text)


def raw_stream(stream: TextIO) -> Any:
    """Return what writes a command's stream as it is, for what escapes each text by itself."""
    return RawStream(stream) if isinstance(stream, OutputStream) else stream


class Output:
    """What a command knows of its output.

    `is_result` says whether stdout is what the command is for.  It is not for a run that has written its sinks.
    """

    def __init__(self) -> None:
        self.is_result = True


OUTPUT = Output()
"""The output of the command that runs."""


@contextmanager
def checked_output() -> Iterator[None]:
    """Let the block write to streams that do not fail; say at its end that stdout did.

    Raises
    ------
    SystemExit
        With 1 where the output is the result of the command, and it is lost.  Not where its reader has left, as `head`
        does, and not where the command has failed anyway: the exit code of that stays.
    """
    streams = sys.stdout, sys.stderr
    out, err = OutputStream(streams[0]), OutputStream(streams[1])
    sys.stdout, sys.stderr = out, err
    OUTPUT.is_result = True
    try:
        try:
            yield
        except SystemExit as end:
            if end.code:
                raise
        if warn_of(out) and OUTPUT.is_result:
            raise SystemExit(ExitCode.FAILED)
    except BaseException:
        warn_of(out)
        raise
    finally:
        err.flush()
        sys.stdout, sys.stderr = streams


def warn_of(out: OutputStream) -> bool:
    """Say on stderr that stdout cannot be written; return whether it failed for another reason than a closed pipe."""
    out.flush()
    if out.error is None or out.error.errno == EPIPE or out.is_reported:
        return out.is_reported
    out.is_reported = True
    message = coded("GE3010", f"cannot write to stdout: {system_reason(out.error)}")
    kind = "error" if OUTPUT.is_result else "warning"
    print(messages.with_code(f"{kind}: {message}", message), file=sys.stderr)
    return True


def open_standard_streams() -> None:
    """Open the null device for each of stdin, stdout and stderr that the process was started without.

    A file of a sink would get the number of the closed one, and whatever prints would write into it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
