"""Users' kernels: the contract between a CUDA source, a pipeline's columns and a NumPy twin."""
