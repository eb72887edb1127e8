"""Arrays for machines of tests: memory alone, as the engine may use CuPy, for which each other call compiles a kernel."""

from typing import Any

import numpy as np

COMPUTING = [
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "byteswap", "choose", "clip", "compress",
    "conj", "cumprod", "cumsum", "diagonal", "dot", "fill", "max", "mean", "min", "nonzero", "partition", "prod", "ptp",
    "put", "repeat", "round", "searchsorted", "sort", "std", "sum", "take", "trace", "var",
]  # fmt: skip
"""Methods of arrays that are computed: by CuPy with kernels that it compiles."""


class Computed(AssertionError):
    """Raised where the engine asks an array for more than its memory."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: CuPy compiles a kernel for it; use columns/arrays.py")


class DeviceArray(np.ndarray[Any, Any]):
    """An array that has views and copies, and refuses whatever else is asked of it."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Refuse operators."""
        raise Computed(ufunc.__name__)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        """Refuse NumPy's functions."""
        raise Computed(function.__name__)

    def __getitem__(self, index: Any) -> Any:
        """Return a view; one of a single item has no dimension, as CuPy's."""
        for part in index if isinstance(index, tuple) else (index,):
            if not isinstance(part, int | np.integer | slice):
                raise Computed("an item by an array")
        return super().__getitem__((*(index if isinstance(index, tuple) else (index,)), ...))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Copy into a slice what has its type and shape."""
        target = self[index]
        if not isinstance(value, np.ndarray) or (value.dtype, value.shape) != (target.dtype, target.shape):
            raise Computed("an item that is set")
        if not (value.flags.c_contiguous and target.flags.c_contiguous):
            raise Computed("a copy of what is not contiguous")
        super().__setitem__(index, value)

    def reshape(self, *shape: Any, **keywords: Any) -> Any:
        """Return a view."""
        made = super().reshape(*shape, **keywords)
        if not np.may_share_memory(plain(made), plain(self)) and self.size:
            raise Computed("reshape")
        return made

    def copy(self, *arguments: Any) -> Any:  # type: ignore[override]
        """Copy what is contiguous."""
        if not self.flags.c_contiguous:
            raise Computed("a copy of what is not contiguous")
        return device_array(plain(self).copy())


def _refused(name: str) -> Any:
    def method(self: DeviceArray, *arguments: Any, **keywords: Any) -> Any:
        raise Computed(name)

    return method


for _name in COMPUTING:
    setattr(DeviceArray, _name, _refused(_name))


class DeviceArrays:
    """What the engine uses of an array module."""

    ndarray = np.ndarray

    def empty(self, shape: Any, dtype: Any) -> DeviceArray:
        """Return memory."""
        return device_array(np.empty(shape, dtype))

    def zeros(self, shape: Any, dtype: Any) -> DeviceArray:
        """Return memory of zeros."""
        return device_array(np.zeros(shape, dtype))

    def empty_like(self, array: DeviceArray) -> DeviceArray:
        """Return memory of the same size."""
        return device_array(np.empty_like(plain(array)))

    def asarray(self, array: Any) -> DeviceArray:
        """Return host memory as if it were the device's."""
        if isinstance(array, DeviceArray):
            return array
        return device_array(np.ascontiguousarray(array).reshape(np.shape(array)))

    def __getattr__(self, name: str) -> Any:
        """Refuse other functions."""
        raise Computed(name)


def device_array(array: np.ndarray[Any, Any]) -> DeviceArray:
    """Return host memory as an array of the engine."""
    return array.view(DeviceArray)


def plain(array: Any) -> Any:
    """Return an array of the engine as one of NumPy's, on the same memory."""
    return array.view(np.ndarray) if isinstance(array, DeviceArray) else array
