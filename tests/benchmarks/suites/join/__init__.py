"""The join questions of the database-like ops benchmark (github.com/h2oai/db-benchmark), on J1_1e8_NA_5_0.

What is returned are the benchmark's check sums, so that engines which prune columns carry only those.
"""
