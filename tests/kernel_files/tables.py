"""The NumPy twins of tables.cu, and some that break the contract."""

from itertools import pairwise

import numpy as np


def repeated(x, n):
    counts = np.maximum(n, 0)
    place = np.concatenate([np.arange(count) for count in counts]).astype(np.int32) if len(n) else n
    return {"place": place, "y": np.repeat(x, counts) + place, "counts": counts}


def histogram(n, bins):
    return {
        "bin": np.arange(bins, dtype=np.int32),
        "rows": np.bincount(n % bins, minlength=bins).astype(np.int32),
        "counts": np.array([bins]),
    }


def bins_of_groups(offsets, n, bins):
    found = [np.bincount(n[start:stop] % bins, minlength=bins) for start, stop in pairwise(offsets)]
    own = [np.flatnonzero(rows).astype(np.int32) for rows in found]
    return {
        "bin": np.concatenate(own),
        "rows": np.concatenate([rows[bins] for rows, bins in zip(found, own, strict=True)]).astype(np.int32),
        "counts": np.array([len(bins) for bins in own]),
    }


def silent(x):
    return {"y": x[:0], "counts": np.zeros(len(x), int)}


def without_counts(x):
    return {"y": x}


def too_few_counts(x):
    return {"y": x, "counts": np.array([len(x)])}
