"""The bytes that an operation had to move over each link, at least: what it reads once, and what it writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gpuetl.engines.interface import Backend, Device, Frame
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read
from gpuetl.telemetry.hardware_limits import Link

Traffic = Mapping[Link, int]

MEMORY: dict[Device, Link] = {"GPU": "device memory", "CPU": "host memory"}
TO_OTHER: dict[Device, Link] = {"GPU": "device to host", "CPU": "host to device"}
FROM_FILE: dict[Device, Link] = {"GPU": "file to device", "CPU": "file to host"}


def operation_traffic(backend: Backend, operation: Node, frames: Sequence[Frame], made: Frame) -> Traffic:
    """Return what an operation moved: the columns that it touches, which also come and go where it ran elsewhere."""
    read, written = operation.touched
    schemas = (read, *(node.schema for node in operation.inputs[1:]))
    came = sum(backend.nbytes(frame, names) for frame, names in zip(frames, schemas, strict=True))
    went = backend.nbytes(made, written)
    at, home = backend.device_of(operation), backend.device
    crossed: Traffic = {TO_OTHER[home]: came, TO_OTHER[at]: went} if at != home else {}
    return {MEMORY[at]: came + went, **crossed}


def read_traffic(backend: Backend, read: Read, file_bytes: int, made: Frame) -> Traffic:
    """Return what a source moved: bytes of files and of the frame, which the GPU gets of the CPU where that reads."""
    at, home, size = backend.device_of(read), backend.device, backend.nbytes(made, read.schema)
    if read.dataset.format == "memory":
        return {"host to device": size} if home == "GPU" else {}
    crossed: Traffic = {TO_OTHER[at]: size} if at != home else {}
    return {FROM_FILE[at]: file_bytes, MEMORY[at]: file_bytes + size, **crossed}


def copy_traffic(backend: Backend, made: Iterable[Frame], columns: Iterable[str]) -> Traffic:
    """Return what was moved to copy frames."""
    return {MEMORY[backend.device]: 2 * sum(backend.nbytes(frame, columns) for frame in made)}


def write_traffic(backend: Backend, frame: Frame, columns: Iterable[str]) -> Traffic:
    """Return what is moved to hand a frame over to whoever writes files."""
    return {"device to host": backend.nbytes(frame, columns)} if backend.device == "GPU" else {}
