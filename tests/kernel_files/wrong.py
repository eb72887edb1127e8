"""What the kernels of wrong.cu should do."""

import numpy as np

from gpuetl.kernels.scan import scan_groups


def twice(x):
    return {"y": 2 * x}


def twice_valid(x, x_valid):
    return {"y": 2 * x, "y_valid": x_valid}


def sizes(offsets, x):
    return {"total": np.repeat(np.diff(offsets), np.diff(offsets)).astype(float)}


def negated(offsets, x):
    return {"y": -np.maximum.reduceat(x, offsets[:-1]) if len(x) else x}


def whole(x):
    return {"y": np.where(np.isfinite(x), 1 / x, x)}


def running_sum(offsets, x):
    return {"y": scan_groups(offsets, lambda a, b: (a[0] + b[0],), x)[0]}


def running_count(offsets, found):
    return scan_groups(offsets, lambda a, b: (a[0] + b[0],), found.astype(np.int64))[0]


def positive(offsets, x):
    return {"n": running_count(offsets, x > 0)}


def seen(offsets, x, x_valid):
    n = running_count(offsets, x_valid)
    return {"n": n, "n_valid": n > 2}
