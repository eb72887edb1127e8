"""Examples of the language's page: a few rows, steps, and the rows that come out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import zip_longest
from pathlib import Path
from textwrap import indent
from typing import Any

from gpuetl.records import dataclass

Row = Mapping[str, Any]
RESULT = "result"
"""The stage of an example, whose first input is its source."""


@dataclass(frozen=True)
class Given:
    """The rows of a source: the types of its columns, and a tuple of values for each row.

    Values are those of JSON: a date is a string, a struct a dict, and a map a dict.
    """

    schema: Mapping[str, str]
    rows: Sequence[tuple[Any, ...]]

    def dicts(self) -> list[Row]:
        """Return the rows as dicts."""
        return [dict(zip(self.schema, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Example:
    """Steps, and the rows that they get.

    `given` are the sources by name; the stage begins with the first.  `errors` are codes of errors and warnings that
    the step gives.  `files` are Python files that the steps read, by name.  `before` are stages that the steps read.
    `more` are other steps over the same rows, by a sentence that says what they do.
    """

    steps: str
    given: Mapping[str, Given]
    errors: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    before: str = ""
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def others(self) -> dict[str, Example]:
        """The other examples, by their sentences."""
        return {sentence: replace(self, steps=steps, more={}) for sentence, steps in self.more.items()}

    def write(self, folder: Path) -> Path:
        """Write the example as a pipeline with its files into a folder, and return the path of the pipeline."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        sources = dict[str, object]()
        for name, given in self.given.items():
            lines = "".join(f"{json.dumps(row)}\n" for row in given.dicts())
            (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
            sources[name] = {"json": f"{name}.jsonl", "schema": dict(given.schema)}
        head = f"gpuetl: 1\nname: example\nsources: {json.dumps(sources)}\n"
        stage = f"stages:\n{self.before}  {RESULT}:\n    from: {next(iter(self.given))}\n    steps:\n"
        path = folder / "example.yaml"
        sink = f"sinks:\n  out: {{from: {RESULT}, parquet: out}}\n"
        path.write_text(f"{head}{stage}{indent(self.steps, ' ' * 6)}{sink}", encoding="utf-8")
        return path


Run = Callable[[Example], Sequence[Row]]
"""Runs an example and returns the rows of its result, as plain data."""


def shown(example: Example, run: Run) -> str:
    """Return the steps and their files, and below them the rows that go in next to those that come out."""
    inputs = [text_table(name, given.dicts()) for name, given in example.given.items()]
    left = [line for lines in inputs for line in [*lines, ""]][:-1]
    rows = beside(left, text_table(RESULT, run(example)))
    files = "".join(f"`{name}`:\n\n```python\n{text}```\n\n" for name, text in example.files.items())
    steps = example.steps
    if example.before:
        first = f"  {RESULT}:\n    from: {next(iter(example.given))}\n    steps:\n"
        steps = f"stages:\n{example.before}{first}{indent(steps, ' ' * 6)}"
    return f"```yaml\n{steps}```\n\n{files}```text\n{rows}\n```\n"


def beside(left: Sequence[str], right: Sequence[str]) -> str:
    """Return two blocks of lines next to each other."""
    width = max(map(len, left)) + 8
    return "\n".join(f"{one:{width}}{other}".rstrip() for one, other in zip_longest(left, right, fillvalue=""))


def text_table(title: str, rows: Sequence[Row]) -> list[str]:
    """Return rows as lines: a title, the names of the columns, and a line for each row."""
    names = list(rows[0]) if rows else []
    columns = [[name, *(text_of(row[name]) for row in rows)] for name in names]
    right = [any(is_number(row[name]) for row in rows) for name in names]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(f"{text:{'>' if to_right else '<'}{width}}" for text, to_right, width in zip(line, right, widths))  # noqa: B905
        for line in zip(*columns, strict=True)
    ]
    return [f"{title}:", *(f"  {line}".rstrip() for line in lines or ["no rows"])]


def is_number(value: object) -> bool:
    """Return whether a value is written to the right of its column."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def text_of(value: object) -> str:
    """Return a value as YAML has it."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {text_of(item)}' for name, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of, value))}]"
    if value is None or isinstance(value, bool):
        return str(json.dumps(value))
    return str(value)
