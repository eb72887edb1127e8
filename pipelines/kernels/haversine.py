"""The NumPy twin of haversine.cu: what the kernel means, and what runs where there is no GPU."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def haversine(lat1: Floats, lon1: Floats, lat2: Floats, lon2: Floats, *, radius_km: float) -> dict[str, Floats]:
    """Return the great-circle distance in kilometres between points given in degrees."""
    north = np.sin(np.radians(lat2 - lat1) / 2)
    east = np.sin(np.radians(lon2 - lon1) / 2)
    half = north**2 + np.cos(np.radians(lat1)) * np.cos(np.radians(lat2)) * east**2
    return {"km": 2 * radius_km * np.arcsin(np.sqrt(np.minimum(1.0, half)))}
