// Kernels over keys of more components.  They are a program of their own, so that the common ones compile quickly.
#include "key_kernels.cuh"

KEY_KERNELS(3)
KEY_KERNELS(4)
KEY_KERNELS(8)
KEY_KERNELS(16)
