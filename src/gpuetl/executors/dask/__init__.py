"""Runs a physical plan on a dask cluster: `graph` lowers it to tasks, whose bodies (`tasks`) use the `Runner` there."""
