"""An HTTP server of the files of a folder, which answers requests for ranges of bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class RangeHandler(SimpleHTTPRequestHandler):
    """Serves files; the standard library's handler knows no ranges."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a file, or a range of it."""
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        file = Path(self.translate_path(self.path))
        if not wanted or not file.is_file():
            super().do_GET()
            return
        data = file.read_bytes()
        start, last = int(wanted[1]), min(int(wanted[2]), len(data) - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last + 1 - start))
        self.end_headers()
        self.wfile.write(data[start : last + 1])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  named as in the standard library
        """Print nothing."""


@contextmanager
def web(folder: Path) -> Iterator[str]:
    """Give the address of a server of a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(RangeHandler, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
