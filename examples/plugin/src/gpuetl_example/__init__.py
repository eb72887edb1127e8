"""A plugin package for gpuetl."""
