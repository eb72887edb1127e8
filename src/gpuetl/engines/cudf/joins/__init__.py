"""Joins: keys as numbers, rows that go together, and what is checked before they are put together."""
