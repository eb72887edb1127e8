"""NVRTC in processes that do nothing else: it holds a lock of its process for a third of each compilation.

However many threads compile, one process makes some 35 kernels a second.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Timer

from gpuetl.engines.cudf.codegen.nvrtc_child import ANSWER, QUESTION

MOST_KEPT, KEPT_S = 4, 30.0
"""Processes that wait for the next plan, and how long: one takes some 40 ms to start."""
CHILD = Path(__file__).resolve().with_name("nvrtc_child.py")


class NvrtcProcess:
    """A process that compiles one text at a time, and ends when its input is closed: at the latest when this one ends.

    In a session of its own it has no signals of the terminal: what Ctrl-C means is up to this process.
    """

    def __init__(self, library: str) -> None:
        command = [sys.executable, "-I", "-S", str(CHILD), library]  # without `site`: a quarter of the time to start
        self.process = Popen(
            command, bufsize=0, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd="/", start_new_session=True
        )

    def compiled(self, source: str, options: Sequence[str]) -> tuple[bytes, str]:
        """Return machine code, or none and what NVRTC says of the text; raise `OSError` where the process has ended."""
        passed, text = "\0".join(options).encode(), source.encode()
        self.send(QUESTION.pack(len(passed), len(text)) + passed + text)
        length, log_length = ANSWER.unpack(self.received(ANSWER.size))
        return self.received(length), self.received(log_length).decode(errors="replace")

    def send(self, data: bytes) -> None:
        """Write all: a signal may cut a write short."""
        assert self.process.stdin
        unsent = memoryview(data)
        while unsent:
            unsent = unsent[self.process.stdin.write(unsent) :]

    def received(self, count: int) -> bytes:
        """Read so many bytes: a pipe holds less than most machine code."""
        assert self.process.stdout
        data = b""
        while len(data) < count:
            more = self.process.stdout.read(count - len(data))
            if not more:
                raise BrokenPipeError
            data += more
        return data

    def end(self) -> None:
        """End it at once."""
        with self.process:
            self.process.kill()

    def leave(self) -> None:
        """Close the pipes, in a process that was forked: they are its parent's."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.poll()  # no child of this process: it is not waited for


class NvrtcProcesses:
    """Processes as many as sources are compiled at once, each started when it is needed.

    Where one fails, those that are left go on and no other is started.  `library` returns NVRTC's file, or None.
    """

    def __init__(self, library: Callable[[], str | None]) -> None:
        self.library, self.failed = library, False
        self.uses = 0
        self.started: set[NvrtcProcess] = set()
        self.idle: list[NvrtcProcess] = []
        self.lock = Lock()  # held while one is started, so that a process that is forked knows all
        os.register_at_fork(
            before=self.lock.acquire, after_in_parent=self.lock.release, after_in_child=self._after_fork
        )

    def compiled(self, source: str, options: Sequence[str]) -> bytes | None:
        """Return the machine code of a text, None where it is to be compiled in this process.

        That is where NVRTC has an error, which is then had here, and where there is no process.
        """
        process = self._idle_or_started()
        if process is None:
            return None
        try:
            code, _ = process.compiled(source, options)
        except Exception:
            self._ended([process], failed=True)
            return None
        with self.lock:
            self.idle.append(process)
        return code or None

    def end(self, but: int = 0) -> None:
        """End those that compile nothing, but for so many."""
        with self.lock:
            idle, self.idle = self.idle[but:], self.idle[:but]
        self._ended(idle)

    def end_idle(self, seconds: float = KEPT_S) -> None:
        """End those that compile nothing, but for a few, which end too if nothing is asked of them in some seconds."""
        self.end(MOST_KEPT)
        timer = Timer(seconds, self._end_unused, (self.uses,))
        timer.daemon = True
        timer.start()

    def _end_unused(self, uses: int) -> None:
        if self.uses == uses:
            self.end()

    def _idle_or_started(self) -> NvrtcProcess | None:
        with self.lock:
            self.uses += 1
            if self.idle:
                return self.idle.pop()
            if self.failed:
                return None
            with suppress(Exception):  # one that cannot be started is nobody's concern
                if library := self.library():
                    self.started.add(process := NvrtcProcess(library))
                    return process
            self.failed = True
            return None

    def _ended(self, processes: Sequence[NvrtcProcess], failed: bool = False) -> None:
        for process in processes:
            process.end()
        with self.lock:
            self.failed |= failed
            self.started.difference_update(processes)

    def _after_fork(self) -> None:
        for process in self.started:
            process.leave()
        self.started, self.idle = set(), []
        self.lock.release()


def loaded_library(version: tuple[int, int]) -> str | None:
    """Return the file of NVRTC of a version that this process has loaded: others may be there, too."""
    lines = os.fsdecode(Path("/proc/self/maps").read_bytes()).splitlines()
    files = dict.fromkeys(line.split(maxsplit=5)[5] for line in lines if "/libnvrtc.so" in line)
    return next((file for file in files if version_of(file) == version), None)


def version_of(library: str) -> tuple[int, int]:
    """Return the version of NVRTC's file."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    ctypes.CDLL(library).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value
