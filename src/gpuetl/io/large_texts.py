"""Arrow's texts with offsets of 64 bits as the language's, whose offsets have 32: as many arrays as hold them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

MOST_BYTES = (1 << 31) - 1
"""Of texts in one array of Arrow's `string`."""


def narrow_texts(texts: pa.Array) -> Iterator[pa.Array]:
    """Yield the texts of a `large_string` array, in order, as arrays of `string`.

    Raises
    ------
    pyarrow.ArrowInvalid
        For a single text of 2^31 bytes or more.
    """
    offsets = np.frombuffer(texts.buffers()[1] or bytes(8), np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if not len(texts) or offsets[-1] <= MOST_BYTES:  # no byte is copied
        yield texts.cast(pa.string())
        return
    start = 0
    while start < len(texts):
        end = int(np.searchsorted(offsets, offsets[start] + MOST_BYTES, side="right")) - 1
        end = max(end, start + 1)
        own = pa.concat_arrays([texts.slice(start, end - start)])  # whose offsets begin at 0
        yield own.cast(pa.string())
        start = end
