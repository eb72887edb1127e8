"""The version of gpuetl: `pyproject.toml` has it too."""

__version__ = "0.1.0"
