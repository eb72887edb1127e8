"""What a plugin is made of: steps, functions, formats and checks for pipelines, in packages of your own.

A package names its plugins as entry points, in the groups `gpuetl.steps`, `gpuetl.functions`, `gpuetl.formats` and
`gpuetl.checks`.  docs/plugins.md shows one of each, and `examples/plugin` is a package that works.
"""

from gpuetl.expressions.macros import MacroFunction
from gpuetl.expressions.unparse import quote_name
from gpuetl.format_options import FormatOptions, option
from gpuetl.formats.format import Format, Piece
from gpuetl.io.data_file import DataFile
from gpuetl.places.file_state import DatasetError
from gpuetl.places.open_file import opened
from gpuetl.records import dataclass
from gpuetl.spec.expect.checks import Check
from gpuetl.spec.fields import key
from gpuetl.spec.forms import (
    BOOLEAN,
    COUNT,
    EXPRESSION,
    FRACTION,
    INTEGER,
    NAME,
    NAMES,
    SOME_NAMES,
    STRINGS,
    choice,
)
from gpuetl.spec.steps.macro_step import MacroStep

__all__ = [
    "BOOLEAN", "COUNT", "EXPRESSION", "FRACTION", "INTEGER", "NAME", "NAMES", "SOME_NAMES", "STRINGS", "Check",
    "DataFile", "DatasetError", "Format", "FormatOptions", "MacroFunction", "MacroStep", "Piece", "choice",
    "dataclass", "key", "opened", "option", "quote_name",
]  # fmt: skip
