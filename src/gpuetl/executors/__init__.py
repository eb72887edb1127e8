"""Executors run a physical plan with a backend: `local` in this process, partition by partition."""
