"""Runs Triton kernels on the CPU, by Triton's interpreter, in a process of its own.

Triton decides when it is imported whether it interprets, so the process of the tests cannot do both.  PyTorch is not
needed: arrays of NumPy's stand in for tensors.
"""

import linecache
import os
import pickle
import subprocess
import sys
from functools import cache
from threading import Lock
from types import ModuleType

import numpy as np

NUMPY_TYPES = {
    "fp64": "float64", "fp32": "float32", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "i1": "bool",
    "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
}  # fmt: skip


class TritonInterpreter:
    """The process, which is started with the first launch and ends with that of the tests."""

    def __init__(self):
        self.lock = Lock()
        environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-W", "ignore", __file__]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)

    def launch(self, kernel, types, block, blocks, arguments):
        """Run a kernel, and change the arrays among its arguments as it does."""
        owners = {id(own): own for each in arguments if isinstance(each, np.ndarray) for own in [owner(each)]}
        places = {number: place for place, number in enumerate(owners)}
        passed = [
            (places[id(owner(each))], address(each) - address(owner(each)))
            if isinstance(each, np.ndarray) else each.item() for each in arguments
        ]  # fmt: skip
        memory = [own.tobytes() for own in owners.values()]
        request = (str(kernel.cuda), kernel.text, kernel.entry, types, block, blocks, memory, passed)
        with self.lock:
            pickle.dump(request, self.process.stdin)
            self.process.stdin.flush()
            found, results = pickle.load(self.process.stdout)
        if found:
            raise RuntimeError(found)
        for own, result in zip(owners.values(), results, strict=True):
            own.reshape(-1).view(np.uint8)[:] = np.frombuffer(result, np.uint8)


def owner(array):
    """Return the array that has the memory of another one, with guard values before and after it."""
    while isinstance(array.base, np.ndarray) and array.base.flags.writeable and array.base.flags.c_contiguous:
        array = array.base
    return array


def address(array):
    """Return where an array begins."""
    return array.ctypes.data


@cache
def interpreter():
    """Return the process of these tests."""
    return TritonInterpreter()


class Tensor:
    """Memory from a place on, as far as Triton's interpreter looks at a tensor."""

    def __init__(self, memory, start, dtype):
        self.memory, self.start, self.dtype = memory, start, dtype

    def data_ptr(self):
        return self.memory.ctypes.data + self.start

    def untyped_storage(self):
        return self

    def cpu(self):
        return self

    def new_empty(self, count, device=None):
        return self

    def set_(self, storage, *place):
        """Lie where the storage does, which is the array itself."""

    def storage_offset(self):
        return 0

    def size(self):
        return (len(self.memory),)

    def stride(self):
        return (1,)

    def copy_(self, other):
        """Nothing was copied."""


def answer(path, text, entry, types, block, blocks, memory, passed):
    """Run a kernel, and return what stands in memory then."""
    arguments, arrays = [], [np.frombuffer(bytearray(part), np.uint8) for part in memory]
    for dtype, argument in zip(types, passed, strict=True):
        if dtype.startswith("*"):
            place, start = argument
            arguments.append(Tensor(arrays[place], start, np.dtype(NUMPY_TYPES[dtype[1:]])))
        else:
            arguments.append(argument)
    linecache.cache[path] = len(text), None, text.decode().splitlines(keepends=True), path
    module = ModuleType("kernels")
    exec(compile(text, path, "exec"), module.__dict__)
    module.__dict__[entry][(blocks,)](*arguments, block)
    return [array.tobytes() for array in arrays]


def scalars_as_indices():
    """Let scalars be bounds of loops: NumPy 2.5 makes no integer of an array of one element."""
    from triton.runtime import interpreter as own

    patch = own._patch_lang_tensor

    def patched(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    own._patch_lang_tensor = patched


def serve():
    """Answer requests until there are no more."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    scalars_as_indices()
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            result = "", answer(*request)
        except Exception as error:
            result = f"{type(error).__name__}: {error}", []
        pickle.dump(result, out)
        out.flush()


if __name__ == "__main__":
    serve()
