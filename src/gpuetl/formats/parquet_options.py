"""The options of Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.format_options import BOOLEAN, STRINGS, FormatOptions, option, whole_number
from gpuetl.formats.compression import Compression, compression_form
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset


@dataclass(frozen=True)
class ParquetReadOptions(FormatOptions):
    """How far Parquet files are trusted."""

    verify_checksums: bool = option(BOOLEAN, False, "compare pages with their checksums, where they have one")
    verify_pages: bool = option(BOOLEAN, False, "let Arrow decode and check all pages on the CPU")


ROW_GROUP_ROWS = 1 << 20
ZSTD = Compression("zstd", 1)
"""The default, and what `zstd` alone is, on every engine.

TPC-H's lineitem takes 46 MB by it, 57 MB by snappy, 59 by lz4 and 99 by none.  Arrow writes that in 0.84, 0.72, 0.73
and 0.59 s on two cores.
"""


@dataclass(frozen=True)
class ParquetWriteOptions(FormatOptions):
    """How Parquet files are written; each option means the same on every engine."""

    compression: Compression = option(
        compression_form("zstd", "snappy", "lz4", "none"), ZSTD, "the codec of the pages; zstd alone is zstd(1)"
    )
    row_group_rows: int = option(whole_number(1, 1 << 30), ROW_GROUP_ROWS, "the rows of a row group")
    statistics: bool = option(BOOLEAN, True, "write the least and greatest value of each column chunk")
    page_index: bool = option(BOOLEAN, False, "write the least and greatest value of each page")
    bloom_filters: tuple[str, ...] = option(STRINGS, (), "the columns that get Bloom filters")
    dictionary: bool = option(BOOLEAN, True, "store columns whose values repeat with dictionaries")

    @property
    def codec(self) -> Compression:
        """The compression, with the level that gpuetl chooses where the user does not."""
        return ZSTD if self.compression == Compression("zstd") else self.compression


PARQUET_DEFAULTS = ParquetWriteOptions()


def parquet_options(dataset: Dataset) -> ParquetReadOptions:
    """Return the options of a Parquet source."""
    return ParquetReadOptions.of(dataset.options)
