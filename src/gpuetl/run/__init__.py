"""One run of a pipeline: planned, executed, its expectations checked, its results handed over."""
