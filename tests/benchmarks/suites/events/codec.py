"""The codec of the Parquet files that jobs write: the same for every peer."""

from __future__ import annotations

import os

CODECS = ("zstd", "snappy", "lz4", "none")
"""The first is gpuetl's default, with level 1."""
VARIABLE = "BENCHMARK_CODEC"


def chosen_codec() -> str:
    """Return the codec of this process and of those that started it."""
    return os.environ.get(VARIABLE, CODECS[0])


def choose_codec(codec: str) -> None:
    """Set the codec of this process and of those that it starts."""
    os.environ[VARIABLE] = codec


def zstd_level() -> int | None:
    """Return the level for libraries that take one, gpuetl's own; None where the codec has no levels."""
    return 1 if chosen_codec() == "zstd" else None


def codec_of_library(none: str | None) -> str | None:
    """Return the codec as other libraries write it; `none` is their word for no codec."""
    return none if chosen_codec() == "none" else chosen_codec()
