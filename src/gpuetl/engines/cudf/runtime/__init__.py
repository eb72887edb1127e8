"""The GPU that runs the engine: the one package that imports CuPy, RMM, pylibcudf and cuDF."""
