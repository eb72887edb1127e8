"""Expressions: prepared, emitted as CUDA, compiled and run, one kernel for all columns of a projection."""
