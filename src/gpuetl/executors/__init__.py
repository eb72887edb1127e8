"""Executors run a physical plan with a backend: `local` in this process, `dask` on a cluster; both by `runner`."""
