"""The as-of joins in Polars, which cudf-polars 26.10 refuses: it has no as-of join."""

from .by_polars import q1, q2, q3

__all__ = ["q1", "q2", "q3"]
