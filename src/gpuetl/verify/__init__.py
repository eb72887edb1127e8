"""Proof on the user's own data: a pipeline's stages on an engine against the oracle, compared by the contract.

verification.py     runs both, and compares stage by stage
compare.py      the columns by which a stage's rows are told apart, and the order that it promises
bounds.py    how far sums of floats may differ
compare.py   two tables: the rows that one has more often, the values that differ, the order
sample.py    whole groups of rows of the sources, chosen by a hash
verification.py    what was found
"""
