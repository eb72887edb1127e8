"""Features of a table shaped as Criteo's: a label, 13 counts and 26 categories of 3 to 10 million values.

Counts: null to 0, negative to 0, logarithm, normalised. Categories: numbered by frequency where there are 15 rows or
more. What is returned are check sums of all 39 features.
"""
