"""The same pipelines, as one would write them by hand with each peer."""
