"""Rows of a result in batches, for libraries that train models: PyTorch and XGBoost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuetl.engines.no_result import check_array
from gpuetl.errors import EvaluationError, InvalidPipeline, PackageMissing, have_hint
from gpuetl.messages import coded
from gpuetl.types.data_types import DataType

if TYPE_CHECKING:
    from gpuetl.run.results import Result


def needed(module: str, what: str, install: str) -> Any:
    """Import and return a module; raise `PackageMissing` with what to install where it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise PackageMissing(
            coded("GE3002", f'{what} needs the package {module}.  Install it: pip install "{install}"')
        ) from None


def check_batch_rows(batch_rows: int, what: str) -> None:
    """Raise `InvalidPipeline` for what is no number of rows."""
    if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
        message = coded("GE3008", f"{what}: batch_rows takes a whole number from 1, got {batch_rows!r}")
        raise InvalidPipeline.because(message, "Write for example batch_rows=65536.", what)


def feature_names(schema: Mapping[str, DataType], features: Sequence[str] | None, others: Sequence[str]) -> list[str]:
    """Return the columns that are features: those that are named, or all but the others.

    Raises
    ------
    InvalidPipeline
        For a name that no column has.
    """
    named = [*others, *(features or ())]
    for name in named:
        if name not in schema:
            raise InvalidPipeline.because(
                coded("GE1003", f"unknown column '{name}'"), have_hint(name, schema, noun="Columns")
            )
    return [name for name in schema if name not in others] if features is None else [*features]


# PyTorch.


def to_tensors(torch: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays as tensors: on their memory by DLPack, or copies of NumPy's, which may not be written to."""
    return {
        name: torch.from_dlpack(array.copy() if isinstance(array, np.ndarray) else array)
        for name, array in arrays.items()
    }


def torch_dataset(
    result: Result, batch_rows: int, features: Sequence[str] | None, label: str | None, matrix: bool, shuffle: bool,
    seed: int,
) -> Any:  # fmt: skip
    """Return an `IterableDataset` of batches: see `Result.torch_dataset`."""
    check_batch_rows(batch_rows, "torch_dataset")
    torch = needed("torch", "torch_dataset", "torch")
    data = import_module("torch.utils.data")
    names = feature_names(result.schema, features, [label] if label is not None else [])
    wanted = [*dict.fromkeys([*names, *([label] if label is not None else [])])]
    tensors = to_tensors(torch, result.arrays(wanted))
    rows = len(result)

    class Batches(data.IterableDataset):  # type: ignore[misc, name-defined]
        """Batches of rows, those of one epoch each time that they are iterated over."""

        def __init__(self) -> None:
            super().__init__()
            self.epoch = 0

        def __len__(self) -> int:
            return (rows + batch_rows - 1) // batch_rows

        def __iter__(self) -> Iterator[Any]:
            order = self.order()
            self.epoch += 1
            worker = data.get_worker_info()
            first, step = (worker.id, worker.num_workers) if worker else (0, 1)
            for place in range(first, len(self), step):
                yield self.batch(place * batch_rows, order)

        def order(self) -> Any:
            """Return the order of the rows in this epoch; None where they stay in order."""
            if not shuffle or not tensors:
                return None
            device = next(iter(tensors.values())).device
            generator = torch.Generator(device=device).manual_seed(seed + self.epoch)
            return torch.randperm(rows, generator=generator, device=device)

        def batch(self, start: int, order: Any) -> Any:
            """Return the rows from a place on."""
            end = min(start + batch_rows, rows)
            chosen = {
                name: tensor[start:end] if order is None else tensor[order[start:end]]
                for name, tensor in tensors.items()
            }
            of_features: Any = {name: chosen[name] for name in names}
            if matrix:
                of_features = torch.stack(
                    [torch.as_tensor(value, dtype=torch.float32) for value in of_features.values()], dim=1
                )
            return of_features if label is None else (of_features, chosen[label])

    return Batches()


# XGBoost.


def quantile_dmatrix(
    result: Result, label: str, features: Sequence[str] | None, weight: str | None, batch_rows: int,
    options: Mapping[str, Any],
) -> Any:  # fmt: skip
    """Return a `QuantileDMatrix`, to which rows were given batch by batch: see `Result.to_quantile_dmatrix`."""
    check_batch_rows(batch_rows, "to_quantile_dmatrix")
    xgboost = needed("xgboost", "to_quantile_dmatrix", "xgboost")
    schema, beside = result.schema, [label, *([weight] if weight is not None else [])]
    names = feature_names(schema, features, beside)
    if not names:
        message = coded("GE3008", "to_quantile_dmatrix: there is no column beside the label")
        raise InvalidPipeline.because(message, "Name the columns: features=[…].", "to_quantile_dmatrix")
    if not len(result):
        message = coded("GE3008", "to_quantile_dmatrix: there are no rows, and XGBoost needs some")
        raise EvaluationError(message)
    for name in names:
        check_array(name, schema[name], 0)  # a null is a missing value
    result.arrays(beside)  # refuses nulls
    frame = result.to_cudf_or_none()
    rows = len(result)

    class Batches(xgboost.DataIter):  # type: ignore[misc, name-defined]
        """Gives batches one after another."""

        def __init__(self) -> None:
            super().__init__()
            self.start = 0

        def next(self, input_data: Any) -> bool:
            """Give the next batch; tell whether there was one."""
            if self.start >= rows:
                return False
            batch = self.batch(self.start, min(rows, self.start + batch_rows))
            self.start += batch_rows
            given = {"data": batch[names], "label": batch[label]}
            input_data(**given, **({} if weight is None else {"weight": batch[weight]}))
            return True

        def reset(self) -> None:
            """Begin again: XGBoost goes over the rows several times."""
            self.start = 0

        def batch(self, start: int, end: int) -> Any:
            """Return rows as a frame of cuDF on the GPU, else of pandas."""
            if frame is not None:
                return frame.iloc[start:end]
            return result.to_arrow().slice(start, end - start).to_pandas()

    return xgboost.QuantileDMatrix(Batches(), **options)
