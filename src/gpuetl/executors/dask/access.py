"""Connections that only the processes of one run can open.

Each user of a machine can connect to a port on loopback, and a scheduler or worker executes what it is sent.  So both
ends of each connection prove that they know the key of the run, before either one unpacks a message.  The key is made
for the run, and lives in the memory of its processes.  They get it by the pipe that starts them.

This is the challenge and response of `multiprocessing.connection`, in both directions.  The proof names the port, so
that one who listens at another port cannot pass it on.  It encrypts nothing: users of the machine cannot read what
goes over loopback.  TLS would take 1.4 to 1.8 times as long to move rows between workers, and UCX has none.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from typing import Any

from distributed import Security
from distributed.comm import registry
from distributed.comm.addressing import parse_host_port
from distributed.comm.core import CommClosedError
from distributed.comm.tcp import TCPBackend, TCPConnector, TCPListener
from distributed.protocol.utils import host_array

KEY_BYTES = 32
GREETING = b"gpuetl\xff\xff"
"""What both ends send first.  A client without a key takes it for the length of a message, and fails at once."""
PROOF_S = 20
"""How long the other end may take to prove that it knows the key."""
CONNECTS, LISTENS = b"connects", b"listens"
NAMES = {CONNECTS: LISTENS, LISTENS: CONNECTS}


class RunKey(Security):  # type: ignore[misc]
    """What dask hands to each connection of a cluster: here the key of a run, instead of certificates."""

    __slots__ = ("run_key",)

    def __init__(self) -> None:
        super().__init__(require_encryption=False)
        self.run_key = secrets.token_bytes(KEY_BYTES)

    def get_connection_args(self, role: str) -> dict[str, Any]:
        """Return what a connector takes."""
        return {"require_encryption": False, "extra_conn_args": {}, "ssl_context": None, "run_key": self.run_key}

    def get_listen_args(self, role: str) -> dict[str, Any]:
        """Return what a listener takes."""
        return {"require_encryption": False, "ssl_context": None, "run_key": self.run_key}

    def _attr_to_dict(self) -> dict[str, Any]:
        """Show nothing of the key where dask prints how a cluster is secured."""
        return {}


async def prove(comm: Any, key: bytes, port: int, end: bytes) -> None:
    """Prove to the other end of a new connection that this one knows the key, and have it prove the same.

    Raises
    ------
    CommClosedError
        Where it does not; the connection is closed then.
    """
    send, receive = raw(comm)
    try:
        async with asyncio.timeout(PROOF_S):
            mine = secrets.token_bytes(KEY_BYTES)
            await send(GREETING + mine)
            first = await receive(len(GREETING) + KEY_BYTES)
            greeting, theirs = first[: len(GREETING)], first[len(GREETING) :]
            if greeting != GREETING:
                raise ConnectionError("it has no key")
            await send(proof(key, end, port, mine, theirs))
            given = await receive(KEY_BYTES)
    except Exception as error:
        comm.abort()
        raise CommClosedError("the other end did not prove that it belongs to the run") from error
    if not hmac.compare_digest(given, proof(key, NAMES[end], port, theirs, mine)):
        comm.abort()
        raise CommClosedError("the other end does not belong to the run")


def proof(key: bytes, end: bytes, port: int, own: bytes, other: bytes) -> bytes:
    """Return the proof that one end sends: only the key's holder can compute it, and the two ends' proofs differ."""
    return hmac.digest(key, b"%s %d %s%s" % (end, port, own, other), "sha256")


def raw(comm: Any) -> tuple[Any, Any]:
    """Return how to send bytes over a connection, and to receive a number of bytes, below dask's messages."""
    if hasattr(comm, "stream"):  # TCP
        return comm.stream.write, comm.stream.read_bytes

    async def receive(count: int) -> bytes:
        buffer = host_array(count)
        await comm.ep.recv(buffer)
        return bytes(buffer)

    return comm.ep.send, receive


class ProvingConnector:
    """Proves the key where one is given; without a key, it is dask's own connector."""

    async def connect(self, address: str, deserialize: bool = True, **connection_args: Any) -> Any:
        """Connect, and prove the key."""
        key = connection_args.pop("run_key", None)
        comm = await super().connect(address, deserialize=deserialize, **connection_args)  # type: ignore[misc]
        if key is not None:
            await prove(comm, key, parse_host_port(address)[1], CONNECTS)
        return comm


class ProvingListener:
    """Asks for the key where one is given; without a key, it is dask's own listener."""

    def __init__(self, *args: Any, run_key: bytes | None = None, **connection_args: Any) -> None:
        super().__init__(*args, **connection_args)
        self.run_key = run_key

    async def on_connection(self, comm: Any, handshake_overrides: dict[str, Any] | None = None) -> None:
        """Have the other end prove the key, before its first message is unpacked."""
        if self.run_key is not None:
            await prove(comm, self.run_key, self.get_host_port()[1], LISTENS)  # type: ignore[attr-defined]
        await super().on_connection(comm, handshake_overrides)  # type: ignore[misc]


class KeyedTCPConnector(ProvingConnector, TCPConnector):  # type: ignore[misc]
    """A TCP connector that proves the key."""


class KeyedTCPListener(ProvingListener, TCPListener):  # type: ignore[misc]
    """A TCP listener that asks for the key."""


class KeyedTCPBackend(TCPBackend):  # type: ignore[misc]
    """TCP with a key where one is given."""

    _connector_class = KeyedTCPConnector
    _listener_class = KeyedTCPListener


def accept_keys(protocol: str) -> None:
    """Let connections of a protocol, `tcp` or `ucx`, take a key in this process; those without one are as before."""
    registry.backends["tcp"] = KeyedTCPBackend()
    if protocol.startswith("ucx"):
        registry.backends["ucx"] = keyed_ucx()


def keyed_ucx() -> Any:
    """Return UCX with a key where one is given; only here is it imported."""
    from distributed_ucxx.ucxx import UCXXBackend, UCXXConnector, UCXXListener

    class KeyedUCXConnector(ProvingConnector, UCXXConnector):  # type: ignore[misc]
        """A UCX connector that proves the key."""

    class KeyedUCXListener(ProvingListener, UCXXListener):  # type: ignore[misc]
        """A UCX listener that asks for the key."""

    class KeyedUCXBackend(UCXXBackend):  # type: ignore[misc]
        def get_connector(self) -> Any:
            return KeyedUCXConnector()

        def get_listener(self, loc: str, handle_comm: Any, deserialize: bool, **connection_args: Any) -> Any:
            return KeyedUCXListener(loc, handle_comm, deserialize, **connection_args)

    return KeyedUCXBackend()
