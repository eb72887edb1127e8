"""The join questions in Polars, which cudf-polars runs as they are."""

from .by_polars import q1, q2, q3, q4, q5

__all__ = ["q1", "q2", "q3", "q4", "q5"]
