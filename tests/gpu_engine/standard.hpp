// The standard headers that device code reads on a CPU.  They are compiled once: reading them takes g++ three times as
// long as most kernels.
#include <cstdint>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS  // Bessel functions and their like, which are most of <cmath>
#include <cmath>
#include <cstring>
#include <type_traits>
