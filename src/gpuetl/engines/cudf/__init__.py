"""The GPU engine: generated and own kernels, and libcudf where it does exactly what the contract says."""
