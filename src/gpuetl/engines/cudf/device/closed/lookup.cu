// Lookups of keys of one or two components, which most keys have.
#include "lookup_kernels.cuh"

LOOKUP_KERNELS(1)
LOOKUP_KERNELS(2)
