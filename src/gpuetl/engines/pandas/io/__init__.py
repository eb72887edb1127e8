"""Parquet and CSV files read into frames, as their schemas say."""
