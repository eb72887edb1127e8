"""The options of JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gpuetl.format_options import FormatOptions, choice, option, whole_number
from gpuetl.formats.compression import Compression, compression_form
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset


COMPRESSED = {"gzip": ".gz", "zstd": ".zst"}
"""How names of compressed files end."""


@dataclass(frozen=True)
class JsonReadOptions(FormatOptions):
    """How columns are found, and what becomes of lines that do not fit.

    A line is bad that is not one JSON object, names a key twice, or has a value that is not of its column's type.
    """

    sample_rows: int = option(
        whole_number(1), 10_000, "the first lines of a file that are looked at for its columns, without a schema"
    )
    on_bad_row: Literal["fail", "null", "quarantine"] = option(
        choice("fail", "null", "quarantine", null="null"), "fail", "what becomes of a line that cannot be read"
    )


@dataclass(frozen=True)
class JsonWriteOptions(FormatOptions):
    """How JSON lines are written."""

    compression: Compression = option(
        compression_form("auto", "none", "gzip", "zstd"),
        Compression("auto"),
        "`auto` goes by the path's suffix: `.gz`, `.zst`",
    )

    def codec(self, name: str) -> Compression:
        """Return the compression of a file by its name."""
        if self.compression.codec != "auto":
            return self.compression
        return Compression(next((codec for codec, end in COMPRESSED.items() if name.endswith(end)), "none"))


def json_options(dataset: Dataset) -> JsonReadOptions:
    """Return the options of a JSON source."""
    return JsonReadOptions.of(dataset.options)
