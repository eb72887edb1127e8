"""Kernels timed against their twins, alone and among their neighbours: what `gpuetl kernel bench` does."""
