"""A proxy in front of an S3 server that answers some requests with faults, in the place of the server or after it.

It runs on threads of the test's process, so that the test sets the faults and counts them.
"""

from __future__ import annotations

import http.client
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FOR_EVER = 1_000_000
HOP_HEADERS = ("connection", "transfer-encoding", "content-length", "date", "server")


@dataclass
class Fault:
    """What happens to `times` requests of a method whose path with its query matches a pattern, after `skip` of them.

    `status` and `code` are the answer in place of the server's.  Otherwise the server's answer comes late by
    `delay_s`, has `headers` in place of its own, or ends after `cut_bytes` of its body.
    """

    method: str
    pattern: str
    times: int = FOR_EVER
    status: int = 0
    code: str = ""
    delay_s: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    cut_bytes: int | None = None
    skip: int = 0
    count: int = 0

    def applies(self, method: str, path: str) -> bool:
        """Tell whether a request meets the fault, and count it."""
        if self.count >= self.times or method not in self.method.split("|") or not re.search(self.pattern, path):
            return False
        self.skip -= 1
        self.count += self.skip < 0
        return self.skip < 0


class FaultyProxy:
    """The proxy: `faults` are met in their order, one by each request; `requests` are the methods and paths that came.

    `sent` has the path of each GET and the bytes of its answer, `most_at_once` the most requests under way at a time.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream.removeprefix("http://")
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str]] = []
        self.sent: list[tuple[str, int]] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    def add(self, *faults: Fault) -> None:
        """Add faults."""
        self.faults.extend(faults)

    def bytes_of(self, name: str) -> int:
        """Return the bytes that were sent of objects whose paths end so."""
        return sum(size for path, size in self.sent if path.split("?")[0].endswith(name))

    def requests_of(self, name: str) -> list[str]:
        """Return the methods of the requests for objects whose paths end so."""
        return [method for method, path in self.requests if path.split("?")[0].endswith(name)]

    def begin(self) -> None:
        """Count a request that is under way."""
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)

    def end(self, method: str, path: str, size: int) -> None:
        """Count what was sent."""
        with self.lock:
            self.at_once -= 1
            if method == "GET":
                self.sent.append((path, size))

    def fault_of(self, method: str, path: str) -> Fault | None:
        """Return the fault of a request."""
        with self.lock:
            self.requests.append((method, path))
            return next((one for one in self.faults if one.applies(method, path)), None)


class ProxiedRequest(BaseHTTPRequestHandler):
    """A request that is sent on, or answered with a fault."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    proxy: FaultyProxy

    def __getattr__(self, name: str) -> Any:
        """Return what handles each method."""
        if name.startswith("do_"):
            return self.forward
        raise AttributeError(name)

    def log_message(self, *arguments: Any) -> None:
        """Write nothing."""

    def forward(self) -> None:
        """Answer with a fault, or as the server does."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.proxy.fault_of(self.command, self.path)
        if fault and fault.status:
            self.refuse(fault)
            return
        connection, data = http.client.HTTPConnection(self.proxy.upstream), b""
        self.proxy.begin()
        try:
            connection.request(self.command, self.path, body, dict(self.headers.items()))
            answer = connection.getresponse()
            data = answer.read()
            time.sleep(fault.delay_s if fault else 0)
        finally:
            connection.close()
            self.proxy.end(self.command, self.path, len(data))
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in HOP_HEADERS}
        length = answer.getheader("Content-Length", "0") if self.command == "HEAD" else str(len(data))
        if fault:
            headers = {name: value for name, value in headers.items() if name not in fault.headers} | fault.headers
            if fault.cut_bytes is not None:
                data, self.close_connection = data[: fault.cut_bytes], True
        self.answer(answer.status, headers, data, length)

    def refuse(self, fault: Fault) -> None:
        """Send an error as S3 words it."""
        text = f"<?xml version='1.0'?><Error><Code>{fault.code}</Code><Message>{fault.code}</Message></Error>".encode()
        self.answer(fault.status, {"Content-Type": "application/xml"}, text, str(len(text)))

    def answer(self, status: int, headers: dict[str, str], data: bytes, length: str) -> None:
        """Send an answer; a client that has gone does not matter."""
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", length)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)
            self.wfile.flush()
        except ConnectionError:
            self.close_connection = True


@contextmanager
def faulty(upstream: str) -> Iterator[tuple[FaultyProxy, str]]:
    """Run a proxy in front of a server at an address; give it, and its own address."""
    proxy = FaultyProxy(upstream)
    handler = type("Request", (ProxiedRequest,), {"proxy": proxy})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield proxy, f"http://127.0.0.1:{made.server_address[1]}"
        finally:
            made.shutdown()
            thread.join()
