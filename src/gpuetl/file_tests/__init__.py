"""Tests that a pipeline's file holds: given rows in place of the sources, expected rows of stages.

case.py       a test made ready: tables of the given and the expected rows, in the columns' types
run_tests.py        runs cases on an engine, without writing a sink
row_differences.py    rows against those expected: which are missing, unexpected, or differ in values or order
row_differences.py     a difference as a small table of text
run_tests.py     what came of the tests; JUnit XML
record.py     a test from real rows: samples of the sources, cut to what a stage's rows need
"""
