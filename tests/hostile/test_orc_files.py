"""ORC files whose end is cut or changed: each is read, or refused with the name of the file; none ends the process."""

import random
import subprocess
import sys

import pyarrow as pa
from pyarrow import orc

READS = """
import sys
import gpuetl as ge
for path in sys.stdin.read().split():
    pipeline = ge.Pipeline("p")
    pipeline.read_orc("t", path)
    try:
        print("rows", pipeline.run(engine="pandas", keep=["t"])["t"].to_arrow().num_rows)
    except ge.GpuetlError as error:
        print("refused", path in str(error))
"""
TAIL_BYTES = 400
"""Of a file: the footers of its last stripe and of the file, and the postscript."""


def test_a_damaged_end_is_refused(tmp_path):
    rows = pa.table({"i": range(200), "s": ["word"] * 200, "l": [[1, 2]] * 200, "r": [{"a": 1}] * 200})
    draws, paths = random.Random(3), list[str]()
    for codec in ("uncompressed", "zstd"):
        orc.write_table(rows, str(tmp_path / "good.orc"), compression=codec)
        good = (tmp_path / "good.orc").read_bytes()
        for number in range(16):
            data = bytearray(good)
            if number % 2:
                del data[draws.randrange(len(data)) :]
            else:
                data[len(data) - 1 - draws.randrange(min(TAIL_BYTES, len(data)))] ^= 1 << draws.randrange(8)
            path = tmp_path / f"{codec}{number}.orc"
            path.write_bytes(data)
            paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-c", READS], input=" ".join(paths), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outcomes = done.stdout.splitlines()
    assert len(outcomes) == len(paths)
    assert set(outcomes) <= {"rows 200", "refused True"}, set(outcomes)
    assert outcomes.count("refused True") > len(paths) // 2
