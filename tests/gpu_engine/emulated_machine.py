"""Runs the GPU's side of kernels on the CPU: the threads of a block in turns, each up to where it waits for others.

The text is that of the GPU (GPUETL_HOST is not defined), so shuffles, ballots, barriers and tiles are tested without one.
A barrier that some threads of a block never reach is an error.
"""

import ctypes
from functools import cache
from typing import Any

from gpu_engine.host_machine import HostMachine, library
from gpuetl.engines.cudf.codegen.device_headers import closed_source
from gpuetl.engines.cudf.machine import Struct

IN_REGISTERS, MOST_ARGUMENTS = 6, 6 + 512
"""Words of which a call on x86-64 has the first ones in registers, and in all: CUDA takes 4 KB."""
THREADS, BLOCKS = 64, 3


class EmulatedMachine(HostMachine):
    """A machine whose arrays are NumPy's and whose kernels run as a GPU would, slowly.

    `additions` are how many each kernel made by atomics.
    """

    def __init__(self) -> None:
        self.additions: list[int] = []

    def compiled(self, source: str) -> ctypes.CDLL:
        """Compile the GPU's text with g++."""
        return library(emulated(source), host=False)

    def closed(self, program: str) -> ctypes.CDLL:
        """Compile the program."""
        return self.compiled(closed_source(program))

    def launch(self, module: ctypes.CDLL, entry: str, rows: int, arguments: Any) -> None:
        """Run few threads, each of which goes over many rows."""
        self.launch_blocks(module, entry, BLOCKS, THREADS, arguments)

    def launch_blocks(self, module: ctypes.CDLL, entry: str, blocks: int, threads: int, arguments: Any) -> None:
        """Run the blocks one after another."""
        words = passed_words(arguments)
        assert len(words) <= MOST_ARGUMENTS
        passed = (ctypes.c_int64 * MOST_ARGUMENTS)(*words)
        stuck = module.emulate(module[entry], passed, blocks, threads)
        self.additions.append(module.additions())
        assert not stuck, f"{entry}: {stuck} threads wait for others that have ended"


def passed_words(arguments: Any) -> list[int]:
    """Return the words of arguments; a struct lies on the stack, behind those that are in registers."""
    words: list[int] = []
    for argument in arguments:
        if isinstance(argument, Struct):
            words += [0] * (IN_REGISTERS - len(words)) + argument.words.tolist()
        else:
            words.append(argument if isinstance(argument, int) else argument.ctypes.data)
    return words


@cache
def emulated(source: str) -> str:
    """Return the text behind what calls its kernels; emulation.hpp, which is included, stands for CUDA."""
    arguments = ", ".join(f"emulation::arguments[{place}]" for place in range(MOST_ARGUMENTS))
    types = ", ".join(["long"] * MOST_ARGUMENTS)
    call = f"void emulation::call() {{ ((void (*)({types}))emulation::kernel)({arguments}); }}\n"
    return call + source
