"""Server processes: started on a free port, waited for until they accept connections, and ended."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

READY_S = 60.0
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "MOTO_S3_DEFAULT_MAX_KEYS": "100"}
"""Of servers that are modules of the tests: they import each other.  Moto lists so few objects a page."""


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(command: Sequence[str], port: int, log: Path) -> Iterator[None]:
    """Run a server while the block runs.

    Raises
    ------
    RuntimeError
        For one that ends, or that does not listen within a minute; with what it wrote.
    """
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output, env=ENVIRONMENT) as process:
        try:
            wait_for(process, port, log)
            yield
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until a server accepts connections."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen: {log.read_text(errors='replace')[-2000:]}")
