// Mathematics: the machine's library in float64; what is float32 is rounded once, at the end.
#pragma once
#include "floats.cuh"

template <class T> DEVICE T radians(T degrees) { return degrees * T(0.017453292519943295); }
template <class T> DEVICE T degrees(T radians) { return radians * T(57.29577951308232); }

// CUDA's own hypot is infinite near the greatest float: there, halves are taken, or the greater one where the other
// one cannot be seen beside it.
DEVICE double hypotenuse(double x, double y) {
    const double great = fabs(x) > fabs(y) ? fabs(x) : fabs(y), small = fabs(x) > fabs(y) ? fabs(y) : fabs(x);
    if (!(great > 1e300)) return hypot(x, y);
    return small < great * 1e-9 ? great : 2 * hypot(x / 2, y / 2);
}
