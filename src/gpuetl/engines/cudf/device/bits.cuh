// Words of bits.
#pragma once

#include "rows.cuh"

#ifdef GPUETL_HOST
DEVICE int ones(uint32_t word) { return __builtin_popcount(word); }
#else
DEVICE int ones(uint32_t word) { return __popc(word); }
#endif
