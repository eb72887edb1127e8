"""Aggregates: rows in the order of their groups, reduced by states that merge, or picked after sorting."""
