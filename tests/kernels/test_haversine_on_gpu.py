"""The haversine kernel of the flights pipeline on a real GPU, against its NumPy twin."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

PIPELINES = Path(__file__).parents[2] / "pipelines"
GUARD = -12345.0


def twin():
    spec = importlib.util.spec_from_file_location("haversine_twin", PIPELINES / "kernels" / "haversine.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.haversine


def points(rows: int) -> list[np.ndarray]:
    random = np.random.default_rng(rows)
    lat1, lon1, lat2, lon2 = (random.uniform(-90, 90, rows), random.uniform(-180, 180, rows),
                              random.uniform(-90, 90, rows), random.uniform(-180, 180, rows))  # fmt: skip
    if rows > 30:
        lat2[:10], lon2[:10] = lat1[:10], lon1[:10]  # the same point
        lat2[10:20], lon2[10:20] = -lat1[10:20], lon1[10:20] + 180  # the antipode
        lat1[20] = math.nan
    return [lat1, lon1, lat2, lon2]


@pytest.mark.gpu
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 1023, 1_000_000])
def test_haversine_kernel_gives_what_its_twin_gives_and_writes_nothing_beyond_its_rows(rows):
    cupy = pytest.importorskip("cupy", reason="needs CuPy and an NVIDIA GPU")
    source = (PIPELINES / "kernels" / "haversine.cu").read_text()
    kernel = cupy.RawKernel(source, "haversine")
    inputs = points(rows)
    guarded = cupy.full(rows + 64, GUARD)
    d_inputs = [cupy.asarray(values) for values in inputs]
    kernel(
        (min(132 * 8, (rows + 255) // 256),), (256,), (*d_inputs, guarded[32:], np.float64(6371.0088), np.int64(rows))
    )
    got = cupy.asnumpy(guarded)
    np.testing.assert_array_equal(got[:32], GUARD)
    np.testing.assert_array_equal(got[32 + rows :], GUARD)
    expected = twin()(*inputs, radius_km=6371.0088)["km"]
    # near the antipode the arc sine's slope is infinite: half an ulp of its argument is a tenth of a metre
    np.testing.assert_allclose(got[32 : 32 + rows], expected, rtol=1e-13, atol=3e-4, equal_nan=True)
