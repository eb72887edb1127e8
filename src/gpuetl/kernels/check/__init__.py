"""Kernels against their NumPy twins, on generated inputs: what `gpuetl kernel check` does."""
