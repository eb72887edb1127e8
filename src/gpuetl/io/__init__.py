"""Files: what a source holds (footers, row groups, statistics), how rows are read, how sinks are written and committed."""
