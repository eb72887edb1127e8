"""Runs users' kernels whose threads wait for each other, or share memory, on the CPU: see emulated_machine.py."""

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_engine.host_machine import library
from gpuetl.engines.cudf.codegen.nvrtc import does_not_compile
from gpuetl.user_kernels.shared_memory import MOST_BYTES

TYPES = "\n".join(
    f"typedef {own} {name};"
    for own, name in [
        ("signed char", "int8_t"), ("unsigned char", "uint8_t"), ("short", "int16_t"), ("unsigned short", "uint16_t"),
        ("int", "int32_t"), ("unsigned", "uint32_t"), ("long long", "int64_t"), ("unsigned long long", "uint64_t"),
    ]
)  # fmt: skip
PRELUDE = f"""
#define __host__
#define __launch_bounds__(...)
{TYPES}
template <class T, class V> T atomicAdd(T* place, V value) {{ return atomicAdd(place, T(value)); }}
template <class T> T min(T a, T b) {{ return b < a ? b : a; }}
template <class T> T max(T a, T b) {{ return a < b ? b : a; }}
alignas(16) static char shared_memory[{MOST_BYTES}];
struct Word {{
    long word;
    template <class T> operator T() const {{ T value; memcpy(&value, &word, sizeof(T)); return value; }}
}};
#line 1
"""
DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?([\w ]+?)\s+(\w+)\s*\[\s*\]\s*;")
PATTERN = 0xA5


def emulated_kernel(source: str, entry: str) -> Callable[[int, int, Any, int], None]:
    """Return a kernel that runs block after block, its threads in turns."""
    text = DYNAMIC.sub(r"\1* \2 = (\1*)shared_memory;", source)

    def launch(blocks: int, threads: int, arguments: Any, shared_bytes: int) -> None:
        words = [word_of(argument) for argument in arguments]
        passed = ", ".join(f"Word{{emulation::arguments[{place}]}}" for place in range(len(words)))
        call = f"\nvoid emulation::call() {{ {entry}({passed}); }}\n"
        clear = f'extern "C" void clear() {{ memset(shared_memory, {PATTERN}, sizeof shared_memory); }}\n'
        whole = PRELUDE + text + call + clear
        try:
            module = library(whole, host=False)
        except ValueError as error:
            raise does_not_compile(entry, str(error), whole) from None
        module.clear()
        kept = (ctypes.c_int64 * len(words))(*words)
        stuck = module.emulate(None, kept, blocks, threads)
        assert not stuck, f"{entry}: {stuck} threads wait for others that have ended"

    return launch


def word_of(argument: Any) -> int:
    """Return an array's address, or the bytes of a NumPy scalar."""
    if isinstance(argument, np.ndarray):
        return int(argument.ctypes.data)
    return int(np.frombuffer(argument.tobytes().ljust(8, b"\0"), np.int64)[0])
