"""A kernel's NumPy twin: loaded from the user's file, called with arrays, its outputs checked."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.errors import EvaluationError, first_line
from gpuetl.kernels.contract import KernelContract
from gpuetl.kernels.texts import KernelTexts

Array = NDArray[Any]
Contract = KernelContract | KernelTexts


@cache
def _load(path: Path, modified_ns: int) -> Any:
    """Import the file under a name of its own; again when it has changed."""
    spec = importlib.util.spec_from_file_location(f"gpuetl_twin_{path.stem}_{modified_ns}", path)
    if spec is None or spec.loader is None:
        raise EvaluationError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_twin(contract: Contract) -> Callable[..., Mapping[str, Array]]:
    """Return the twin's function.

    Raises
    ------
    EvaluationError
        Where the file does not import or has no such function.
    """
    try:
        module = _load(contract.reference, contract.reference.stat().st_mtime_ns)
    except (Exception, SystemExit) as error:
        raise EvaluationError(f"cannot load the kernel's twin {contract.reference}: {first_line(error)}") from error
    function = getattr(module, contract.function, None)
    if not callable(function):
        raise EvaluationError(f"{contract.reference} has no function '{contract.function}'")
    return function  # type: ignore[no-any-return]


def call_twin(
    contract: Contract,
    arrays: list[Array],
    arguments: Mapping[str, Any],
    outputs: Mapping[str, np.dtype[Any]],
    rows: int,
) -> dict[str, Array]:
    """Call the twin and return its outputs in the declared types.

    Raises
    ------
    EvaluationError
        Where it raises, or gives other names, lengths or types than declared.
    """
    function = load_twin(contract)
    try:
        result = function(*arrays, **arguments)
    except (Exception, SystemExit) as error:
        raise EvaluationError(
            f"{contract.function} in {contract.reference.name} raised {type(error).__name__}: {error}"
        ) from error
    if not isinstance(result, Mapping):
        raise EvaluationError(f"{contract.function} gave a {type(result).__name__}, not a dict of arrays")
    if result.keys() != outputs.keys():
        raise EvaluationError(f"{contract.function} gave {sorted(map(str, result))}; declared are {sorted(outputs)}")
    return {name: _checked(contract, name, result[name], dtype, rows) for name, dtype in outputs.items()}


def _checked(contract: Contract, name: str, value: Any, dtype: np.dtype[Any], rows: int) -> Array:
    try:
        values = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise EvaluationError(f"{contract.function}: output '{name}' is no array: {first_line(error)}") from None
    if values.shape != (rows,):
        raise EvaluationError(f"{contract.function}: output '{name}' has shape {values.shape}, the rows are {rows}")
    if values.dtype != dtype:
        raise EvaluationError(f"{contract.function}: output '{name}' is {values.dtype}, declared is {dtype}")
    return values
