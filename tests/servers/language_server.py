"""The YAML language server of editors, spoken to as an editor does: JSON-RPC over stdin and stdout."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from servers.node import program

ANSWER_S = 60.0
OFFLINE = {"yaml": {"schemaStore": {"enable": False}, "validate": True, "hover": True, "completion": True}}


class LanguageServer:
    """A running server, and the files that are open in it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.last = 0
        self.buffer = b""
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.send({"method": method, "params": params})

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Return the result of a request."""
        self.last += 1
        number = self.last
        self.send({"id": number, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message.get("result")
            self.answer(message)

    def answer(self, message: dict[str, Any]) -> None:
        """Answer what the server asks, and keep what it says of files."""
        method = message.get("method")
        if method == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif method == "workspace/configuration":
            items = message["params"]["items"]
            self.send({"id": message["id"], "result": [OFFLINE.get(item.get("section"), {}) for item in items]})
        elif "id" in message:
            self.send({"id": message["id"], "result": None})

    def receive(self) -> dict[str, Any]:
        """Return the next message; it fails after a minute without one."""
        end = time.monotonic() + ANSWER_S
        while True:
            found = re.match(rb"Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n", self.buffer)
            if found and len(self.buffer) >= found.end() + int(found[1]):
                body = self.buffer[found.end() : found.end() + int(found[1])]
                self.buffer = self.buffer[found.end() + int(found[1]) :]
                message: dict[str, Any] = json.loads(body)
                return message
            assert self.process.stdout is not None
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the language server does not answer"
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            assert part, "the language server has ended"
            self.buffer += part

    def open(self, path: Path, text: str) -> str:
        """Open a file with a text; return its URI."""
        uri = path.as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.diagnostics.pop(uri, None)
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def problems(self, path: Path, text: str) -> list[tuple[int, str]]:
        """Return the lines, from 1, and messages that an editor underlines."""
        uri = self.open(path, text)
        while uri not in self.diagnostics:
            self.answer(self.receive())
        found = self.diagnostics[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        return [(one["range"]["start"]["line"] + 1, one["message"]) for one in found]

    def at(self, method: str, path: Path, text: str) -> Any:
        """Ask something at the place that a `|` marks in the text."""
        before = text[: text.index("|")]
        uri = self.open(path, text.replace("|", "", 1))
        place = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        result = self.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": place})
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        return result

    def completions(self, path: Path, text: str) -> dict[str, str]:
        """Return what an editor offers at `|`, with the documentation that it shows."""
        result = self.at("completion", path, text) or []
        items = result["items"] if isinstance(result, dict) else result
        return {item["label"]: documentation(item.get("documentation")) for item in items}

    def hover(self, path: Path, text: str) -> str:
        """Return what an editor shows when the pointer is at `|`."""
        result = self.at("hover", path, text)
        return documentation(result["contents"]) if result else ""


def documentation(value: Any) -> str:
    """Return the text of documentation, which may be marked."""
    return value["value"] if isinstance(value, dict) else str(value or "")


@contextmanager
def language_server(folder: Path) -> Iterator[LanguageServer]:
    """Run a server for the files of a folder while the block runs; it asks no other machine for schemas."""
    command = [*program("yaml-language-server"), "--stdio"]
    with (
        (folder / "server.log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        server = LanguageServer(process)
        try:
            hover = {"contentFormat": ["markdown"]}
            text = {"hover": hover, "completion": {"completionItem": {"documentationFormat": ["markdown"]}}}
            capabilities = {"workspace": {"configuration": True}, "textDocument": text}
            root = {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": capabilities}
            server.request("initialize", root)
            server.notify("initialized", {})
            server.notify("workspace/didChangeConfiguration", {"settings": OFFLINE})
            yield server
        finally:
            process.kill()
