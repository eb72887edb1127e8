"""Kernels that users write: their contract with the columns, their texts and their NumPy twins."""
