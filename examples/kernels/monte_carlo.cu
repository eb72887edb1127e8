// The cost of a delay, the mean of max(0, delay + spread * z - free) over normal numbers z, which a hash of the flight
// makes: the same in every run, on every device, in any order.
// Hash: S. Vigna's splitmix64.  Normal numbers: G. Box and M. Muller, "A Note on the Generation of Random Normal
// Deviates", Annals of Mathematical Statistics 29 (1958) 610.

__device__ unsigned long long mixed(unsigned long long x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}
__device__ double uniform(unsigned long long seed, int number) {  // in (0, 1)
    return (mixed(seed + number) >> 11) * 0x1p-53 + 0x1p-54;
}

extern "C" __global__ void naive(const int* flight, const int* dep_delay, double* cost, int paths, double spread, double free,
                                 long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    const unsigned long long seed = mixed((unsigned long long)(long long)flight[row]);
    double sum = 0;
    for (int path = 0; path < paths; ++path) {
        const int pair = path / 2 * 2;
        const double radius = sqrt(-2.0 * log(uniform(seed, pair)));
        const double angle = 6.283185307179586 * uniform(seed, pair + 1);
        const double z = path % 2 ? radius * sin(angle) : radius * cos(angle);
        const double late = dep_delay[row] + spread * z - free;
        sum += late > 0 ? late : 0;
    }
    cost[row] = sum / paths;
}

// Makes both numbers of a pair at once: half of the logarithms and roots.
extern "C" __global__ void in_pairs(const int* flight, const int* dep_delay, double* cost, int paths, double spread,
                                    double free, long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    const unsigned long long seed = mixed((unsigned long long)(long long)flight[row]);
    const double usual = dep_delay[row] - free;
    double sum = 0;
    for (int path = 0; path < paths; path += 2) {
        const double radius = spread * sqrt(-2.0 * log(uniform(seed, path)));
        const double angle = 6.283185307179586 * uniform(seed, path + 1);
        const double one = usual + radius * cos(angle), other = usual + radius * sin(angle);
        sum += one > 0 ? one : 0;
        if (path + 1 < paths) sum += other > 0 ? other : 0;
    }
    cost[row] = sum / paths;
}

extern "C" __global__ void fused(const int* flight, const int* dep_delay, bool* risky, int paths, double spread, double free,
                                 double limit, long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    const double usual = dep_delay[row] - free;
    if (usual - 9 * spread > limit) {  // no pair is further away: nothing to simulate
        risky[row] = true;
        return;
    }
    const unsigned long long seed = mixed((unsigned long long)(long long)flight[row]);
    double sum = 0;
    for (int path = 0; path < paths; path += 2) {
        const double radius = spread * sqrt(-2.0 * log(uniform(seed, path)));
        const double angle = 6.283185307179586 * uniform(seed, path + 1);
        const double one = usual + radius * cos(angle), other = usual + radius * sin(angle);
        sum += one > 0 ? one : 0;
        if (path + 1 < paths) sum += other > 0 ? other : 0;
    }
    risky[row] = sum / paths > limit;
}
