// Keys of more digits measured, packed and marked: see device/key_kernels.cuh.  Whoever has fewer waits for no compiler.
#include "key_kernels.cuh"

KEY_KERNELS(3)
KEY_KERNELS(4)
KEY_KERNELS(8)
KEY_KERNELS(16)
