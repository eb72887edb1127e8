// Keys of more digits looked up: see device/lookup_kernels.cuh.
#include "lookup_kernels.cuh"

LOOKUP_KERNELS(3)
LOOKUP_KERNELS(4)
LOOKUP_KERNELS(8)
LOOKUP_KERNELS(16)
