"""The NumPy twins of kernels that are written as texts."""

import numpy as np

from gpuetl.kernels.scan import scan_groups


def scaled(x, n, scale):
    y = scale * x + n
    return {"y": y, "positive": y > 0}


def filled(x, x_valid, value):
    y = np.where(x_valid, x, value)
    return {"y": y, "y_valid": y >= 0}


def norm(offsets, x, weight=1.0):
    return {"norm": np.sqrt(weight * np.add.reduceat(x * x, offsets[:-1])) if len(x) else x}


def greatest(offsets, n):
    return {"most": np.maximum.reduceat(n, offsets[:-1]) if len(n) else n}


def later(t, by):
    return {"u": t + by}


def running_product(offsets, n):
    (product,) = scan_groups(offsets, lambda a, b: (a[0] * b[0],), n)
    return {"product": product}


def running_mean(offsets, x, scale=1.0):
    sums, rows = scan_groups(offsets, lambda a, b: (a[0] + b[0], a[1] + b[1]), scale * x, np.ones(len(x), np.int64))
    return {"mean": sums / rows, "rows": rows}


def strain(offsets, late, usual):
    def combine(a, b):
        return a[0] + b[0], np.maximum(a[1] + b[0], b[1])

    total, least = scan_groups(offsets, combine, late - usual, np.zeros(len(late), np.int64))
    return {"strain": np.maximum(total, least)}


def latest(offsets, x, x_valid):
    def combine(a, b):
        return np.where(b[1], b[0], a[0]), a[1] | b[1]

    value, seen = scan_groups(offsets, combine, x, x_valid)
    return {"y": value, "y_valid": seen}


def trail(offsets, t, x, half_life):
    def combine(a, b):
        (worth, last), (own, end) = a, b
        return worth * np.exp2((last - end) / half_life) + own, end

    return {"worth": scan_groups(offsets, combine, x, t)[0]}


def integers_of_floats(offsets, n):
    return {"product": scan_groups(offsets, lambda a, b: (a[0] / b[0],), n)[0]}


def one_field_too_many(offsets, n):
    return {"product": scan_groups(offsets, lambda a, b: (a[0], b[0]), n)[0]}


def mean_of_two(offsets, x, n, scale):
    return running_mean(offsets, scale * x + n)


def product_of_n(offsets, n):
    return {"n": running_product(offsets, n)["product"]}
