"""PDS-H, derived from TPC-H: queries by joins and aggregates, the official SQL for DuckDB, numbers as doubles.

Not TPC-H: neither its rules nor its metrics are followed, and results are not comparable with published ones.
"""
