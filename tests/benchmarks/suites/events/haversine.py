"""The NumPy twin of haversine.cu."""

import numpy as np
from numpy.typing import NDArray

Degrees = NDArray[np.float32]


def haversine(lat: Degrees, lon: Degrees, home_lat: Degrees, home_lon: Degrees) -> dict[str, NDArray[np.float64]]:
    """Return the great-circle distance in kilometres between points given in degrees."""
    from_lat, from_lon, to_lat, to_lon = (np.radians(x.astype(np.float64)) for x in (home_lat, home_lon, lat, lon))
    half = np.sin((to_lat - from_lat) / 2) ** 2
    half += np.cos(from_lat) * np.cos(to_lat) * np.sin((to_lon - from_lon) / 2) ** 2
    return {"km": 2 * 6371.0088 * np.arcsin(np.sqrt(np.minimum(1.0, half)))}
