// Keys of one and two digits measured, packed and marked: nearly all are.
#include "key_kernels.cuh"

KEY_KERNELS(1)
KEY_KERNELS(2)
