"""The YAML reader of the language: ruamel's, which stops at text that nests too deeply."""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scanner import Scanner, ScannerError

MAX_DEPTH = 64


class ShallowScanner(Scanner):
    """Stops at text that nests too deeply, before anything recurses into it."""

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:  # noqa: N803
        """Begin a list or map in brackets."""
        super().fetch_flow_collection_start(TokenClass, to_push)
        self.check_depth()

    def add_indent(self, column: int) -> bool:
        """Begin an indented list or map."""
        self.check_depth()
        return bool(super().add_indent(column))

    def check_depth(self) -> None:
        """Raise where brackets and indents are more than anyone writes."""
        if len(self.flow_context) + len(self.indents) > MAX_DEPTH:
            raise ScannerError(None, None, f"it nests deeper than {MAX_DEPTH}", self.reader.get_mark())


def new_yaml() -> YAML:
    """Return a reader of one text: it keeps what it has read."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = ShallowScanner
    return yaml
