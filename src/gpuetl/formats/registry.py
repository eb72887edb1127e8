"""The file formats by name.  To add one, write a module with a class that derives from `Format`, and name it here."""

from __future__ import annotations

from gpuetl.formats.arrow_ipc import ArrowFormat
from gpuetl.formats.csv import CsvFormat
from gpuetl.formats.format import Format
from gpuetl.formats.orc import OrcFormat
from gpuetl.formats.parquet import ParquetFormat

FORMATS: dict[str, Format] = {
    ParquetFormat.name: ParquetFormat(),
    CsvFormat.name: CsvFormat(),
    OrcFormat.name: OrcFormat(),
    ArrowFormat.name: ArrowFormat(),
}
"""In the order in which messages name them."""


def format_named(name: str) -> Format:
    """Return the format of a name."""
    return FORMATS[name]


def source_formats() -> tuple[str, ...]:
    """Return the names of the formats that a source can have."""
    return tuple(FORMATS)


def sink_formats() -> tuple[str, ...]:
    """Return the names of the formats that a sink can have."""
    return tuple(name for name, one in FORMATS.items() if one.writes)


def titles_with(option: str) -> str:
    """Return the titles of the formats whose sources take an option: `CSV`, or `CSV and JSON`."""
    return " and ".join(one.title for one in FORMATS.values() if option in one.options)
