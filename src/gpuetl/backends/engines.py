"""Engines: a backend and an executor under the name by which users choose them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from importlib import import_module

from gpuetl.backends.backend import Backend
from gpuetl.errors import EngineUnavailable, suggestion

BACKENDS = {
    "pandas": "gpuetl.backends.pandas.backend:PandasBackend",
    "cudf": "gpuetl.backends.cudf.backend:CudfBackend",
}
"""Where each engine's backend is; it is imported when it is wanted."""
ENGINES = tuple(BACKENDS)
PLANNED = ("dask", "dask-cuda")


@dataclass(frozen=True)
class Choice:
    """The engine of a run, and why it is this one."""

    name: str
    reason: str


def choose_engine(wanted: str) -> Choice:
    """Return the engine to use for `auto` or a name.

    Raises
    ------
    EngineUnavailable
        For a name that is not an engine, or one that this version does not have.
    """
    if wanted == "auto":
        return Choice("pandas", _why_pandas())
    if wanted in BACKENDS:
        return Choice(wanted, "asked for")
    if wanted in PLANNED:
        raise EngineUnavailable(f"engine '{wanted}' is not in this version.  Run with --engine pandas")
    near = suggestion(wanted, (*ENGINES, "auto"))
    raise EngineUnavailable(f"unknown engine '{wanted}'.  have: auto, {', '.join(ENGINES)}.  {near}".rstrip())


def _why_pandas() -> str:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver was found"
    return "an NVIDIA driver was found, but this version has no GPU engine yet"


def load_backend(name: str) -> Backend:
    """Import and return the backend of an engine; nothing of the others is imported."""
    module, _, factory = BACKENDS[name].partition(":")
    backend: Backend = getattr(import_module(module), factory)()
    return backend
