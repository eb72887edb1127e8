"""A twin's file that does not import."""


def f(x):
    return {}


raise RuntimeError("not today")
