"""A GPU as the engine's machine: CuPy for arrays and kernels, pylibcudf for sorting and files, one pool for both."""
