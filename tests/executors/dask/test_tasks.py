"""What runs on workers."""

import subprocess
import sys

UNALIGNED = """
import gpuetl.executors.dask.tasks
import numpy as np
import pyarrow as pa

values = pa.Array.from_buffers(pa.int64(), 4, [None, pa.py_buffer(np.zeros(33, np.uint8)[1:])])
pa.table({"k": values, "x": values}).group_by("k", use_threads=False).aggregate([("x", "sum")])
"""


def test_arrow_says_nothing_of_buffers_that_begin_anywhere_in_a_message():
    """In a process of its own: Arrow asks once what to do of them."""
    ran = subprocess.run([sys.executable, "-c", UNALIGNED], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
