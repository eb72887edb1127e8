"""Batches for training of rows that are computed while they are used: a stage may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from importlib import import_module
from typing import Any

from gpuetl.engines.interface import Backend, Frame
from gpuetl.engines.no_result import check_array
from gpuetl.errors import EvaluationError, InvalidPipeline
from gpuetl.messages import coded
from gpuetl.run.batches import check_batch_rows, feature_names, needed, to_tensors
from gpuetl.run.stage_stream import StageStream

Columns = dict[str, Any]
"""Tensors by column, of the same length."""
METHOD = "torch_dataset"


def streamed_dataset(
    stream: StageStream, batch_rows: int, features: Sequence[str] | None, label: str | None, matrix: bool,
    shuffle: bool, seed: int,
) -> Any:  # fmt: skip
    """Return an `IterableDataset` whose every pass runs the pipeline: see `Pipeline.torch_dataset`."""
    check_batch_rows(batch_rows, METHOD)
    if isinstance(stream.in_flight, bool) or not isinstance(stream.in_flight, int) or stream.in_flight < 1:
        message = coded("GE3008", f"{METHOD}: in_flight takes a whole number from 1, got {stream.in_flight!r}")
        raise InvalidPipeline.because(message, "Write for example in_flight=2.", METHOD)
    torch = needed("torch", METHOD, "torch")
    data = import_module("torch.utils.data")
    schema = stream.schema
    names = feature_names(schema, features, [label] if label is not None else [])
    wanted = [*dict.fromkeys([*names, *([label] if label is not None else [])])]
    if not names:
        message = coded("GE3008", f"{METHOD}: there is no column of features")
        raise InvalidPipeline.because(message, "Name the columns: features=[…].", METHOD)
    for name in wanted:
        check_array(name, schema[name], 0)
    cutter = BatchCutter(torch, batch_rows, copies=not (matrix or shuffle))

    class StreamedBatches(data.IterableDataset):  # type: ignore[misc, name-defined]
        """Batches of rows; each time that they are iterated over, a run computes them."""

        def __init__(self) -> None:
            super().__init__()
            self.epoch = 0

        def __iter__(self) -> Iterator[Any]:
            if data.get_worker_info() is not None:
                what = f"{METHOD}: each worker of a DataLoader would run the whole pipeline"
                raise EvaluationError(coded("GE3008", f"{what}.  Set num_workers=0: the run computes on threads"))
            epoch, self.epoch = self.epoch + 1, self.epoch + 1
            order = Shuffle(torch, seed + epoch) if shuffle else None
            with closing(stream.partitions(wanted, lambda backend, frame: tensors_of(torch, backend, frame))) as found:
                for columns in cutter.batches(found, order):
                    yield self.batch(columns)

        def batch(self, columns: Columns) -> Any:
            """Return what a model gets."""
            given: Any = {name: columns[name] for name in names}
            if matrix:
                parts = [torch.as_tensor(value, dtype=torch.float32) for value in given.values()]
                given = torch.stack(parts, dim=1)
            return given if label is None else (given, columns[label])

    return StreamedBatches()


def tensors_of(torch: Any, backend: Backend, frame: Frame) -> Columns:
    """Return the columns of a frame as tensors on its memory, which other threads and streams may read at once."""
    tensors = to_tensors(torch, backend.to_arrays(frame))
    if backend.device == "GPU":
        backend.release()  # waits for the device
    return tensors


class Shuffle:
    """Puts the rows of each partition of a pass in another order."""

    def __init__(self, torch: Any, seed: int) -> None:
        self.torch, self.seed = torch, seed
        self.generator: Any = None

    def order(self, like: Any) -> Any:
        """Return an order of the rows of a tensor, which the seed and the device decide."""
        if self.generator is None:
            self.generator = self.torch.Generator(device=like.device).manual_seed(self.seed)
        return self.torch.randperm(len(like), generator=self.generator, device=like.device)


class BatchCutter:
    """Cuts partitions into batches of exactly so many rows; those that are left open the next one.

    With `copies`, batches that are parts of a partition are copied: then no batch holds its memory.
    """

    def __init__(self, torch: Any, batch_rows: int, copies: bool) -> None:
        self.torch, self.batch_rows, self.copies = torch, batch_rows, copies

    def batches(self, partitions: Iterable[Columns], shuffle: Shuffle | None) -> Iterator[Columns]:
        """Yield batches; the last one has the rows that are left."""
        rest, missing = list[Columns](), self.batch_rows
        for columns in partitions:
            first = next(iter(columns.values()))
            rows, start = len(first), 0
            order = shuffle.order(first) if shuffle else None
            while rows - start >= missing:
                part = self.part(columns, start, start + missing, order)
                yield self.joined([*rest, part])
                start += missing
                rest, missing = [], self.batch_rows
            if start < rows:
                rest.append(self.part(columns, start, rows, order))
                missing -= rows - start
            del columns, order
            self.wait(first)
            del first
        if rest:
            yield self.joined(rest)

    def part(self, columns: Columns, start: int, end: int, order: Any) -> Columns:
        """Return rows of a partition, in its order or another."""
        if order is not None:
            return {name: tensor[order[start:end]] for name, tensor in columns.items()}
        part = {name: tensor[start:end] for name, tensor in columns.items()}
        if self.copies or end - start < self.batch_rows:  # what waits for the next partition holds nothing of this one
            part = {name: self.torch.clone(tensor) for name, tensor in part.items()}
        return part

    def joined(self, parts: Sequence[Columns]) -> Columns:
        """Return parts of a batch as one."""
        if len(parts) == 1:
            return parts[0]
        return {name: self.torch.cat([part[name] for part in parts]) for name in parts[0]}

    def wait(self, tensor: Any) -> None:
        """Wait for what was begun with a partition, whose memory goes back to the engine."""
        if str(tensor.device).startswith("cuda"):
            self.torch.cuda.current_stream(tensor.device).synchronize()
