"""Expectations of a stage: the rules as written, and the plan nodes that count and remove the rows that break them."""
