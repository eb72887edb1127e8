"""Run a function in a forked process, and stop it at one of its system calls that change files.

The child installs a seccomp filter (Linux 5.5 or later) before it runs the function.  From then on, each system call of
the list that any of its threads makes waits until the parent has looked at it.  The parent counts the calls that are
about files below one folder.  Before the N-th one it kills the child, sends it a signal, or makes the call fail.  So the
files are as they are between two system calls, and no tool but the kernel is needed.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import signal
import socket
import struct
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MACHINE = platform.machine()
# The numbers are those of the kernel's tables; aarch64 has the calls with "at" alone.
NUMBERS = {
    "x86_64": {
        "write": 1, "pwrite64": 18, "writev": 20, "pwritev": 296, "sendfile": 40, "copy_file_range": 326,
        "openat": 257, "open": 2, "creat": 85, "fsync": 74, "fdatasync": 75, "truncate": 76, "ftruncate": 77,
        "rename": 82, "renameat": 264, "renameat2": 316, "mkdir": 83, "mkdirat": 258, "rmdir": 84,
        "link": 86, "linkat": 265, "unlink": 87, "unlinkat": 263, "symlink": 88, "symlinkat": 266,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "fchownat": 260, "fallocate": 285,
        "syncfs": 306, "utimensat": 280,
    },
    "aarch64": {
        "write": 64, "pwrite64": 68, "writev": 66, "pwritev": 70, "sendfile": 71, "copy_file_range": 285,
        "openat": 56, "fsync": 82, "fdatasync": 83, "truncate": 45, "ftruncate": 46,
        "renameat": 38, "renameat2": 276, "mkdirat": 34, "linkat": 37, "unlinkat": 35, "symlinkat": 36,
        "fchmod": 52, "fchmodat": 53, "fchown": 55, "fchownat": 54, "fallocate": 47, "syncfs": 267, "utimensat": 88,
    },
}.get(MACHINE, {})  # fmt: skip
NAMES = {number: name for name, number in NUMBERS.items()}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.get(MACHINE, 0)
SECCOMP = {"x86_64": 317, "aarch64": 277}.get(MACHINE, 0)
OF_DESCRIPTOR = {
    "write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync", "ftruncate", "fchmod", "fchown", "fallocate", "syncfs",
}  # fmt: skip
AT_FOLDER = {"openat", "mkdirat", "unlinkat", "fchmodat", "fchownat", "utimensat", "renameat", "renameat2", "linkat"}
CHANGES_BY_OPENING = os.O_CREAT | os.O_TRUNC

ALLOW, NOTIFY = 0x7FFF0000, 0x7FC00000
SET_FILTER, NEW_LISTENER, GO_ON, NO_NEW_PRIVS = 1, 8, 1, 38
RECEIVE, SEND = 0xC0502100, 0xC0182101  # ioctl numbers of SECCOMP_IOCTL_NOTIF_RECV and _SEND
NOTICE, ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_SET, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER_AT, ARCHITECTURE_AT, THIRD_ARGUMENT_AT = 0, 4, 16 + 2 * 8
LONGEST_WAIT_S = 120.0


def why_not() -> str:
    """Return why this machine cannot stop a process at its system calls; nothing where it can."""
    if not NUMBERS:
        return f"the numbers of system calls of {MACHINE} are not known"
    if not hasattr(os, "pidfd_open"):
        return "Python was built without pidfd_open"
    try:
        outcome = run_stopped(lambda: 0, Path("/"), at=0)
    except OSError as error:
        return f"the kernel takes no seccomp filter with a listener: {error}"
    return "" if outcome.exit_code == 0 else outcome.text


@dataclass(frozen=True)
class Fault:
    """What happens at a system call: the process is killed, gets a signal, or the call fails with an error number."""

    name: str
    signal: int = 0
    error: int = 0

    @classmethod
    def named(cls, name: str) -> Fault:
        """Return a fault by the name of a signal or an error number, such as SIGKILL or ENOSPC."""
        if name.startswith("SIG"):
            return cls(name, signal=signal.Signals[name])
        return cls(name, error=getattr(errno, name))


KILL = Fault("SIGKILL", signal=signal.SIGKILL)


@dataclass
class Stopped:
    """How a process ended: its exit code, negative for a signal; the calls that were counted; what it printed."""

    exit_code: int = 0
    at: int = 0
    calls: list[str] = field(default_factory=list)
    reached: bool = False
    text: str = ""

    @property
    def fault_at(self) -> str:
        """The call at which the process was stopped, or that failed; nothing if it was not reached."""
        return self.calls[self.at - 1] if self.reached else ""


def bpf_program() -> ctypes.Array[ctypes.c_char]:
    """Return the filter: it lets the parent look at calls of the list; of openat only where it may change a file."""
    opening = NUMBERS["openat"]
    listed = [number for name, number in NUMBERS.items() if name not in ("openat", "open")]
    # 0: load architecture; 1: other: allow; 2: load number; 3: openat; then the list; then allow, flags, notify
    size = 4 + len(listed)
    allow, flags, notify = size, size + 1, size + 3
    lines = [
        (LOAD_WORD, 0, 0, ARCHITECTURE_AT),
        (JUMP_IF_EQUAL, 0, allow - 2, AUDIT_ARCH),
        (LOAD_WORD, 0, 0, NUMBER_AT),
        (JUMP_IF_EQUAL, flags - 4, 0, opening),
        *((JUMP_IF_EQUAL, notify - place - 1, 0, number) for place, number in enumerate(listed, start=4)),
        (RETURN, 0, 0, ALLOW),
        (LOAD_WORD, 0, 0, THIRD_ARGUMENT_AT),
        (JUMP_IF_SET, 0, 1, CHANGES_BY_OPENING),
        (RETURN, 0, 0, NOTIFY),
        (RETURN, 0, 0, ALLOW),
    ]
    return ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))


def install_filter() -> int:
    """Install the filter in this process; return the descriptor at which its calls are looked at."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = bpf_program()
    header = ctypes.create_string_buffer(struct.pack("@HP", (len(program) - 1) // 8, ctypes.addressof(program)))
    if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    listener = libc.syscall(ctypes.c_long(SECCOMP), SET_FILTER, NEW_LISTENER, header)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return int(listener)


def run_stopped(work: Callable[[], int], root: Path, at: int, fault: Fault = KILL) -> Stopped:
    """Fork, run `work` there, and stop it before the `at`-th call, from 1, that changes something below `root`.

    `work` returns the exit code.  With `at` 0 nothing stops it, and the calls are counted.

    Raises
    ------
    OSError
        Where the kernel does not take the filter.
    """
    here, there = socket.socketpair()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        run_in_child(work, there, (reader, writer, here.fileno()))
    there.close()
    os.close(writer)
    outcome = Stopped(at=at)
    try:
        reply, passed, _, _ = socket.recv_fds(here, 16, 1)
        if not passed:
            raise OSError(int(reply or b"1"), os.strerror(int(reply or b"1")))
        watch(child, passed[0], str(root), at, fault, outcome)
        os.close(passed[0])
    finally:
        here.close()
        _, status = os.waitpid(child, 0)
        outcome.exit_code = os.waitstatus_to_exitcode(status)
        outcome.text = read_all(reader)
    return outcome


def run_in_child(work: Callable[[], int], parent: socket.socket, close: tuple[int, ...]) -> None:
    """Do the work of the forked process, and end it; what it prints goes to a pipe."""
    code = 70
    reader, writer, other = close
    try:
        os.setpgid(0, 0)
        os.close(reader)
        os.close(other)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os.close(writer)
        try:
            listener = install_filter()
        except OSError as error:
            parent.send(str(error.errno).encode())
            os._exit(code)
        socket.send_fds(parent, [b"0"], [listener])
        os.close(listener)
        parent.close()
        code = work()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def watch(child: int, listener: int, root: str, at: int, fault: Fault, outcome: Stopped) -> None:
    """Look at the child's calls until it ends, and stop it at the one that is to be the last."""
    ended = os.pidfd_open(child)
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(ended, select.POLLIN)
    try:
        while True:
            ready = dict(poll.poll(LONGEST_WAIT_S * 1000))
            if not ready:
                os.kill(child, signal.SIGKILL)
                outcome.text = "hung"
                return
            if ready.get(listener, 0) & select.POLLIN:
                look(listener, child, root, at, fault, outcome)
            elif ended in ready:
                return
    finally:
        os.close(ended)


def look(listener: int, child: int, root: str, at: int, fault: Fault, outcome: Stopped) -> None:
    """Take one call of the child: count it if it is about the folder, and let it go on, or stop the child."""
    buffer = bytearray(NOTICE.size)
    try:
        fcntl.ioctl(listener, RECEIVE, buffer)
    except OSError:  # the thread has ended meanwhile
        return
    notice, thread, _, number, _, _, *arguments = NOTICE.unpack(buffer)
    said = told_call(thread, NAMES[number], arguments)
    error = 0
    if root in said:
        outcome.calls.append(said)
        if len(outcome.calls) == at:
            outcome.reached = True
            error = fault.error
            if fault.signal:
                os.kill(child, fault.signal)
            if fault.signal == signal.SIGKILL:
                return
    with suppress(OSError):
        fcntl.ioctl(listener, SEND, ANSWER.pack(notice, 0, -error, 0 if error else GO_ON))


def told_call(thread: int, name: str, arguments: list[int]) -> str:
    """Return the name of a call and the paths that it is about."""
    if name in OF_DESCRIPTOR:
        return f"{name} {link(thread, arguments[0])}"
    if name in ("sendfile", "copy_file_range"):
        return f"{name} {link(thread, arguments[0 if name == 'sendfile' else 2])}"
    if name not in AT_FOLDER:
        texts = [text_at(thread, place) for place in arguments[: 2 if name in ("rename", "link", "symlink") else 1]]
        return " ".join((name, *texts))
    pairs = [arguments[:2], arguments[2:4]] if name in ("renameat", "renameat2", "linkat") else [arguments[:2]]
    return " ".join((name, *(path_at(thread, folder, place) for folder, place in pairs)))


def path_at(thread: int, folder: int, place: int) -> str:
    """Return a path that a call names below an open folder."""
    text = text_at(thread, place)
    at_cwd = ctypes.c_int(folder & 0xFFFFFFFF).value < 0
    return text if text.startswith("/") else f"{link(thread, 'cwd' if at_cwd else folder)}/{text}"


def link(thread: int, what: int | str) -> str:
    """Return what an open descriptor, or the working directory, of a thread is."""
    path = f"/proc/{thread}/cwd" if what == "cwd" else f"/proc/{thread}/fd/{ctypes.c_int(int(what) & 0xFFFFFFFF).value}"
    try:
        return str(Path(path).readlink())
    except OSError:
        return "?"


def text_at(thread: int, place: int) -> str:
    """Return the text at an address of the process; it ends at a NUL byte."""
    try:
        with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
            memory.seek(place)
            return memory.read(4096).partition(b"\0")[0].decode(errors="replace")
    except (OSError, OverflowError):
        return "?"


def read_all(reader: int) -> str:
    """Return what comes from a pipe until it is closed."""
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read().decode(errors="replace")
