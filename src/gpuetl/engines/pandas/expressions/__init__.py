"""Typed expressions on columns: evaluation, casts, the arithmetic of decimals and times, and the functions."""
