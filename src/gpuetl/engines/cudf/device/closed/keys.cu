// Kernels over keys of one or two components, which most keys have.
#include "key_kernels.cuh"

KEY_KERNELS(1)
KEY_KERNELS(2)
