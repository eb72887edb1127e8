// Keys of one and two digits looked up: nearly all are.
#include "lookup_kernels.cuh"

LOOKUP_KERNELS(1)
LOOKUP_KERNELS(2)
