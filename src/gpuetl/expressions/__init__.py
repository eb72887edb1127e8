"""The expression language: SQL text and Python's `col()` build the same typed expressions.

parse.py, lowering/ (sqlglot) or build.py (Python)  →  syntax.py  →  resolve.py, functions/  →  ir.py  →  unparse.py
"""
