"""Columns of any type: gathered, put below each other, and as keys."""
