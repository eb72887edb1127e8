"""A user's Python function over frames: where it is, and what it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal

from gpuetl.errors import EvaluationError
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass
from gpuetl.user_kernels.twin import in_file, load_function

FrameKind = Literal["pandas", "arrow", "cudf"]
FRAMES: tuple[FrameKind, ...] = ("pandas", "arrow", "cudf")
TITLES: Mapping[FrameKind, str] = {"pandas": "pandas", "arrow": "Arrow", "cudf": "cuDF"}


@dataclass(frozen=True)
class PythonFunction:
    """A function of a user's file, and the kind of frame that it takes and returns.

    Parameters
    ----------
    reference, function
        The file and the function's name.
    frame
        What it gets: the inputs of a partition, or of a group.
    timeout_s
        For how many seconds one call may run; None is no limit.
    twin
        The text of the file when the pipeline was planned: all partitions are computed by one text.
    stand_in
        Of a function over cuDF frames, the one over pandas frames that runs where there is no GPU.
    """

    reference: FilePath
    function: str
    frame: FrameKind = "pandas"
    timeout_s: float | None = None
    twin: bytes | None = field(default=None, repr=False, compare=False)
    stand_in: PythonFunction | None = None

    @property
    def entry(self) -> str:
        """What messages call the function."""
        return self.function

    @property
    def on_host(self) -> PythonFunction:
        """The function that runs on frames in host memory."""
        return self.stand_in or self

    @property
    def source(self) -> str:
        """The text of the stand-in, which is in another file than the function."""
        return (self.stand_in.twin or b"").decode("utf-8", "replace") if self.stand_in else ""

    def load(self) -> Callable[..., Any]:
        """Return the function, as its file was when the pipeline was planned; raise `EvaluationError` without one."""
        return load_function(self, f"cannot load {self.reference}:", "GE1890")

    def raised(self, error: BaseException, where: str = "") -> EvaluationError:
        """Say what the function raised, and in which line of its file."""
        return in_file("GE1893", f"{self.function} in {self.reference.name}{where} raised", self, error)
