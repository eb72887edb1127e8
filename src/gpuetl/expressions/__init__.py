"""The expression language: SQL text and Python's `col()` build the same typed expressions.

parse.py with lowering/ (sqlglot) or build.py (Python)  →  syntax.py  →  resolve.py with functions/  →  ir.py
→  unparse.py
"""
