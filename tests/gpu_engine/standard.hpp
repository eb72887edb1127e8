// The standard headers that device code reads on a CPU.  They are compiled once: reading them takes g++ three times as
// long as most kernels.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
