"""The features in Polars as cudf-polars runs them."""

from .by_polars import q1

__all__ = ["q1"]
