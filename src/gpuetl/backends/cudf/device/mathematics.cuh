// Mathematics: the machine's library in float64; what is float32 is rounded once, at the end.
#pragma once
#include "floats.cuh"

template <class T> DEVICE T radians(T degrees) { return degrees * T(0.017453292519943295); }
template <class T> DEVICE T degrees(T radians) { return radians * T(57.29577951308232); }

// CUDA's own hypot is infinite near the greatest float.  Halving is exact there.
DEVICE double hypotenuse(double x, double y) {
    return fabs(x) > 1e300 || fabs(y) > 1e300 ? 2 * hypot(x / 2, y / 2) : hypot(x, y);
}
