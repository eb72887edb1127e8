"""The key `compression` of sinks: a codec, with a level where it has levels, such as `zstd(3)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gpuetl.format_options import BadOption, Form, Plain, scalar

LEVELS: Mapping[str, tuple[int, int]] = {"zstd": (1, 22), "gzip": (1, 9), "zlib": (1, 9)}
"""The lowest and the highest level of the codecs that have levels."""
PATTERN = re.compile(r"([a-z0-9]+) ?(?:\( ?([0-9]+) ?\))?")


class Compression(NamedTuple):
    """A codec, and its level; None is the codec's own."""

    codec: str
    level: int | None = None

    def __str__(self) -> str:
        """Return it as users write it."""
        return self.codec if self.level is None else f"{self.codec}({self.level})"


NO_COMPRESSION = Compression("none")


def compression_form(*codecs: str, levels: bool = True) -> Form[Compression]:
    """Return the form of a compression by one of some codecs; without `levels` none of them takes one."""
    with_level = [codec for codec in codecs if levels and codec in LEVELS]
    what = f"one of {', '.join(codecs)}"
    what += f", or a level such as {with_level[0]}({min(3, LEVELS[with_level[0]][1])})" if with_level else ""

    def read(value: Plain) -> Compression:
        if value is None and "none" in codecs:
            return Compression("none")
        text = str(scalar(value, str, what)).lower()
        found = PATTERN.fullmatch(text)
        codec = found[1] if found else text
        if found is None or codec not in codecs:
            raise BadOption(f"takes {what}, got '{value}'", choices=codecs, word=codec)
        if found[2] is None:
            return Compression(codec)
        if codec not in with_level:
            raise BadOption(f"takes no level for {codec}", f"Write {codec}.")
        least, most = LEVELS[codec]
        if not least <= int(found[2]) <= most:
            raise BadOption(f"takes a level of {codec} from {least} to {most}, got {found[2]}")
        return Compression(codec, int(found[2]))

    plain = {"enum": [*codecs, *([None] if "none" in codecs else [])]}
    schema = {"anyOf": [plain, {"pattern": rf"^({'|'.join(with_level)})\([0-9]+\)$"}]} if with_level else plain
    return Form(what, read, str, schema)
