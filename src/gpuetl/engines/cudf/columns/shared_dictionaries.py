"""Dictionaries of texts by what they hold: those of partitions that found the same texts become one.

Columns of one dictionary are put below each other as numbers; of several, texts are sorted and numbers looked up anew.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.vector import Vector
from gpuetl.types.data_types import STRING

MOST_BYTES = 1 << 18
"""Of a dictionary that is copied to the host to be compared."""


class Content(NamedTuple):
    """The texts of a dictionary in host memory, and a digest of them."""

    digest: bytes
    offsets: NDArray[Any]
    data: NDArray[np.uint8]


_CONTENTS: WeakKeyDictionary[Vector, Content] = WeakKeyDictionary()
_KNOWN: WeakValueDictionary[tuple[bytes, type], Vector] = WeakValueDictionary()
"""Dictionaries by their digest, and by the kind of their arrays."""
_LOCK = Lock()


def with_shared_dictionaries(frame: Frame) -> Frame:
    """Return a frame whose dictionaries are those that others of this process have, where they hold the same."""
    changed = {}
    for name, vector in frame.columns.items():
        if vector.dictionary and (dictionary := shared(vector.dictionary)) is not vector.dictionary:
            changed[name] = replace(vector, dictionary=dictionary)
    return frame.updated(changed) if changed else frame


def shared(dictionary: Vector) -> Vector:
    """Return the first dictionary of the same content; a large one is not compared."""
    content = content_of(dictionary)
    if content is None:
        return dictionary
    with _LOCK:
        kind = np.ndarray if isinstance(dictionary.data, np.ndarray) else type(dictionary.data)
        return _KNOWN.setdefault((content.digest, kind), dictionary)


def content_of(dictionary: Vector) -> Content | None:
    """Return what a dictionary holds, which is copied once, or nothing of a large one; the host waits."""
    if dictionary.nbytes > MOST_BYTES:
        return None
    with _LOCK:
        content = _CONTENTS.get(dictionary)
    if content is None:
        offsets, data = host(dictionary.offsets), host(dictionary.data)
        digest = blake2b(offsets.astype("int64").tobytes() + data.tobytes()).digest()
        content = Content(digest, offsets, data)
        with _LOCK:
            _CONTENTS[dictionary] = content
    return content


def dictionary_of(content: Content, arrays: Any) -> Vector:
    """Return the dictionary of this content, in memory of an array module.

    Others may have it before it is copied, so this is called in no stage: what is asked of a device outside of stages
    comes before all that is asked later.
    """
    key = content.digest, arrays.ndarray
    with _LOCK:
        known = _KNOWN.get(key)
    if known is not None:
        return known
    data, offsets = arrays.asarray(content.data), arrays.asarray(content.offsets)
    dictionary = Vector(STRING, len(offsets) - 1, data, None, 0, offsets)
    with _LOCK:
        _CONTENTS[dictionary] = content
        return _KNOWN.setdefault(key, dictionary)


def host(array: Any) -> NDArray[Any]:
    """Return an array as one of NumPy's."""
    return np.asarray(array) if isinstance(array, np.ndarray) else array.get()
