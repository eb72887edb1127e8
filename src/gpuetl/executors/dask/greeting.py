"""The first word of a scheduler, and what to do where there is none.

A client of `distributed` tries what was refused again for all of its time, and waits for ever for what listens and is
no scheduler.  So a connection of our own comes first, which fails at once where that is known, and knows why.
"""

from __future__ import annotations

import socket
import sys
from contextlib import ExitStack, suppress
from ssl import SSLError
from typing import Any

from distributed.comm import parse_address, parse_host_port

from gpuetl.errors import EngineUnavailable, first_line
from gpuetl.messages import coded

ANSWER_S = 10
"""How long a scheduler may take to answer."""
LONGEST = 1 << 20
"""Bytes of a greeting; it has a few hundred."""


def hear_greeting(address: str, security: Any) -> None:
    """Connect as a client does, and wait for a message: a scheduler speaks first.

    A message begins with its length in eight bytes (`distributed.comm.tcp`), where others, such as SSH, say a text.

    Raises
    ------
    OSError
        For what is not reached, does not take the certificates, or says nothing.
    ValueError
        For what is no address.
    """
    scheme, at = parse_address(address)
    if scheme not in ("tcp", "tls"):  # UCX has sockets of its own
        return
    context = tls_context(security) if scheme == "tls" else None
    length = 0
    with ExitStack() as opened:
        line = opened.enter_context(socket.create_connection(parse_host_port(at), ANSWER_S))
        if context:
            line = opened.enter_context(context.wrap_socket(line))
        with suppress(TimeoutError):
            length = int.from_bytes(line.recv(8), sys.byteorder)
    if not 0 < length < LONGEST:
        raise ConnectionError("what listens there does not speak as one")


def tls_context(security: Any) -> Any:
    """Return what a client's certificates are in; raise `SSLError` without any."""
    context = security.get_connection_args("client")["ssl_context"]
    if context is None:
        raise SSLError(0, "no certificates were given")
    return context


def unreachable(address: str, error: Exception) -> EngineUnavailable:
    """Word why there is no connection to an address, and what to do."""
    why = getattr(error, "strerror", None) or first_line(error)
    return EngineUnavailable(
        coded("GE3005", f"cannot connect to a scheduler at {address}: {why}.\n{advice(address, error)}")
    )


def advice(address: str, error: Exception) -> str:
    """Return what to do next."""
    scheme, at = parse_address(address)
    files = "--tls-ca ca.pem --tls-cert cert.pem --tls-key key.pem"
    log = "A scheduler's log has its address after 'Scheduler at:'."
    if isinstance(error, SSLError):
        return f"Give the certificates that it was started with by {files}, or name one without TLS as tcp://{at}."
    if isinstance(error, ConnectionRefusedError):
        start = f"dask scheduler --port {parse_host_port(at)[1]}"
        return f"Start one on that host by `{start}`, or check the address.  {log}"
    if isinstance(error, ConnectionError) and scheme == "tcp":
        return f"One with TLS is reached by --cluster tls://{at} {files}.  {log}"
    if scheme == "ucx" and isinstance(error, TypeError):  # so `distributed` says that there is no UCX
        return 'UCX comes with the extras cu12 and cu13: pip install "gpuetl[cu12]".'
    return f"Check the address, such as tcp://host:8786, and whether this host may reach it.  {log}"
