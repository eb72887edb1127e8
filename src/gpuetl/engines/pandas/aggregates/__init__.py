"""Aggregates: rows reduced into their groups, family by family, and the table of their handlers."""
