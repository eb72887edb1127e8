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
AUTO, ZSTD = Compression("auto"), Compression("zstd", 1)
"""What `auto` is where Arrow writes.

TPC-H's lineitem takes 46 MB by it, 57 MB by snappy, 59 by lz4 and 99 by none.  Arrow writes that in 0.84, 0.72, 0.73
and 0.59 s on two cores.

Where the GPU engine writes, `auto` is none.  Its encodings leave zstd 5 % of 0.757 GB of events, and threads of the
host take six times as long to compress them (one H200, 16 cores): a pipeline of 0.38 s took 4.9 s.
"""


@dataclass(frozen=True)
class ParquetWriteOptions(FormatOptions):
    """How Parquet files are written; each option means the same on every engine, but `compression: auto`."""

    compression: Compression = option(
        compression_form("auto", "zstd", "snappy", "lz4", "none"),
        AUTO,
        "the codec of the pages; `auto` is zstd(1), and none where the GPU encodes them; zstd alone is zstd(1)",
    )
    row_group_rows: int = option(whole_number(1, 1 << 30), ROW_GROUP_ROWS, "the rows of a row group")
    statistics: bool = option(BOOLEAN, True, "write the least and greatest value of each column chunk")
    page_index: bool = option(BOOLEAN, False, "write the least and greatest value of each page")
    bloom_filters: tuple[str, ...] = option(STRINGS, (), "the columns that get Bloom filters")
    dictionary: bool = option(BOOLEAN, True, "store columns whose values repeat with dictionaries")

    @property
    def codec(self) -> Compression:
        """The compression where Arrow writes, with the level that gpuetl chooses where the user does not."""
        return ZSTD if self.compression in (AUTO, Compression("zstd")) else self.compression

    @property
    def codec_on_gpu(self) -> Compression:
        """The compression where the GPU encodes pages."""
        return Compression("none") if self.compression == AUTO else self.codec


PARQUET_DEFAULTS = ParquetWriteOptions()


def parquet_options(dataset: Dataset) -> ParquetReadOptions:
    """Return the options of a Parquet source."""
    return ParquetReadOptions.of(dataset.options)
