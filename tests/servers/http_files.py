"""A plain HTTP or HTTPS server of files, with ranges and ETags; the first part of a URL takes something away.

/plain/a.csv       ranges, ETag, Last-Modified, If-Match
/no-ranges/a.csv   always the whole file
/no-state/a.csv    no ETag and no Last-Modified
/bare/a.csv        neither of these: no ranges, no state
/weak/a.csv        a weak ETag
/no-head/a.csv     HEAD is not allowed (405)
/no-length/a.csv   no Content-Length: the end of the connection is that of the file
/endless/a.csv     no ranges and no Content-Length
/moved/a.csv       redirected to /plain/a.csv
/private/a.csv     asks for credentials (401)
/forbidden/a.csv   denied (403)
"""

from __future__ import annotations

import re
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from urllib.parse import unquote

from servers.processes import free_port, server

RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class FileRequest(BaseHTTPRequestHandler):
    """A request for a file below `folder`."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # headers and body in one packet: otherwise TCP waits 40 ms between them
    folder: Path

    def do_GET(self) -> None:
        """Send a file, or a range of it."""
        self.answer(body=True)

    def do_HEAD(self) -> None:
        """Send the headers."""
        self.answer(body=False)

    def answer(self, body: bool) -> None:
        """Send what is asked for, with what the kind of server leaves out."""
        kind, _, name = unquote(self.path).lstrip("/").partition("/")
        refused = {"private": HTTPStatus.UNAUTHORIZED, "forbidden": HTTPStatus.FORBIDDEN}.get(kind)
        if kind == "no-head" and not body:
            refused = HTTPStatus.METHOD_NOT_ALLOWED
        path = self.folder / name
        if refused is None and not path.is_file():
            refused = HTTPStatus.NOT_FOUND
        if refused:
            self.send(refused, {}, f"{refused.phrase}\n".encode(), body)
        elif kind == "moved":
            self.send(HTTPStatus.FOUND, {"Location": self.path.replace("/moved/", "/plain/", 1)}, b"", body)
        else:
            self.send_file(path, kind, body)

    def send_file(self, path: Path, kind: str, body: bool) -> None:
        """Send a file that is there."""
        data, headers = path.read_bytes(), dict[str, str]()
        changed = path.stat().st_mtime_ns
        if kind not in ("no-state", "bare"):
            e_tag = f'"{changed:x}-{len(data):x}"'
            headers = {"Last-Modified": formatdate(changed / 1e9, usegmt=True), "ETag": "W/" * (kind == "weak") + e_tag}
            if self.headers.get("If-Match", headers["ETag"]) != headers["ETag"]:
                self.send(HTTPStatus.PRECONDITION_FAILED, {}, b"", body)
                return
        found = RANGE.fullmatch(self.headers.get("Range", "")) if kind not in ("no-ranges", "bare", "endless") else None
        if found and body and int(found[1]) >= len(data):
            self.send(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, {}, b"", body)
        elif found and body:
            start, end = int(found[1]), min(int(found[2] or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
            self.send(HTTPStatus.PARTIAL_CONTENT, headers, data[start : end + 1], body)
        else:
            self.send(HTTPStatus.OK, headers, data, body, length=kind not in ("no-length", "endless"))

    def send(self, status: HTTPStatus, headers: dict[str, str], data: bytes, body: bool, length: bool = True) -> None:
        """Send an answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if length:
            self.send_header("Content-Length", str(len(data)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if body:
            self.wfile.write(data)


def main(folder: str, port: str, certificate: str = "") -> None:
    """Serve the files of a folder, encrypted if there is a certificate with its key."""
    handler = type("Request", (FileRequest,), {"folder": Path(folder)})
    with ThreadingHTTPServer(("127.0.0.1", int(port)), handler) as made:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            made.socket = context.wrap_socket(made.socket, server_side=True)
        made.serve_forever()


@contextmanager
def http_files(folder: Path, log: Path, certificate: Path | None = None) -> Iterator[str]:
    """Run a server of the files below a folder; give its host and port."""
    port = free_port()
    command = [sys.executable, __file__, str(folder), str(port), *([str(certificate)] if certificate else [])]
    with server(command, port, log):
        yield f"127.0.0.1:{port}"


def write_certificate(path: Path) -> None:
    """Write a certificate of 127.0.0.1 that signs itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests of gpuetl")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(serialization.Encoding.PEM, *form)
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
