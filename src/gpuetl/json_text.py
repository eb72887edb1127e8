"""JSON that every program can read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

HALF = re.compile("[\ud800-\udfff]")


def as_json(data: Any) -> str:
    r"""Return data as JSON on several lines.

    Half of a character, as in the name of a file that is not UTF-8, becomes the six characters `\udcff`: as an escape
    of JSON it stands for no character, and other programs than Python refuse the file.
    """
    return json.dumps(whole(data), indent=2)


def whole(data: Any) -> Any:
    """Return data whose texts have no halves of characters."""
    if isinstance(data, str):
        return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", data)
    if isinstance(data, Mapping):
        return {whole(name): whole(value) for name, value in data.items()}
    if isinstance(data, Sequence) and not isinstance(data, bytes):
        return [whole(value) for value in data]
    return data
