"""CUDA for expressions and users' kernels: types, headers, statements, kernels, programs, machine code."""
