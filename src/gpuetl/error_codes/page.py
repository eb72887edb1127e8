"""What an error code's page holds: the cause, an example that fails, its message, and the example that works."""

from __future__ import annotations

from dataclasses import field
from textwrap import indent
from typing import Literal

from gpuetl.records import dataclass

Kind = Literal["steps", "pipeline", "python", "command"]

SALES = """\
id,amount,day
1,10.50,2026-01-01
2,-3.00,2026-01-02
3,,2026-01-02
"""
"""`sales.csv`, which the examples read."""

PIPELINE = """\
gpuetl: 1
name: example
sources:
  sales: {{csv: sales.csv, schema: {{id: int64, amount: float64, day: date}}}}
stages:
  result:
    from: sales
    steps:
{steps}
sinks:
  out: {{from: result, parquet: out.parquet, mode: overwrite}}
"""


@dataclass(frozen=True)
class ErrorPage:
    """One error code.

    Parameters
    ----------
    code
        `GE` and four digits.  A code never changes its meaning, and the number of a removed code is not used again.
    title
        The mistake in a few words.
    cause
        When the error or warning comes up, in one to three sentences.
    fix
        What to do, in one to three sentences.
    example, fixed
        Text that fails, and the same text without the mistake.  By `kind`, steps of the stage in `PIPELINE`, a whole
        pipeline file, a Python script, or a command line.
    message
        What the example prints.
    files
        Further files that the example reads, by name.
    params
        Values of parameters, as on the command line.
    untested
        Why the tests cannot run the example, such as a machine that is out of memory; empty where they do.
    warns
        Whether it is a warning, although its code is not one of those that begin with GE17.
    """

    code: str
    title: str
    cause: str
    fix: str
    example: str
    message: str
    fixed: str = ""
    kind: Kind = "steps"
    files: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    untested: str = ""
    warns: bool = False

    @property
    def is_warning(self) -> bool:
        """Whether a run prints it in its report and continues."""
        return self.warns or self.message.startswith("warning: ")

    def whole(self, text: str) -> str:
        """Return the whole file of an example, which may be steps only."""
        return PIPELINE.format(steps=indent(text.strip("\n"), "      ")) if self.kind == "steps" else text

    @property
    def text(self) -> str:
        """The page for a terminal."""
        parts = [
            f"{self.code}: {self.title}",
            self.cause,
            *(f"{name}:\n\n{indent(content.strip(chr(10)), '    ')}" for name, content in self.files.items()),
            f"Example:\n\n{indent(self.example.strip(chr(10)), '    ')}",
            f"Message:\n\n{indent(self.message.strip(chr(10)), '    ')}",
            f"Fix: {self.fix}",
            *([indent(self.fixed.strip("\n"), "    ")] if self.fixed else []),
        ]
        return "\n\n".join(parts) + "\n"

    @property
    def markdown(self) -> str:
        """The page of the documentation."""
        language = {"steps": "yaml", "pipeline": "yaml", "python": "python", "command": "console"}[self.kind]
        parts = [
            f"# {self.code}: {self.title}",
            self.cause,
            *(f"`{name}`:\n\n```{suffix(name)}\n{content.strip(chr(10))}\n```" for name, content in self.files.items()),
            f"```{language}\n{self.example.strip(chr(10))}\n```",
            f"```text\n{self.message.strip(chr(10))}\n```",
            f"## Fix\n\n{self.fix}",
            *([f"```{language}\n{self.fixed.strip(chr(10))}\n```"] if self.fixed else []),
        ]
        return "\n\n".join(parts) + "\n"


def suffix(name: str) -> str:
    """Return what the name of a file ends in, which highlights its text."""
    return name.rpartition(".")[2]
