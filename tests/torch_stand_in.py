"""What is used of PyTorch, on NumPy: for machines where it is not installed."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest


class TorchStandIn(ModuleType):
    """What is used of torch, on NumPy."""

    from_dlpack, as_tensor = staticmethod(np.from_dlpack), staticmethod(np.asarray)
    cat, clone = staticmethod(np.concatenate), staticmethod(np.array)
    float32 = np.float32

    class Generator:
        """Random numbers from a seed."""

        def __init__(self, device: str) -> None:
            assert device == "cpu"

        def manual_seed(self, seed: int) -> "TorchStandIn.Generator":
            """Begin with a seed."""
            self.random = np.random.default_rng(seed)
            return self

    @staticmethod
    def stack(arrays: Any, dim: int) -> Any:
        """Put columns beside each other."""
        return np.stack(arrays, axis=dim)

    @staticmethod
    def randperm(rows: int, generator: Any, device: str) -> Any:
        """Shuffle."""
        return generator.random.permutation(rows)


def torch_for_tests(which: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return PyTorch if it is installed, or the stand-in."""
    if which == "torch":
        return pytest.importorskip("torch")
    data = SimpleNamespace(IterableDataset=object, get_worker_info=lambda: None)
    made = TorchStandIn("torch")
    monkeypatch.setitem(sys.modules, "torch", made)
    monkeypatch.setitem(sys.modules, "torch.utils", ModuleType("torch.utils"))
    monkeypatch.setitem(sys.modules, "torch.utils.data", data)
    return made
