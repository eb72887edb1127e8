"""The options of Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.format_options import BOOLEAN, FormatOptions, option
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset


@dataclass(frozen=True)
class ParquetReadOptions(FormatOptions):
    """How far Parquet files are trusted."""

    verify_checksums: bool = option(BOOLEAN, False, "compare pages with their checksums, where they have one")
    verify_pages: bool = option(BOOLEAN, False, "let Arrow decode and check all pages on the CPU")


def parquet_options(dataset: Dataset) -> ParquetReadOptions:
    """Return the options of a Parquet source."""
    return ParquetReadOptions.of(dataset.options)
