"""As-of joins of trades with quotes: 10 trades for each quote, and 100 for each key, both in the order of time.

What is returned are check sums, so that engines which prune columns carry only those.
"""
