"""Functions over frames, right and wrong."""

import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


def score(frame, factor=1.0):
    """Multiply; a null stays null."""
    return {"y": frame["x"] * factor, "long": frame["n"] > 3}


def framed(frame, factor=1.0):
    """Do the same as a frame."""
    return pd.DataFrame(score(frame, factor))


def arrow_score(frame, factor=1.0):
    """Do the same by Arrow."""
    return pa.table({"y": pc.multiply(frame["x"], factor), "long": pc.greater(frame["n"], 3)})


def share(frame):
    """Divide by the sum of the group."""
    return {"share": frame["x"] / frame["x"].sum()}


def running(frame):
    """Sum up, in the order of the group."""
    return {"total": frame["x"].fillna(0).cumsum()}


def arrow_running(frame):
    """Do the same by Arrow."""
    return pa.table({"total": pc.cumulative_sum(pc.fill_null(frame["x"], 0.0))})


def describe(frame, word="row"):
    """Give a string, a date and a list for each row."""
    names = frame["k"].fillna("none") + ("-" + word)
    days = pd.Series(np.full(len(frame), np.datetime64("2026-01-02", "s")))
    return {"name": names, "day": days.dt.date, "both": [[word, word]] * len(frame)}


def other_names(frame):
    """Give a column that is not declared."""
    return {"z": frame["x"]}


def shorter(frame):
    """Leave out rows."""
    return frame[["x"]].rename(columns={"x": "y"}).iloc[1:]


def sorted_rows(frame):
    """Give the rows in another order."""
    return {"y": frame["x"].sort_values(ascending=False)}


def integers(frame):
    """Give another type."""
    return {"y": np.arange(len(frame))}


def words(frame):
    """Give objects that are no numbers."""
    return {"y": pd.Series(["a"] * len(frame), dtype=object)}


def nothing(frame):
    """Give nothing."""


def constant(frame):
    """Give one number for all rows."""
    return {"y": 1.0}


def with_null(frame):
    """Give a null."""
    return {"y": [None] * len(frame)}


def raises(frame):
    """Fail."""
    if (frame["x"] > 1).any():
        raise ValueError("no such luck")
    return {"y": frame["x"]}


def endless(frame):
    """Never end."""
    while True:
        time.sleep(0.001)


def asleep(frame):
    """Wait in C, which nothing interrupts."""
    time.sleep(3)
    return {"y": frame["x"]}
