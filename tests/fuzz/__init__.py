"""Random pipelines on nasty data, compared with DuckDB, with themselves in other layouts, and with what must hold of them.

README.md says how to read a failure and how a function or a step joins in.
"""
