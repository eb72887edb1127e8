"""Pieces put side by side: no byte is read that is not of the memory of one."""

import subprocess

import pytest

from gpu_engine.host_machine import COMPILER
from gpuetl.engines.cudf.codegen.device_headers import closed_source

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
CHECK = ("-x", "c++", "-std=c++17", "-w", "-fsanitize=address", "-DGPUETL_HOST", "-")
MAIN = """
#include <cstdio>
#include <cstdlib>

// Three pieces of some bytes, each at an offset in memory that ends where it does; ends the process where one is wrong.
static void check(int64_t size, int64_t skip) {
    const int64_t sizes[3] = {size, 1 + size % 5, size + 7};
    uint8_t* memories[3];
    int64_t table[6], total = 0;
    for (int piece = 0; piece < 3; ++piece) {
        memories[piece] = (uint8_t*)std::malloc(skip + sizes[piece]);
        for (int64_t at = 0; at < skip + sizes[piece]; ++at) memories[piece][at] = uint8_t(7 * piece + at);
        table[piece] = (int64_t)(memories[piece] + skip);
        table[3 + piece] = total += sizes[piece];
    }
    uint8_t* const whole = (uint8_t*)std::malloc(total);
    assemble((total + 15) / 16, 3, total, table, whole);
    for (int64_t piece = 0, at = 0; piece < 3; ++piece)
        for (int64_t byte = 0; byte < sizes[piece]; ++byte, ++at)
            if (whole[at] != memories[piece][skip + byte]) { std::printf("%ld %ld\\n", long(size), long(skip)); std::exit(1); }
    std::free(whole);
    for (uint8_t* memory : memories) std::free(memory);
}

int main() {
    for (int64_t size = 1; size < 70; ++size)
        for (int64_t skip = 0; skip < 9; ++skip) check(size, skip);
}
"""


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    """Return what compiles a program that ends where it reads beside memory; skip where there is none."""
    program = tmp_path_factory.mktemp("assembly") / "program"

    def compiled(text):
        made = subprocess.run(
            [COMPILER, *CHECK, "-o", program], input=text, text=True, capture_output=True, check=False
        )
        return made.stderr if made.returncode else program

    if isinstance(said := compiled("int main() {}"), str):
        pytest.skip(f"needs g++'s AddressSanitizer: {said[:200]}")
    return compiled


def test_pieces_lie_side_by_side_and_nothing_beside_them_is_read(sanitized):
    """Whatever their sizes are, and wherever they begin; memory may end in the middle of a word."""
    program = sanitized(closed_source("pages") + MAIN)
    ended = subprocess.run([program], text=True, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr[:1500]) == (0, "", "")
