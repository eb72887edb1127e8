"""Parquet files written from device memory: encoded by kernels, copied and written by threads."""
