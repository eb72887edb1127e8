// Mathematics: the machine's library in float64; what is float32 is rounded once, at the end.
#pragma once
#include "floats.cuh"

template <class T> DEVICE T radians(T degrees) { return degrees * T(0.017453292519943295); }
template <class T> DEVICE T degrees(T radians) { return radians * T(57.29577951308232); }
