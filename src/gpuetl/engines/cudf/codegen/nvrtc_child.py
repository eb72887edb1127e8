"""Compile sources for the process that started it: run by its path, it imports nothing of gpuetl and needs no GPU.

It is asked by its standard input, and answers by its standard output:

- two lengths, options with a zero byte between two, and a source, in bytes;
- two lengths, machine code, and what NVRTC, whose library is the one argument, says of an error: one of them is empty.

It ends when its input does, which is at the latest when who asks has ended.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from struct import Struct

QUESTION, ANSWER = Struct("<QQ"), Struct("<QQ")


def main() -> None:
    """Answer until nothing is asked."""
    nvrtc = ctypes.CDLL(sys.argv[1])
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    while lengths := questions.read(QUESTION.size):
        options, source = (questions.read(length) for length in QUESTION.unpack(lengths))
        code, log = compiled(nvrtc, source, options.split(b"\0"))
        answers.write(ANSWER.pack(len(code), len(log)) + code + log)
        answers.flush()


def compiled(nvrtc: ctypes.CDLL, source: bytes, options: list[bytes]) -> tuple[bytes, bytes]:
    """Return machine code, or PTX for a virtual architecture; or what NVRTC says of the text."""
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kern.cu", 0, None, None):
        return b"", b"NVRTC rejects the source"
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
            log = read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).rstrip(b"\0")
            return b"", log or b"NVRTC does not take the options " + b" ".join(options)
        by_ptx = any(option.startswith(b"-arch=compute_") for option in options)
        form = "PTX" if by_ptx else "CUBIN"
        code = read(getattr(nvrtc, f"nvrtcGet{form}Size"), getattr(nvrtc, f"nvrtcGet{form}"), program)
        return code, b"" if code else b"NVRTC returned no code"
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def read(size_of: Callable[..., int], copy: Callable[..., int], program: ctypes.c_void_p) -> bytes:
    """Return what two functions of NVRTC give of a program; nothing where they do not."""
    size = ctypes.c_size_t()
    if size_of(program, ctypes.byref(size)):
        return b""
    data = ctypes.create_string_buffer(size.value)
    return b"" if copy(program, data) else data.raw


if __name__ == "__main__":
    main()
