"""The queries in Polars, which cudf-polars runs as they are."""

from .by_polars import q1, q3, q4, q5, q6, q7, q8, q9, q10, q12, q13, q14, q16, q17, q18, q19

__all__ = ["q1", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q12", "q13", "q14", "q16", "q17", "q18", "q19"]
