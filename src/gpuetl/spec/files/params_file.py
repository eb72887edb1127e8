"""`--params-file`: values of parameters from a YAML or JSON file, a map of names to values.

    run_date: 2026-11-01
    regions: [EU, US]

Values keep their types, so lists, structs and exact decimals need no quoting as on a command line.  A value given with
`-p` comes before that of a file, and a later file before an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gpuetl.errors import InvalidPipeline, Problem, Problems
from gpuetl.messages import coded
from gpuetl.spec.document import Node, read_document, read_text


def read_params_files(paths: Iterable[str | Path]) -> dict[str, Node]:
    """Return the values of files by the names of their parameters, each at its place in its file.

    Raises
    ------
    InvalidPipeline
        For a file that cannot be read, or is no map.
    """
    values: dict[str, Node] = {}
    for path in paths:
        problems = Problems()
        try:
            text = read_text(Path(path), problems, str(path))
        except InvalidPipeline as error:
            message = coded("GE1036", str(error.problems[0].message))
            raise InvalidPipeline([Problem(message, "--params-file takes a YAML file.")]) from None
        root = None if not text or not text.strip() else read_document(text, str(path), problems)
        problems.check()
        if root is not None and not isinstance(root.value, dict):
            message = coded("GE1036", f"values of parameters are a map of names to values, got {root.kind}")
            raise InvalidPipeline([Problem(message, "Write one NAME: value per line.", root.place())])
        values |= root.value if root is not None else {}
    return values
