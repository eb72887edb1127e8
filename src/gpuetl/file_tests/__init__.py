"""Tests that a pipeline's file holds: given rows in place of the sources, expected rows of stages.

case.py       a test made ready: tables of the given and the expected rows, in the columns' types
run.py        runs cases on an engine, without writing a sink
compare.py    rows against those expected: which are missing, unexpected, or differ in values or order
render.py     a difference as a small table of text
report.py     what came of the tests; JUnit XML
record.py     a test from real rows: samples of the sources, cut to what a stage's rows need
"""
