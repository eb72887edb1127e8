"""Run cells in a real Jupyter kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


def notebook_format() -> Any:
    """Return the module of the notebook format, which has no types."""
    return import_module("nbformat.v4")


class Kernel:
    """A kernel in a folder, in which cells run."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._number = 0

    def run(self, code: str) -> list[dict[str, Any]]:
        """Run a cell; return its outputs, also that of an error."""
        from nbclient.exceptions import CellExecutionError

        cell = notebook_format().new_code_cell(code)
        self._client.nb.cells.append(cell)
        try:
            self._client.execute_cell(cell, len(self._client.nb.cells) - 1)
        except CellExecutionError:
            assert cell.outputs[-1]["output_type"] == "error"
        return list(cell.outputs)

    def run_all(self, cells: Sequence[str]) -> None:
        """Run cells, of which none may fail."""
        for code in cells:
            errors = [output for output in self.run(code) if output["output_type"] == "error"]
            assert not errors, "\n".join(errors[0]["traceback"])

    def text(self, code: str) -> str:
        """Run a cell; return what it prints and shows as text."""
        return "".join(output.get("text") or output["data"]["text/plain"] for output in self.run(code))


@contextmanager
def kernel_in(folder: Path) -> Iterator[Kernel]:
    """Start a kernel whose working folder is `folder`, and end it."""
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook_format().new_notebook(),
        kernel_name="python3",
        timeout=120,
        resources={"metadata": {"path": str(folder)}},
    )
    with client.setup_kernel():
        yield Kernel(client)
