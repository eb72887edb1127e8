"""The file formats by name.  To add one, write a module with a class that derives from `Format`, and name it here."""

from __future__ import annotations

from gpuetl.format_options import FormatOptions
from gpuetl.formats.arrow_ipc import ArrowFormat
from gpuetl.formats.avro import AvroFormat
from gpuetl.formats.csv import CsvFormat
from gpuetl.formats.excel import ExcelFormat
from gpuetl.formats.format import Format
from gpuetl.formats.json_lines import JsonFormat
from gpuetl.formats.orc import OrcFormat
from gpuetl.formats.parquet import ParquetFormat
from gpuetl.plugin_discovery import Plugin, PluginTable


def format_of(plugin: Plugin, made: object) -> Format:
    """Return the format of a plugin: a class that derives from `Format`, or an object of one.

    Raises
    ------
    PluginProblem
        For any other object.
    """
    if isinstance(made, type) and issubclass(made, Format):
        try:
            made = made()
        except TypeError as error:  # a method is missing
            raise plugin.refused(f"cannot be made: {error}") from None
    if not isinstance(made, Format):
        raise plugin.refused("is not a class that derives from Format")
    if made.name != plugin.name:
        raise plugin.refused(f"has the name '{made.name}'")
    return made


FORMATS: PluginTable[Format] = PluginTable("format", format_of, {
    ParquetFormat.name: ParquetFormat(),
    CsvFormat.name: CsvFormat(),
    JsonFormat.name: JsonFormat(),
    OrcFormat.name: OrcFormat(),
    ArrowFormat.name: ArrowFormat(),
    AvroFormat.name: AvroFormat(),
    ExcelFormat.name: ExcelFormat(),
})  # fmt: skip
"""In the order in which messages name them."""


def format_named(name: str) -> Format:
    """Return the format of a name, which may be that of a plugin: a worker loads it when it reads a file."""
    found = FORMATS.find(name)
    if found is None:
        raise KeyError(name)
    return found


def source_formats() -> tuple[str, ...]:
    """Return the names of the formats that a source can have."""
    return tuple(FORMATS)


def sink_formats() -> tuple[str, ...]:
    """Return the names of the formats that a sink can have."""
    return tuple(name for name, one in FORMATS.items() if one.writes)


def read_options_of(name: str) -> type[FormatOptions]:
    """Return the class of the options that sources of a format take."""
    return format_named(name).read_options


def write_options_of(name: str) -> type[FormatOptions]:
    """Return the class of the options that sinks of a format take."""
    return format_named(name).write_options
