"""The NumPy twins of sums.cu, and some that break the contract."""

from itertools import pairwise

import numpy as np


def scaled_sum(x, n, scale):
    total = scale * x + n
    return {"total": total, "positive": total > 0}


def running_sum(offsets, x):
    total = np.zeros_like(x)
    for start, stop in pairwise(offsets):
        total[start:stop] = np.cumsum(x[start:stop])
    return {"total": total}


def filled(x, x_valid, value):
    y = np.where(x_valid, x, value)
    return {"y": y, "y_valid": y >= 0}


def too_short(offsets, x):
    return {"total": x[1:]}


def too_narrow(offsets, x):
    return {"total": x.astype(np.float32)}


def other_names(offsets, x):
    return {"sum": x}


def raises(offsets, x):
    raise ValueError("no such luck")


def nothing(offsets, x):
    return None


def norm(offsets, x):
    return {"norm": np.sqrt(np.add.reduceat(x * x, offsets[:-1])) if len(x) else x}


def smoothed(offsets, x, width):
    y = np.zeros_like(x)
    for start, stop in pairwise(offsets):
        for row in range(start, stop):
            y[row] = x[max(start, row - width) : min(stop, row + width + 1)].mean()
    return {"y": y}
