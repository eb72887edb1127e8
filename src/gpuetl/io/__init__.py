"""Files: what a source holds (footers, row groups, statistics), and how sinks are written and committed."""
