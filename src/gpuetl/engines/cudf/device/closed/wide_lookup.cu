// Lookups of keys of more components.  They are a program of their own, so that the common ones compile quickly.
#include "lookup_kernels.cuh"

LOOKUP_KERNELS(3)
LOOKUP_KERNELS(4)
LOOKUP_KERNELS(8)
LOOKUP_KERNELS(16)
