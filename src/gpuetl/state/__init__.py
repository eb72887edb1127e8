"""What successful runs of a pipeline leave for the next one."""
