"""The physical plan: what runs on each partition, and what crosses between partitions.  Any executor runs it."""
