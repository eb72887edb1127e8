"""Compiles texts for the process that started it: run by its path, it imports nothing of gpuetl and needs no GPU.

It is asked by its standard input, and answers by its standard output:

- two lengths, options with a zero byte between two, and a source, in bytes;
- a length, and machine code: of no bytes where NVRTC, whose library is the one argument, has an error.

It ends when its input does, which is at the latest when who asks has ended.
"""

import ctypes
import os
import sys
from struct import Struct

QUESTION, ANSWER = Struct("<QQ"), Struct("<Q")


def main() -> None:
    """Answer until nothing is asked."""
    nvrtc = ctypes.CDLL(sys.argv[1])
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    while lengths := questions.read(QUESTION.size):
        options, source = (questions.read(length) for length in QUESTION.unpack(lengths))
        code = compiled(nvrtc, source, options.split(b"\0"))
        answers.write(ANSWER.pack(len(code)) + code)
        answers.flush()


def compiled(nvrtc: ctypes.CDLL, source: bytes, options: list[bytes]) -> bytes:
    """Return machine code, nothing where there is an error: what it says is for who compiles the text again."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kern.cu", 0, None, None):
        return b""
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
            return b""
        if nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)):
            return b""
        code = ctypes.create_string_buffer(size.value)
        return b"" if nvrtc.nvrtcGetCUBIN(program, code) else code.raw
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


if __name__ == "__main__":
    main()
