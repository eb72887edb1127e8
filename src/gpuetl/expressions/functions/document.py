"""The table of functions as a page: `python -m gpuetl.expressions.functions.document docs/functions.md` writes it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from gpuetl.expressions.functions import ALIASES, MODULES
from gpuetl.expressions.functions.function import Argument, Function
from gpuetl.expressions.unparse import constant_text

HEAD = """\
# Functions

What may stand in an expression.  `name?` may be left out, `name…` repeats, *name* takes a constant or a `$parameter`;
arguments that do not repeat can be given by name, as in `lag(x, offset => 2)`.  Null in any argument gives null unless the text
says otherwise.  This page is written from the table that types expressions, and its examples are tests.

`run_id()` gives the run's id, the same text in every row and on every engine, as `${run.id}` does in paths: `_run: run_id()`
marks the rows of a run.  In `plan`, `validate` and `verify` it is the text `plan`.
"""


def functions_markdown() -> str:
    """Return the page: a table for each module of functions, then the aliases."""
    return "\n".join([HEAD, *map(_section, MODULES), _aliases()])


def _section(module: ModuleType) -> str:
    title, *notes = str(module.__doc__).strip().split("\n\n")
    rows = "\n".join(map(_row, module.FUNCTIONS))
    text = "\n\n".join([title, *notes, *_closing_note(module)])
    name = module.__name__.rpartition(".")[2].replace("_", " ")
    return f"## {name.capitalize()}\n\n{text}\n\n| function | gives | example | result |\n|---|---|---|---|\n{rows}\n"


def _closing_note(module: ModuleType) -> list[str]:
    """Return the note on what the examples are over, where their results are of a group."""
    return {
        "maps": ["The examples are over m, a map<string, int64> of 1 for 'a' and 2 for 'b'."],
        "aggregates": ["The examples are over x = 1, 1, 2, null, in the order of x."],
        "moments": ["The examples are over x = 1, 1, 2, null, in the order of x."],
        "collecting": ["The examples are over x = 1, 1, 2, null, in the order of x."],
        "windows": [
            "Aggregates stand in a window step, too: they are over the whole group, whatever the order.",
            "The examples are over x = 1, 2, null, 4 in the order of ts = 00:00, 01:00, 02:30, 03:00, in one group.",
        ],
    }.get(module.__name__.rpartition(".")[2], [])


def _row(function: Function) -> str:
    arguments = ", ".join(map(_argument, function.arguments))
    cells = (
        f"**{function.name}**({arguments})",
        function.doc,
        f"`{function.example}`",
        f"`{_result(function.result)}`",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _argument(argument: Argument) -> str:
    name = f"*{argument.name}*" if argument.constant else argument.name
    return name + ("…" if argument.repeats else "?" if argument.optional else "")


def _result(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {constant_text(each)}' for name, each in value.items())}}}"
    return ", ".join(map(constant_text, value)) if isinstance(value, list) else constant_text(value)


def _aliases() -> str:
    listed = ", ".join(f"`{alias}` is `{name}`" for alias, name in sorted(ALIASES.items()))
    return f"## Aliases\n\n{listed}.\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(functions_markdown(), encoding="utf-8")
